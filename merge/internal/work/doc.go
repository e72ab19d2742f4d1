// Package phases goes through the phases of a run, each over all tables of all sources: mint, copy, link and
// verify, and the dry run. What is done with the rows of one table is an [Executor]'s.
//
//	run.go        the phases that write, in their order, and phases choose and mint; copy.go: phases copy and link
//	inherit.go    copies the ledgers of sources that were made by merges, and compares them
//	start.go      makes a run, or finds it; numbers.go: chooses the numbers that new ids may be; counters.go: lets the target count on above them
//	verify.go     compares tables; verify_target.go: the map, references, sums and the witness;
//	              multiset.go: rows that may be equal; verify_decided.go: what became of rows, and how long it took, for the report;
//	              after.go: statements that come after it
//	dryrun.go     a dry run, and how many rows there are; forecast_table.go: what it finds in a table;
//	              trial.go: rows that only the database can judge; trial_copies.go: those without a key;
//	              forecast_keys.go: foreign keys of the target, references to no row, and whether values that are combined fit;
//	              forecast_numbers.go: new ids that are numbers, and how full their columns get
//	preflight.go  what must be so of the databases before, whether keys tell rows apart, and whether there is room for new ids;
//	              preflight_target.go: of the target, and what would stop a run
//	joined.go     rows that the target had before and that get values of others
//	open.go       what nobody has decided or checked
//	job.go        a plan and its databases, and Executor
//	events.go     what people are told
//	findings.go   what was found in chunks that were compared, and values that do not fit the target
package phases
