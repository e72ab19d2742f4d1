// Package plan says what becomes of each table and column in a merge of databases. It asks no database:
// [ReadDecisions] reads what people decide, [Decisions.Complete] makes the plan of it, [Plan.Check] says what is
// wrong with it or not decided, [Plan.Schema] returns the statements that make the target's tables.
//
//	shorten.go            Shorten: the decisions of a plan
//	shorten_question.go   questions and suspects, as a file has them
//	cover.go              groups of columns, and names and patterns for them
//	template.go           decisions for other sources: Apply, In, Rebind
//	complete.go           Complete: the plan of decisions
//	complete_question.go  questions and their answers, as a file has them
//	completer.go          what names of decisions stand for, what is claimed of columns, and which rows take others
//	                      along
//	answer.go             questions and their answers in a plan
//	answer_fields.go      answers that change fields
//	ids.go                which rows get new ids when there are more keys, what new ids most tables have, and where
//	                      references lead on to
//	decisions_file.go     reads and writes files of decisions
//	overlay.go            changes of single fields
//	meaning.go            what columns and unique keys are, and which of several entries counts
//	name.go               what names and patterns stand for
//	decisions.go          the types of decisions
//	read.go               reads and writes complete plans, as YAML and JSON
//	schema.go             Schema
//	check.go              Check of tables, keys, questions and databases
//	check_column.go       Check of columns
//	check_rows.go         Check of what leaves rows out, renames them, or combines their values
//	target_type.go        the types that columns have in the target: keys get wide enough for new ids
//	order.go              the orders of copying tables and of giving new ids
//	fault.go              Error, and what collects errors
//	lookup.go             what the fields of a plan say together
//	plan.go               the types
package plan
