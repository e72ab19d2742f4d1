// Package dbtest gives tests real database servers: private ones, which a test may kill, stop and restart, whose clock it may
// set, and whose history it may undo.
//
// [MariaDB] and [Postgres] start a server for the test that calls them, with a fresh data directory, a free port on the
// loopback interface and a unix socket. It syncs its log at every commit, as in production, and admits only those who
// have the password in its [Server.DSN]. The first server of a kind takes about a second, the next ones a fifth of that.
// It ends with the test, or with the test process however that ends, and its files are removed.
//
// [Galera] starts a cluster, [Server.Follow] makes a server a replica of another one, [Server.Standby] starts a standby, and
// [Server.Pooled] a PgBouncer.
//
// SNOW_MYSQL_DSN and SNOW_POSTGRES_DSN name a server to use instead of a private one. Databases can be created on it, but
// it can't be killed, stopped, restarted and so on.
//
// A test whose server can't be had, because its programs are not installed or because of -short, is skipped.
// SNOW_REQUIRE_DB=1 makes it run or fail.
//
// The package imports the standard library only: it talks to servers through their command-line clients, so that no driver
// comes with it. It works on Linux and macOS.
package dbtest
