// Package dryrun says what a run would do, and what would stop it.
//
//	dryrun.go        the tables in their order
//	forecast.go      what a dry run knows
//	table.go         what becomes of the rows of a source table
//	references.go    references to no row; stand_ins.go: ids that stand for new ones
//	fits.go          whether values fit; combine.go: of rows that others are merged into
//	packet.go        rows that are too long for a statement
//	old_names.go     names that rows lose, in other columns
//	foreign_keys.go  whether the target's foreign keys hold
//	numbers.go       new ids that are numbers, and how full their columns get
//	trial.go         rows that only the database can judge; trial_table.go: the temporary table of a trial;
//	                 trial_copies.go: rows without a key
package dryrun
