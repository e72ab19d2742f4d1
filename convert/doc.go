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
// The trigger before an insert takes a number from a block of its session, and
// sets the session variable insert_id to it. The server then gives the row this
// number as its AUTO_INCREMENT value, and to the further rows of the statement
// the numbers after it. So everything that the old program can see is as before:
// LAST_INSERT_ID(), the id in the reply, and consecutive ids of a statement with
// several rows. Blocks come from a table with an AUTO_INCREMENT of its own, so no
// two sessions have a block in common, and no session waits for another.
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
