// Package rowexec is the Executor whose rows go through this process, of any database.
//
//	executor.go  New
//	mint.go      decides what becomes of rows
//	link.go      sets the references that were NULL at first; copy.go: copies rows
//	verify.go    compares rows; copies.go: those that may be equal
package rowexec
