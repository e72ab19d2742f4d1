// Package dbserver is a database server as leases and segments see it: what it says of itself, how its SQL differs from that
// of others, and the connections on which a write commits by itself.
//
//	engine.go     an Engine is what a kind of server has of its own        mysql.go postgres.go sqlite.go
//	statement.go  SQL with named parameters, compiled for an engine
//	session.go    Engine.Write finds a connection on which a write commits by itself
//	info.go       the server's clock and the settings that its durability depends on
//	errors.go     the errors of all of these, and what the codes of a driver's errors mean
//	retry.go      waiting for statements that are in the way
//	name.go       names of namespaces and tags, and UUIDs
package dbserver
