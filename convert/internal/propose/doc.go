// Package propose makes the plan of a conversion out of what the database has. It asks no database.
//
//	propose.go     Plan: tables, keys, columns
//	questions.go   columns that look like references
//	notes.go       what else names the columns, and what has to be done by hand
//	groups.go      which tables change together, their order and methods
package propose
