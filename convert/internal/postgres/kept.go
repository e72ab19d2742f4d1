package postgres

// OldColumn returns the name of the narrow column that is kept after the swap, until phase Finish.
func OldColumn(column string) string { return oldName(column) }
