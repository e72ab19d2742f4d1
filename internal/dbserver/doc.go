// Package dbserver is a database server as leases and segments see it: its clock and settings, its SQL, and the
// connections on which a write commits by itself.
//
//	engines.go                        the engine of a dialect
//	mysql.go postgres.go sqlite.go    the engine of each kind of server
//	session.go                        Engine.Write finds a connection on which a write commits by itself
//	schema.go                         the schema of the tables, which statements name, and how the tables are stored
//	keep.go                           a handle that keeps one connection of a pool for itself
//	errors.go                         what the codes of a driver's errors mean
//	engine.go                         Engine and Session; Compile and Info
//	parameters.go                     a Statement: SQL whose parameters have names
//	info.go                           the server's clock and the settings that its durability depends on
package dbserver
