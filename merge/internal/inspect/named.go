package inspect

// NamesIDs reports whether the name of a column says that its values are ids.
func NamesIDs(column string) bool { return readName(column).named }
