// Package plan says what becomes of each table and column in a merge of databases. It asks no database: [Read] reads a plan
// that people have edited, [Plan.Check] says what is wrong with it or not decided, [Plan.Schema] returns the statements that
// make the target's tables.
//
//	read.go     reads and writes YAML and JSON
//	check.go    Check; check_column.go has what it says of columns
//	schema.go   Schema
//	order.go    the orders in which tables are copied and get new ids
//	plan.go     the types
package plan
