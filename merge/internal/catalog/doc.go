// Package catalog reads what a database has: tables, columns, keys, indexes, and notes on what a merge does not
// carry over.
//
//	read.go        Read
//	catalog.go     Catalog: of one database or several
//	mysql.go       queries of information_schema; mysql_table.go: what SHOW CREATE TABLE says
//	postgres.go    queries of pg_catalog
//	sqlite.go      queries of pragmas; the text of CREATE TABLE for what they do not tell
//	reader.go      a catalog from the rows of such queries
//	joins.go       equalities of columns in views, triggers and routines
//	tokens.go      takes that text apart
package catalog
