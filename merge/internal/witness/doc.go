// Package witness compares where references lead, without the map of ids and without the code that rewrites ids.
//
// A row is identified by its content: the values of its plain columns. The witness joins the rows of a table with
// the rows that they refer to, once in each source and once in the target, in one plain statement each, and
// compares the contents: the rows of the sources together must lead to the same contents as the target's rows,
// each as often. It knows the plan and the catalogs of the databases, and nothing of a run but how many rows the
// target had before.
//
//	content.go  which columns identify a row, and their text in SQL
//	join.go     the statements, and what they return
//	inside.go   the same for lists, JSON and packed values, in which no statement can find the ids
//	witness.go  Witness, and what it knows of rows and of columns with ids
//	table.go    compares the references of a table
//	compare.go  finds the references that lead elsewhere; sums.go: tells where to look for them
//
// What it proves of a reference that it has witnessed: the row that it leads to in the target has the content of
// the row that it led to in the source. It can't tell rows of equal content from each other, it finds ids in JSON
// and in packed values by the same code as the copy, and it takes from the plan which columns are references, and
// to which tables.
package witness
