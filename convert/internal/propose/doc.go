// Package propose makes the plan of a conversion out of what the database has. It asks no database.
//
//	propose.go     Plan: tables, keys, columns
//	questions.go   columns that look like references
//	groups.go      which tables change together, their order and methods
package propose
