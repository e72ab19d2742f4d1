// Package migrations holds the SQL files that make the tables of package
// [github.com/shardsnow/snow/sqlsnow], for golang-migrate and other tools that
// read numbered pairs of up and down files. Its function Migrate applies them
// without a tool.
//
// Every dialect has the same numbers and names. A file holds one statement, and an up file can run again on a database
// that has its table, so that a tool and sqlsnow.Migrate can take turns. Once released a file never changes or goes away:
// what differs later is another number.
//
// The down files drop the registry of worker windows and the counters of segments. When the tables are made anew, a lease can
// repeat ids for as long as a window that was granted before reaches into the future, and segments begin at 1 again.
package migrations
