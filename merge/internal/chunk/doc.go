// Package chunk reads, writes and hashes rows, chunk by chunk, by sessions whose settings are the same whatever the
// caller's pool is set to.
//
//	conns.go        the sessions of one goroutine: of the target and of the sources
//	session.go      a session; transaction.go: what it does at once, and again if others were in the way
//	same.go         whether two sessions are in one database, or on one server
//	rows.go         reads rows by ranges and by keys; insert.go: inserts them
//	hash.go         hashes rows, so that values that a database writes in other ways have one hash
//	pace.go         how many rows a transaction should have; pauser.go: stops between two of them
package chunk
