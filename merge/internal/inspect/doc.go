// Package inspect proposes a plan: it compares the catalogs of the sources, and looks at samples of their rows for
// references, dictionaries and clashes that no schema declares.
//
//	propose.go       Propose, and Schema: a plan of the schemas alone
//	inspector.go     the plan that is made, and suspects in it
//	declared.go      keys, also beside another primary key; references by foreign keys, new ids
//	dates.go         columns with the time of creation
//	combine.go       one plan of several catalogs
//	shared_rows.go   rows that sources share: dictionaries, tables that are the same, and clashes in unique keys
//	suffix.go        what becomes of texts that clash
//	followers.go     texts that follow a row that is renamed
//	questions.go     verdicts as questions, one for all columns of one meaning; evidence.go: what speaks for them
//	solve.go         whose ids columns hold, for the schema as a whole
//	score.go         points of evidence for one column and one key
//	rivals.go        claims of one column that speak against each other
//	unsure.go        columns about which nothing is proposed
//	solver.go        columns, keys, claims of columns on keys, and the verdicts
//	borrows.go       keys whose numbers are ids of other tables
//	keys.go          columns that may hold ids, keys, and how values compare with ids
//	reading.go       what the names of columns and tables say, in the words of the plan: see internal/refname
//	references.go    polymorphic references, lists; kinds.go: those whose kinds only values tell
//	packed.go        ids that are packed in values
//	json.go          ids in JSON
//	parents.go       whose ids the values in JSON, in lists and beside a kind are, by names or by values alone
//	samples.go       samples of rows
//
// A reference that no foreign key declares is found in three steps. First each column that may hold ids is weighed
// against each key: by the names, by the likelihood of its values if they are ids of the key and if they know
// nothing of it, and by types, indexes and joins. Then columns of equal names, and the tables that most columns
// refer to, speak for one another. Last come the verdicts: primary keys that are keys of other tables first, since
// nothing can refer to them. What is not certain is asked.
package inspect
