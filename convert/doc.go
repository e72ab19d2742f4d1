// Package convert gives a live database the keys of package snow, in place. New
// rows get snow ids, old rows keep theirs. Programs that know nothing of snow
// insert rows meanwhile, and get small numbers as before.
//
//	p, err := convert.Inspect(ctx, sqlsnow.MySQL, db)   // which columns become BIGINT, how, and what that blocks
//	err = p.WriteYAML(file)                             // for people to review and edit
//	p, err = plan.Read(file)
//	c, err := convert.New(sqlsnow.MySQL, db, p, convert.Config{})
//	err = c.Run(ctx)                                    // up to the next gate; continues after a kill
//	faults, err := c.Verify(ctx)
//	err = c.Back(ctx)
//
// # Phases
//
// Widen: keys and references that are narrower than 64 bits become BIGINT. On
// MySQL and MariaDB a table is copied to a shadow that triggers keep equal, and
// the two change names in one statement. On PostgreSQL a second column is filled,
// and the two change names in one transaction.
//
// Count: from here on, a row may come with a snow id. The numbers for rows
// without an id stay small. On PostgreSQL that is so by nature: a sequence does
// not look at the ids that a program gives. On MySQL and MariaDB an explicit id
// lifts the AUTO_INCREMENT counter above it, so that the counter would next give
// numbers among the snow ids. Two triggers of the table prevent that, see below.
//
// Finish: when no old program is left, counters and triggers go.
//
// Between the phases are gates: Run stops, says what the programs must do, and
// continues when it is called with the name of the gate.
//
// # Counters of MySQL and MariaDB
//
// An old program inserts a row without an id, and the server tells it the number:
// in the reply, and by LAST_INSERT_ID(). Rows of one statement have numbers in a
// row. All this stays, while other rows come with snow ids.
//
// The trigger before an insert takes a number from a block of its session, and
// sets the session variable insert_id to it. The server then gives the first row
// of the statement this number as its AUTO_INCREMENT value, and counts on for the
// further rows. The counter of the table itself is lifted by snow ids, and nobody
// uses it any more. Blocks come from a table with an AUTO_INCREMENT of its own. Its
// numbers are never given twice, also if a transaction is rolled back or the
// server is killed. So no two sessions have a block in common.
//
// The trigger after an insert is what makes this safe. If a row came without an id,
// its number must be in the session's block, and above all numbers that the session
// has written. Otherwise it fails the statement. So whatever a server does with
// insert_id, an old program gets a right number or an error.
//
// insert_id itself tells where a statement begins. The server empties it at the end
// of each statement that took a number from it. So the trigger sees in it its own
// number for further rows of a statement, and 0 for the first one. It sees its own
// number in one more case: a statement failed between the trigger and the write, by
// NOT NULL, CHECK, WITH CHECK OPTION or a later trigger. Then the number is not
// used up, and the next statement takes it.
//
// A number that is left in this way must not become a number of another table. Tables
// with triggers of their own replace it. All other tables that the server counts
// get a guard: a trigger that empties insert_id by an insert into a table for that.
// Triggers of the user that insert into other tables, before or after ours, are
// covered by the same means.
//
// Each statement looks whether the row of its block is still there. If the
// transaction that took the block was rolled back, the row is written again. So
// replicas and backups know all blocks that have numbers in use, and a replica that
// is promoted goes on above them.
//
// What a program can see:
//
//   - Numbers of different sessions do not come in the order of time: each session
//     has a block. A program that asks for ids above the last one misses rows. It
//     also does so because snow ids lie above all numbers.
//   - A session that ends, or that its pool resets, leaves the rest of its block. With
//     a session for each request, that is a block for each request. Table.Block of
//     the plan is how large blocks are. It is small where the key was an INT.
//   - A statement with more rows than the block has left continues into the next
//     block if that comes right after. If another session took it, the statement
//     fails with error 1644, and the session takes 16 blocks at once from then on. So
//     a repeated statement succeeds up to a quarter of that. With Table.Scatter it
//     goes on further up instead.
//   - An id that is given, and is no snow id, lifts the numbers above it. If it lies
//     in a block that a session has, that session fails once when it gets there.
//   - An explicit 0 with NO_AUTO_VALUE_ON_ZERO fails.
//   - auto_increment_increment and auto_increment_offset hold. With an increment, a
//     statement can't be longer than its block.
//   - In a session that has stopped its clock by SET timestamp, and if triggers of the
//     user insert into counted tables, a statement of several rows may fail at the
//     end of a block, with error 1644 or 1062. The next one succeeds.
//   - A session that sets insert_id itself gets that number, if it is no snow id.
//   - An event has a session for each execution, and so a block.
//
// What this does not cure:
//
//   - Temporary tables, and tables created later, have no guard. Directly after a
//     statement that failed, the next row of such a table may get the number that was
//     left. It is one that no row of the counted table has. Run the step of the guards
//     again, by a plan of the time, if the database has got new tables.
//   - On MySQL, a statement may fail after it took a block, and its transaction may go
//     on. Until its end, InnoDB lets others wait that take a block, unless the
//     transaction is READ COMMITTED. MariaDB does so if it is SERIALIZABLE.
//   - With binlog_format=MIXED, reads in triggers would lock. So the row of a block
//     that was rolled back is not written again, and a replica that is promoted may
//     give its numbers again. If such a row exists, the statement fails with a
//     duplicate key, and the next one takes the next number. ROW has no such gap.
//     STATEMENT is refused. So is Galera: LOCK TABLES does not hold on other nodes.
//   - XA: a session that takes a block in a transaction, prepares and leaves it
//     undecided, and then inserts in another one, waits for the decision.
//   - MariaDB: KILL QUERY may hit a session while it reads the texts of triggers. That
//     server then keeps the table as broken: statements fail with error 1064 until
//     FLUSH TABLES. This holds for tables with any triggers.
//   - The triggers run with the rights of the account that created them. Programs need
//     no right to the tables of the conversion. If that account goes, inserts fail.
//   - After Finish, a row without an id fails with error 1364. In a session without
//     strict mode the first one gets the id 0, and further ones fail.
//
// Tested are MariaDB 10.11 and 11.8, and MySQL 9.7. MySQL 5.7, 8.0 and 8.4, Percona
// Server and Aurora are not. MySQL says that binlog_format will go, and the triggers
// read it. So the first step of Count tries the triggers on a table of its own, and
// refuses the server if one of 13 statements ends otherwise than it should.
//
// What was tried and is not done: NEW.id set by the trigger gives the right id, but
// LAST_INSERT_ID() does not know of it, and what LAST_INSERT_ID(n) sets in a trigger
// ends with it. A counter in a row that is locked and updated lets transactions wait
// for each other, and gives numbers again after a rollback. The time of the statement
// as the mark of its first row fails in sessions that set their clock.
//
// The way back from Count is open until a table has its first snow id. Finish first
// makes all sessions take new blocks, and so sees whether any still does, and who.
//
// # Inside
//
//	convert               Inspect, New, Run, Verify, Back: checks arguments, connects what is below
//	  internal/mysql      the steps on MySQL and MariaDB; internal/mysql/count has phases Count and Finish
//	  internal/postgres   the steps on PostgreSQL
//	  internal/propose    makes a plan out of what the database has
//	  internal/schema     what a database has, beside what a merge must know
//	  internal/job        steps, one after another: which is next, who may, how fast
//	  report              events, status, faults and errors
//	  plan                which tables and columns change, and how; asks no database
package convert
