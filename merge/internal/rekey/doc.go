// Package rekey says what rows become: their new ids, the references to them, and the names that rows must be given
// because others have theirs.
//
//	clash_decide.go    decides on rows that clash in a unique key; clash_rename.go: gives them names that are free
//	clash_renumber.go  gives them numbers that are free, such as other slots
//	clash_find.go      finds the rows that others clash with, by clash_search.go
//	clash_keys.go      the unique keys where rows may clash
//	clash_contend.go   decides which of several rows with one value keeps it
//	clash_exists.go    finds the rows that foreign keys lead to
//	identities.go      which rows of sources are one row in the target
//	row.go             a row, and what is wrong with it
//	rewriter.go        what rows become in the target, in a run and in a dry run
//	combine_rows.go    the values that rows get from rows merged into them; combine.go: what values make together
//	references.go      what references must be now, and which are to no row
//	id_column.go       puts other ids in a column's values
//	role.go            finds the ids in them, by the column's role: role_reference.go, role_list.go, role_json.go and
//	                   role_packed.go
//	formula.go         the new id of a row; dates.go: the date that is in it
package rekey
