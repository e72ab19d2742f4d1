// Package plan says what becomes of each table and column in a merge of databases. It asks no database:
// [ReadDecisions] reads what people decide, [Decisions.Complete] makes the plan of it, [Plan.Check] says what is
// wrong with it or not decided, [Plan.Schema] returns the statements that make the target's tables.
//
//	shorten.go            Shorten: the decisions of a plan
//	shorten_question.go   questions and suspects, as a file has them
//	complete.go           Complete: the plan of decisions
//	complete_question.go  questions and their answers, as a file has them
//	answer.go             questions and their answers in a plan; templates
//	cover.go              names and patterns for columns
//	databases.go          plans of several databases
//	template_database.go  templates for one of several databases
//	name.go               what names and patterns stand for
//	meaning.go            what columns are, and which of several entries counts
//	kinds.go              what columns are by the value of another one
//	overlay.go            changes of single fields
//	decisions_file.go     reads and writes files of decisions
//	decisions.go          the types of decisions; Rebind: their plan for sources of other names
//	read.go               reads and writes complete plans, as YAML and JSON
//	schema.go             Schema
//	rows.go               which rows are left out, are renamed, or leave values to another row
//	ids.go                what new ids are
//	follow.go             references that lead on to others, and types that columns do not get
//	target_type.go        the types that columns have in the target: keys get wide enough for new ids
//	check.go              Check of tables and keys
//	check_column.go       Check of columns; check_packed.go: of packed ids
//	order.go              the orders of copying tables and of giving new ids
//	question.go           questions of a plan
//	fault.go              Error, and what collects errors
//	plan.go               the types
package plan
