// Package refname says what the names of tables and columns tell about references: which names say that values are
// ids, and which table's. It takes names, asks no database, and is safe for concurrent use.
//
//	words.go        names as words
//	lists.go        words of a meaning
//	vocabulary.go   Vocabulary: takes names apart, in the words of a schema
//	reading.go      Reading: what a name says
//	likeness.go     Likeness: how much the names of a column and of a key have in common
package refname
