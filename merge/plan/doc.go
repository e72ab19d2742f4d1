// Package plan says what becomes of each table and column in a merge of databases. It asks no database: [Read] reads a plan
// that people have edited, [Plan.Check] says what is wrong with it or not decided, [Plan.Schema] returns the statements that
// make the target's tables.
//
//	read.go            reads and writes YAML and JSON
//	schema.go          Schema; target_type.go: types that follow from roles
//	check.go           Check of tables and keys
//	check_column.go    Check of columns
//	order.go           the orders in which tables are copied and get new ids
//	fault.go           Error, and what collects errors
//	plan.go            the types
package plan
