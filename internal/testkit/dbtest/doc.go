// Package dbtest starts real database servers for tests. They are private: a test may kill, stop and restart its
// server, set its clock, and undo its history.
//
// [MariaDB] and [Postgres] start a server for the test that calls them, with a fresh data directory, a free port on
// the loopback interface and a unix socket. It syncs its log at every commit, as in production, and accepts only
// clients with the password in its [Server.DSN]. The first server of a kind takes about a second, the next ones a
// fifth of that. A server ends with its test, or with the test process, even if that is killed, and its files are
// removed. [SharedMariaDB] is one server for all tests of a process, which is cheaper for tests that only need
// databases.
//
// SNOW_TEST_TEMPLATES is a folder with initialised data directories that several processes share. Who starts them makes
// the folder, which others may enter but not list, and removes it. The servers of all of them have one password.
//
// [Named] starts a server of the folder that install-servers.sh fills, which is SNOW_SERVERS, or one that the
// package makes of several, and [MySQL] is the shortest name. SNOW_MYSQL_SERVER and SNOW_POSTGRES_SERVER have such
// a name for the servers that [MariaDB] and [Postgres] start, so that the tests of all packages can run on each
// server.
//
// [Galera] and [Group] start a cluster, [Server.Replica] starts a replica, [Server.Follow] makes one of a server,
// and [Server.Pooled] starts a PgBouncer. A replica can be promoted after a crash of its primary, and after
// [Server.Demote] in a planned switch-over.
//
// SNOW_MYSQL_DSN and SNOW_POSTGRES_DSN name a server to use instead of a private one. Databases can be created on
// it, but it can't be killed, stopped, restarted and so on.
//
// If the programs of a server are not installed, or with -short, the test is skipped. With SNOW_REQUIRE_DB=1 it
// runs or fails.
//
// The package imports only the standard library: it talks to servers through their command-line clients, so it
// needs no driver. It works on Linux and macOS.
package dbtest
