// Package chunk reads, writes and hashes rows, chunk by chunk, by sessions whose settings are the same whatever the
// caller's pool is set to.
//
//	same_database.go  whether two sessions are in one database
//	insert.go         inserts rows; rows.go: reads them by ranges; keys.go: by keys; copies.go: where they have no key
//	session.go        a session, its transactions, and the sessions of one goroutine
//	hash.go           hashes rows, so that values that a database writes in other ways have one hash
//	throttle.go       how many rows are read in a second
//	pace.go           how many rows a transaction should have, and stops between two of them
package chunk
