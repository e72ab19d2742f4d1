// Package clash finds rows that clash in a unique key with rows of the target or of other sources, and decides what
// becomes of them.
//
//	decide.go      decides on rows that clash; rename.go: gives them names that are free
//	renumber.go    gives them numbers that are free, such as other slots
//	contend.go     decides which of several rows with one value keeps it
//	find.go        finds the rows that others clash with, by search.go
//	exists.go      finds rows by values that they have in the target
//	keys.go        the unique keys where rows may clash
//	identities.go  which rows of sources are one row in the target
package clash
