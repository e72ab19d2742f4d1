// Package numbers makes the numbers that people see, such as INV-2026-000123: sequences in a database whose text has a
// date, a partition such as a tenant, padding and a check digit, and that begin at 1 again each year, month or day.
//
//	invoices, err := numbers.OpenGapFree(ctx, db, sqlsnow.MySQL, numbers.Config{
//		Series: "invoices", Pattern: "INV-{yyyy}-{000000}", Restart: numbers.Yearly, Zone: "Europe/Berlin",
//	})
//	tx, err := db.BeginTx(ctx, nil)
//	number, err := invoices.Take(ctx, tx) // INV-2026-000123
//
// There are two ways. [GapFree] takes a number in the transaction that stores its row, so a rolled back transaction
// leaves no gap, and transactions wait for each other. [Fast] takes blocks of numbers by itself, and leaves gaps.
// [sqlsnow.Migrate] makes the table snow_numbers, and the first process that opens a series makes its row.
// docs/numbers.md of the repository compares the two.
//
// # Why no number is given out twice
//
// A row of the table counts for one series, one period and one value of each partition. Its key is made of what the
// text shows, so rows never give the same text. The pattern, the restart, the zone and the kind of a series are stored
// with it and never change, except for the padding. One statement counts:
//
//   - GapFree: in the caller's transaction. The row is locked until that ends, so nobody sees a number that may be
//     rolled back.
//   - Fast: by itself, as in package segments. A block is used only if the statement was confirmed. A process takes
//     from a row again only if the row is not below the last block that it took: a row that went back is a
//     [*RegressedError] for all processes, until [Raise]. A process remembers the blocks of up to 65,536 counters of
//     the present period. A row that went back while no process remembers it is not noticed.
//
// # Whose date
//
// The clock of the database decides. The statement that counts does nothing if the database's time is not in the period
// that it counts in. The clock of this machine is a guess for the first try.
//
// A Fast series also gives numbers from memory. It compares the time that has passed since it read the database's clock
// with the end of the day, the month or the year that the pattern shows, and reads the clock again each minute, and
// when this machine was asleep or its clock was set. So a number with the old date is given out after midnight only by
// as much as two clocks drift apart in a minute. It is in any case a number of the old period, never a repeated one.
//
// # Why it is not made of segments
//
// [github.com/shardsnow/snow/sqlsnow/segments] keeps a connection and a goroutine for each tag, and gives out numbers
// that were taken yesterday. A tenant and a day would need one each. So Fast uses the same statement and the same
// checks of sessions, settings and rows, and neither of the two.
//
// # Inside
//
//	pattern.go       Pattern: parsing, formatting, reading a text
//	checkdigit.go    Luhn, and MOD 11,10
//	period.go        Restart, time zones, periods, and the scope of a counter
//	preview.go       Config.Preview
//	series.go        the configuration of a series, and its row
//	gapfree.go       GapFree
//	fast.go          Fast
//	counters.go      List and Raise
//	statements.go    the SQL
//	errors.go
package numbers
