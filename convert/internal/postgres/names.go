package postgres

import (
	"crypto/sha256"
	"encoding/hex"
	"unicode/utf8"
)

// nameBytes is how long a name of PostgreSQL may be.
const nameBytes = 63

// triggerName comes after all letters, so that triggers of the user change a row first.
const triggerName = "~snow_convert"

// spareName is the name of a second column before the swap.
func spareName(column string) string { return fit("_snow_" + column) }

// oldName is the name of the narrow column after the swap.
func oldName(column string) string { return fit("_snow_old_" + column) }

// copyName is the name of the copy of an index or constraint.
func copyName(name string) string { return fit("_snow_copy_" + name) }

// equalName is the name of the check that says that a table's two columns are equal.
func equalName(table string) string { return fit("_snow_equal_" + table) }

// functionName is the name of the function of a table's trigger.
func functionName(table string) string { return fit("_snow_keep_" + table) }

// fit shortens a name that is too long, and keeps it apart from other long ones.
func fit(name string) string {
	if len(name) <= nameBytes {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	suffix := "_" + hex.EncodeToString(sum[:4])
	cut := nameBytes - len(suffix)
	for cut > 0 && !utf8.RuneStart(name[cut]) {
		cut--
	}
	return name[:cut] + suffix
}

// OldColumn returns the name of the narrow column that is kept after the swap, until phase Finish.
func OldColumn(column string) string { return oldName(column) }
