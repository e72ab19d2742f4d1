// Package catalog reads what a database has: tables, columns, keys, indexes, and notes on what a merge does not carry over.
//
//	catalog.go     Read, Catalog
//	mysql.go       from information_schema
//	postgres.go    from pg_catalog
//	sqlite.go      from pragmas, and from the text of CREATE TABLE for what they do not tell
//	tokens.go      takes that text apart
package catalog
