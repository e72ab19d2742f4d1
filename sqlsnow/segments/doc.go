// Package segments gives out dense numbers that a process takes from counters in databases, many at a time. They are ids that
// need no clock and no lease.
//
//	err := sqlsnow.Migrate(ctx, db, sqlsnow.MySQL)
//	keys, err := segments.Open(ctx, []*sql.DB{db}, sqlsnow.MySQL, segments.Config{Tag: "orders"})
//	defer keys.Close(context.Background())
//	id, err := keys.Next(ctx)
//
// [Segments] are a [snow.Source]. The table is made by [sqlsnow.Migrate], its rows by the first [Open]. What the person on call
// needs is in docs/segments.md of the repository, and [github.com/shardsnow/snow/sqlsnow/sqlsnowtest] checks that a database
// keeps the contract.
//
// # Why no number is given out twice
//
// A row of the table has the next number of one database. One statement, which commits by itself, moves it by a whole block,
// and only a block whose statement was confirmed is used; if its reply is lost, nobody uses the block. With N databases, each
// has the numbers of one residue modulo N. A process goes on with a row only if it is at or above the end of the last block
// that the process took there: a row that went back is a [*RegressedError] for all processes, until [Raise].
//
// # Inside
//
//	open.go        Open, and the first numbers
//	segments.go    Segments: Next, Fill, Close, and the goroutine that takes more numbers
//	raise.go       Raise
//	prepare.go     rows that are yet to be made
//	rows.go        the row of one database: the statements, and why one changed nothing
//	pool.go        which database to ask for more, and what its reply means; no I/O and no clock
//	block.go       the numbers that callers reserve, each with one atomic addition
//	config.go stats.go errors.go statements.go
package segments
