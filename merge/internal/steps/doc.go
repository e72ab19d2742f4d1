// Package steps is a run: it goes through the phases that write, each over all tables of all sources.
//
//	run.go         the phases in their order, under the lease
//	start.go       makes a run, or finds it
//	conditions.go  phase choose: which rows the conditions of the plan exclude
//	new_ids.go     phase mint: what becomes of rows; new_ids_rows.go: of the rows of one source table
//	combine.go     what rows of the target become that others are merged into
//	fill.go        phases copy and link, over all tables; copy.go: copies rows
//	link.go        sets references that were NULL at first
//	after.go       statements that come after verification
package steps
