// Package mysqlexec is the Executor inside one MySQL server that has the source and the target: statements do what
// package rowexec does row by row.
//
//	executor.go   New, and what is left to rows
//	mint.go       cuts a table into chunks, and makes the ids of the map
//	copy.go       copies rows, and makes the ids of packs; verify.go: compares rows
//	packs.go      how the ids of packs are read
//	selection.go  how rows of the target are made out of those of the source; ids.go: and their new ids
//	table.go      what the server says of a table; server.go: whether a source is on the target's server
package mysqlexec
