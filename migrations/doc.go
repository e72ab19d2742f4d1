// Package migrations has the SQL files that create the tables of package
// [github.com/shardsnow/snow/sqlsnow], for golang-migrate and other tools that
// read numbered pairs of up and down files. The function Migrate of sqlsnow
// applies them without a tool.
//
// Every dialect has the same numbers and names. A file has one statement, and an
// up file can run again on a database that has its table, so you can change
// between a tool and sqlsnow.Migrate. A released file never changes and is never
// removed: later changes get another number.
//
// The down files drop the tables of leases, with all worker windows, and the counters of segments and numbers.
// If the tables are created again, leases can repeat ids until the windows that
// were granted before have ended, and segments and numbers begin at 1 again.
package migrations
