// Package phases goes through the phases of a run, each over all tables of all sources: mint, copy, link and verify, and
// the dry run. What is done with the rows of one table is an [Executor]'s.
//
//	job.go            a plan and its databases
//	executor.go       Executor: mints, copies and compares the rows of one table
//	fill.go           the phases that write, in their order
//	preflight.go      what must be so before; fit.go: values that do not fit
//	start.go          makes a run, or finds it
//	mint.go           phase mint; copy.go: phases copy and link
//	verify.go         compares tables; verify_target.go: the map, references and sums; proof.go: what was found
//	dryrun.go         a dry run; forecast_table.go: what it finds in a table
package phases
