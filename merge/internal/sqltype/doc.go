// Package sqltype says what the types of columns are to a merge: integers of how many bits, texts of what length, and so on.
// It goes by the names of the types alone, and asks no database.
package sqltype
