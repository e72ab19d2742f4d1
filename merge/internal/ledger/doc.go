// Package ledger keeps in the target what was decided and done: so a run that was killed at any statement goes on.
//
//	lease.go         the fenced lease: who may write, and the transactions that check its fencing token
//	runs.go          what is known of a plan's run, and which numbers it leaves to later ones
//	successor.go     what became of a row
//	id_map.go        from old to new ids: rows; packs.go: lists, for large tables;
//	                 pages.go: parts of the map that stay in memory
//	earlier.go       the source tables of the merges that made sources, whose ledgers are copied
//	chunks.go        the chunks of rows that a phase has done, the values that were changed, and sums over them
//	ledger.go        the tables
//	after.go         the statements that are executed after a merge
//	source_table.go  one table of one source in a run; id_range.go: the new ids that its rows may get
package ledger
