// Package preflight tests what must be so before a run writes anything.
//
//	databases.go     sources and target: are they as the plan says, and do keys tell rows apart
//	target.go        the target: tables, rights, triggers, the ledger
//	postgres.go      what only PostgreSQL has: encodings, large objects
//	mysql.go         what only MySQL has: character sets of columns
//	foreign_keys.go  foreign keys of the target
//	workers.go       worker numbers, and room for new ids; numbers.go: new ids that are numbers
package preflight
