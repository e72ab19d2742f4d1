// Package earlier inherits the ledgers of sources that were made by merges.
//
//	find.go     the earlier merges that a source's ledger has
//	copy.go     copies them into the target's ledger
//	compare.go  compares the copy
package earlier
