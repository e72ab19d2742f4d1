// Package mysqlexec is the Executor inside one MySQL server that has the source and the target: statements do what
// package rowexec does row by row.
//
//	executor.go   New, and what is left to rows
//	server.go     whether a source is on the target's server; table.go: what the server says of a table
//	mint.go       makes new ids, several chunks at a time; dates.go: how they are dated
//	selection.go  how rows of the target are made out of those of the source
//	copy.go       copies rows; verify.go: compares them
//	packs.go      both where new ids are in packs
package mysqlexec
