// Package functions has functions of SQL for MySQL, MariaDB and PostgreSQL that
// read ids, and one that makes them: for triggers, defaults and programs that are
// not Go.
//
//	statements, err := functions.Reading(sqlsnow.MySQL, layout) // for a migration
//	worker, err := functions.Install(ctx, db, sqlsnow.MySQL, functions.Config{Namespace: "shop"})
//
// [Reading] needs nothing but a layout. [Install] also creates snow_next_id(),
// which returns a new id, with a worker number that [sqlsnow.Reserve] takes from the
// namespace. [Partition] and [AddPartitions] divide a table by the months of its ids.
// docs/sql.md of the repository has triggers, defaults and figures.
//
// snow_next_id needs MySQL 8.0.17, MariaDB 10.5 or PostgreSQL 15, with a single server
// that takes writes, and a layout with ticks of at most a second. With lanes, ids
// take turns over the lanes. Unset shard bits are spread evenly.
//
// # Why no id is made twice
//
// The worker number is reserved: no lease ever has it, and Install names the schema
// for which it is reserved with random bits, so no other database gets it.
// The schema keeps the number, and the name and UUID of the namespace. If the namespace forgets
// the reservation, Install takes that very number again, or fails if somebody else got it. What
// remains is that one database does not make an id twice.
//
// An id has a position, which is its tick and its sequence. The database counts
// positions upward in something that a rollback does not undo: a sequence in
// PostgreSQL, a counter of AUTO_INCREMENT in MySQL and MariaDB. A call takes the next
// position, or the first ones of the present tick if that is later, in one atomic
// step. So while the server runs, each position is taken once, whatever sessions,
// rollbacks and the clock do.
//
// A server may forget positions. A crash loses the positions of transactions that it
// had not synced, and somebody may have seen their ids before the end of the
// transaction. A failover loses positions that the new primary did not have yet, and in
// MySQL also positions of rolled-back transactions, which are not replicated. Time protects
// these ids. snow_next_id returns an id only after the clock has reached its tick, so
// no id that anybody saw has a tick that is later than the clock was at the end. And
// the first position after a start is in a tick that is later than the clock shows:
//
//   - After a crash or a restart, and on a new primary, later than the present tick and one
//     second. In PostgreSQL an unlogged sequence has a mark of the server's start; it
//     is empty after a crash and in a standby that was promoted. In MySQL and MariaDB
//     three counters have a mark of the server and its start. A rollback does not undo a
//     mark, and nobody waits to read one.
//   - In MySQL and MariaDB, each new session takes its first position in a later tick.
//
// The first id waits until the clock is there. So the ids are new if the clock was
// not set back across the crash, and the clock of a new primary is at most one second
// behind the old primary's; how much history is lost does not matter. A LossWindow is not
// needed here: a lease owns windows of the future, a position is never ahead of
// the clock.
//
// If the clock is behind the positions, a call waits for up to ten seconds. If it is
// further behind, the call is an error. In PostgreSQL, a call that already waits when the
// clock is set back goes on until the clock has caught up, as pg_sleep does, or until it is
// cancelled. It is also an error if a table or sequence is
// missing, if the server is read-only, and if the timestamp has run out.
//
// # What no function can cure
//
//   - Two servers that both take writes as the same database at the same time. Install
//     refuses Galera and groups with several primaries, where they can be seen.
//   - A clock that is set back across a crash by more than the server was down, or
//     the clock of a new primary that is further behind than a second: ids can
//     be made again that the server forgot.
//   - A copy, or a database that was restored from a backup, that makes ids beside the first
//     one: call [Renumber] there. A restored database in the place of the first
//     is a new primary as above if it is another server, and like one that crashed otherwise.
//   - MySQL and MariaDB: a server that made ids, is demoted, and is promoted again without a
//     restart in between and without what the other one did meanwhile. Restart it
//     before it is promoted. User variables whose names begin with snow_id_ that a
//     session sets itself.
//   - Tables and sequences named snow_id_… that somebody edits.
//   - Logs of statements: replicas would execute the function again. Install refuses
//     binlog_format=STATEMENT; with MIXED, servers log the rows.
//
// # Inside
//
//	install.go                    one schema: check, take the number, create
//	  ├─ holder.go                for whom the number is reserved
//	  ├─ create.go                what is there and what is missing, and whether it can be created
//	  ├─ making.go                snow_next_id, as far as the servers have it in common
//	  │    ├─ mysql.go
//	  │    └─ postgres.go
//	  └─ reading.go               the functions that read ids
//	       └─ arithmetic.go       layouts as expressions of SQL
//	partitions.go                 monthly partitions
package functions
