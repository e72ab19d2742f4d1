package mysql

// OldTable returns the name of the table that is kept after a shadow has taken its place, until phase Finish.
func OldTable(table string) string { return oldOf(table) }

// LetGo is the end of the name of the steps after which old tables are no longer kept equal.
const LetGo = ": let go"
