// Package inspect proposes a plan: it compares the catalogs of the sources, and looks at samples of their rows for
// references, dictionaries and clashes that no schema declares.
//
//	inspect.go         Propose; keys, references by foreign keys, new ids, dates
//	unite.go           one plan of several catalogs
//	evidence.go        samples of rows, and how many of their values are ids of a table
//	suspects.go        references without a foreign key, polymorphic ones, lists
//	suspects_json.go   ids in JSON
//	dictionaries.go    rows that sources share, and clashes
//	names.go           what the name of a column says
package inspect
