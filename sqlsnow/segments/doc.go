// Package segments gives out dense numbers that a process takes from counters in databases, many at a time. They
// are ids that need no clock and no lease.
//
//	err := sqlsnow.Migrate(ctx, db, sqlsnow.MySQL)
//	keys, err := segments.Open(ctx, []*sql.DB{db}, sqlsnow.MySQL, segments.Config{Tag: "orders"})
//	defer keys.Close(context.Background())
//	id, err := keys.Next(ctx)
//
// [Segments] are a [snow.Source]. [sqlsnow.Migrate] makes the table, and the first [Open] makes its rows.
// docs/segments.md of the repository is for the person on call, and [github.com/shardsnow/snow/sqlsnow/sqlsnowtest]
// checks that a database keeps the contract.
//
// # Why no number is given out twice
//
// A row of the table has the next number of one database. One statement, which commits by itself, moves it by a
// whole block. A process uses a block only if the statement was confirmed; if the reply is lost, nobody uses the
// block. With N databases, each has the numbers of one residue modulo N. A process takes from a row again only if
// the row is at or above the end of the last block that the process took there: a row that went back is a
// [*RegressedError] for all processes, until [Raise].
//
// # Inside
//
//	open.go          Open, and the first numbers
//	segments.go      Segments: Next, Fill, Close, and the goroutine that takes more numbers
//	raise.go         Raise
//	counters.go      Counters
//	prepare.go       makes the rows of a tag
//	rows.go          the row of one database: the statements, and why one changed nothing
//	pool.go          which database to ask for more, and what its reply means; no I/O and no clock
//	giveback.go      what Close gives back, and why nobody else has it
//	block.go         the numbers that callers reserve, each with one atomic addition
//	statements.go    the SQL
//	config.go stats.go errors.go
package segments
