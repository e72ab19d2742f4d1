// Package dbserver is a database server as leases and segments see it: what it says of itself, how its SQL differs from that
// of others, and the connections on which a write commits by itself.
//
//	engines.go                        the engine of a dialect
//	mysql.go postgres.go sqlite.go    what each kind of server has of its own
//	session.go                        Engine.Write finds a connection on which a write commits by itself
//	errors.go                         what the codes of a driver's errors mean
//	engine.go                         Engine and Session; Compile and Info
//	statement.go                      SQL whose parameters have names
//	info.go                           the server's clock and the settings that its durability depends on
//	retry.go                          waiting for statements that are in the way
//	name.go                           names of namespaces and tags, and UUIDs
package dbserver
