// Package mergecommand is the commands of a merge: flags, files of plans, progress
// and pauses around package merge. docs/merge.md says how they are used.
//
// # Inside
//
//	command.go                    the steps, their flags, and what opens their databases
//	about.go                      what their help says
//	step.go plan.go databases.go  what they do; files of plans; several databases
//	questions.go                  the plan's questions, on a terminal or in a browser
//	groups.go groups_run.go       many groups of databases, some at a time
//	page.go page_html.go          the files of --report
//	progress.go pause*.go         what a person sees of a run, and how it pauses
package mergecommand
