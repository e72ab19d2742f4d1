// Package rekey says what rows become: their new ids, the references to them, and the values of rows that others are
// merged into.
//
//	row.go             a row, and what is wrong with it
//	decide.go          which rows are merged into others
//	rewriter.go        what rows become in the target, in a run and in a dry run
//	combine_rows.go    the values that rows get from rows merged into them; combine.go: what values make together
//	references.go      what references must be now, and which are to no row
//	id_column.go       puts other ids in a column's values
//	role.go            finds the ids in them, by the column's role: role_reference.go, role_polymorphic.go, role_list.go,
//	                   role_json.go and role_packed.go
//	names.go           names that follow where rows are renamed
//	formula.go         the new id of a row; dates.go: the date that is in it
package rekey
