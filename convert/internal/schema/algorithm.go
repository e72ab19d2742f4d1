package schema

import (
	"slices"
	"strconv"
	"strings"
)

// An Algorithm is how MySQL or MariaDB carries out ALTER TABLE.
type Algorithm string

// The algorithms.
const (
	Instant Algorithm = "instant" // the dictionary alone
	InPlace Algorithm = "inplace" // in the table, or to a new file of it while writers go on
	Copy    Algorithm = "copy"    // row by row to another table
)

// A Change is what ALTER TABLE changes.
type Change string

// The changes that a conversion needs.
const (
	WidenColumn         Change = "widen a column"
	WidenUnsignedColumn Change = "widen an unsigned column"
	AddForeignKey       Change = "add a foreign key with foreign_key_checks=0"
	AddCheckedKey       Change = "add a foreign key with foreign_key_checks=1"
	DropForeignKey      Change = "drop a foreign key"
	AddColumn           Change = "add a column"
	DropColumn          Change = "drop a column"
	AddIndex            Change = "add an index"
	DropIndex           Change = "drop an index"
	DropAutoIncrement   Change = "drop AUTO_INCREMENT of a key"
	SetAutoIncrement    Change = "set the AUTO_INCREMENT counter"
	RenameTable         Change = "rename the table"
)

// AlgorithmOf returns the best algorithm that a server has for a change, and whether it blocks writers until it is
// done. Every ALTER TABLE waits for the transactions that use the table, and blocks others while it waits.
func AlgorithmOf(product, version string, c Change) (a Algorithm, blocks bool) {
	v := numbers(version)
	if product == "MariaDB" {
		return mariaDB(v, c)
	}
	switch c {
	case AddColumn, DropColumn:
		if atLeast(v, 8, 0, 29) { // from 8.0.12 on it adds a column in the end so
			return Instant, false
		}
		return InPlace, false
	case RenameTable:
		if atLeast(v, 8, 0, 12) {
			return Instant, false
		}
		return InPlace, false
	case AddForeignKey, DropForeignKey, AddIndex, DropIndex, SetAutoIncrement:
		return InPlace, false
	}
	return Copy, true // also where AUTO_INCREMENT is dropped
}

func mariaDB(v [3]int, c Change) (a Algorithm, blocks bool) {
	switch c {
	case AddColumn, DropColumn:
		if atLeast(v, 10, 4, 0) {
			return Instant, false
		}
		return InPlace, false
	case AddForeignKey, DropForeignKey, DropAutoIncrement, SetAutoIncrement, RenameTable:
		return Instant, false
	case AddIndex, DropIndex:
		return InPlace, false
	}
	return Copy, !atLeast(v, 11, 2, 0) // from there on it applies what was written meanwhile
}

// numbers returns the first three numbers of a version; what is none is 0.
func numbers(version string) (v [3]int) {
	for i, part := range strings.SplitN(version, ".", 3) {
		v[i], _ = strconv.Atoi(part)
	}
	return v
}

func atLeast(v [3]int, least ...int) bool { return slices.Compare(v[:], least) >= 0 }
