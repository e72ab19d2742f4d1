// Package verify compares the target with what the sources, the plan and the ledger say.
//
//	verify.go      all tables, and the report
//	chunks.go      the chunks of a source table; rows.go: the rows of chunks, with comparer.go
//	copies.go      rows that may be equal, with multiset.go; missing.go: looks for them in the target
//	combined.go    rows that got values of others
//	findings.go    what was found
//	target.go      the map, how many rows the target has, and assertions
//	references.go  references; witness.go: the same by the witness
//	decided.go     what became of rows, and how long it took, for the report
package verify
