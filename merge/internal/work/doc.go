// Package work is what a run, a dry run and a verification have in common: the job, the loop over rows and chunks, and
// what people are told.
//
//	job.go       a plan and its databases; what a goroutine writes with
//	parallel.go  several goroutines at a time
//	loop.go      the loop: pause, read, do, observe, progress, resume; rows.go: feeds of rows;
//	             chunks.go: feeds of chunks of the ledger; totals.go: how many rows there are
//	events.go    phases, and how far a table is
//	rewriter.go  what rewrites rows
//	statements.go  how far the statements are that come after verification
//	open.go      what nobody has decided or checked; sample.go: samples of columns, the same in each pass
package work
