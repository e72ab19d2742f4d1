// Package inspect proposes a plan: it compares the catalogs of the sources, and looks at samples of their rows for
// references, dictionaries and clashes that no schema declares.
//
//	inspect.go       Propose; keys, references by foreign keys, new ids
//	keys.go          keys beside another primary key
//	dates.go         columns with the time of creation
//	combine.go       one plan of several catalogs
//	shared_rows.go   rows that sources share: dictionaries, and clashes in unique keys
//	references.go    references without a foreign key, polymorphic ones, lists
//	json.go          ids in JSON
//	parents.go       whose ids some values are
//	samples.go       samples of rows, and how many of their values are ids of a table
//	names.go         what the name of a column says
package inspect
