// Package plan says which tables and columns of a database change, and how. It
// asks no database.
//
//	plan.go     the plan
//	read.go     files of plans
//	guide.go    what such a file says of itself
//	resolve.go  what answers change
//	check.go    what a run can't follow
//	circle.go   foreign keys that form a circle
//	lookup.go   tables and columns by their names
package plan
