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
//   - Fast: by itself, as in package segments. A block is used only if the statement was confirmed, and with a
//     LossWindow not before a second one was. A process takes from a row again only if the row is not below the last
//     block that it used: a row that went back is a [*RegressedError] for all processes, until [Raise]. A process
//     remembers the blocks of up to 65,536 counters of the present period. A row that went back while no process
//     remembers it is not noticed.
//
// # Failovers that lose commits
//
// An asynchronous replica that takes over may lack the last commits.
//
// GapFree needs nothing. A number and its row are one transaction, so they are lost together. Transactions of one
// counter lock one row, so a replica has them in their order. What is left has the numbers 1 to n, and n + 1 is the
// next one. It may be a number that somebody has seen before the failover, of a row that no longer exists.
//
// Fast needs [FastConfig].LossWindow. With L > 0, a block is first claimed, by one statement that moves the counter and
// adds a random token to its row. The block is used only after a second statement has found the token there and taken
// it away, and that statement is sent no sooner than L + 500 ms after the first one was confirmed. The argument:
//
//   - The database loses at most L of what it confirmed. So at the time of the second statement, the primary either has
//     lost the claim, or will never lose it: the claim is older than L from then on.
//   - There is one writable primary. The second statement is a write, so it is the present primary that finds the
//     token. A read could be answered by the one before, which still has what was lost.
//   - Only this process knows the token. The counter proves nothing: after a failover, another process may have taken
//     the same numbers.
//   - If the second statement itself is lost in a failover, the counter is still past the block.
//   - If the token is not there, the block is left out, and another one is claimed.
//
// The wait is measured with the monotonic clock of the process, which nobody sets. A process that stands still waits
// longer, or uses a block later; both are safe. The statement that proves a block claims the next one, so there is one
// statement for each block, and the next block is old enough when it is needed. A block that was used up sooner makes
// the next one twice as large. In the last 2 (L + 500 ms) of a period, a process claims the first block of each counter
// that it uses in the next period. So a process that goes on does not wait, except for a [Fast.Fill] beyond the block
// that is ahead. The first number of a process, and of a counter that is new to it, waits for L + 500 ms.
//
// The configuration of a series is proven in the same way before the first number, because another process could store
// another one after it was lost, and count in other rows with the same texts.
//
// The limits: more than L is lost, or two servers take writes at the same time, or one process of the series has a
// shorter LossWindow. Then numbers repeat. A counter that is found below a block that was used is a [*RegressedError],
// as without a LossWindow. A row has room for 300 claims. If more processes than that have a block ahead in one
// counter, the oldest ones are left out, and their processes wait again.
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
//	fast.go          Fast, and the database's date
//	block.go         the numbers at hand, and the statement that takes more
//	claim.go         blocks that the database may still lose
//	counters.go      List and Raise
//	statements.go    the SQL
//	errors.go
package numbers
