// Package rekey says what rows become: their new ids, the references to them, and the names that rows must be given
// because others have theirs.
//
//	formula.go     the new id of a row, computed here or written for a MySQL server; dates.go: the date that is in it
//	resolver.go    what id references to a row must have now
//	finder.go      finds the ids in a column's values
//	rewriter.go    what rows become in the target, by the ledger
//	references.go  which references are to no row
//	conflicts.go   decides on rows that clash in a unique key; conflicts_find.go: finds them; conflicts_rename.go: renames them
//	identities.go  which rows of sources are one row in the target
package rekey
