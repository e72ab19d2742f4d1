// Package questions asks people the questions of a merge's plan, on a terminal or in a browser, and writes the answers
// into the file of the plan.
//
// # Inside
//
//	questionnaire.go      the questions of a file, and answers to them
//	group.go              which of them are one question
//	parts.go              what is said of each of its columns and keys: counts, tables, values for no row
//	choice.go             the answers that there are, and what follows from each
//	fields.go             answers that change fields of a column or its table
//	words.go              what columns are, in words
//	file.go document.go   the file: who changed it; answers within its YAML, which keep its comments
//	rows.go values.go     rows of the sources as samples
//	dialogue.go           one question after the other, on a terminal
//	shown.go text.go      what the terminal shows of a question
//	sure.go               the ones with an answer that is nearly certain, together
//	list.go               all of them, as text and as data
//	serve.go guard.go     the page's server, and whom it answers
//	page.go               the page
package questions
