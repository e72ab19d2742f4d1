// Package settle has the rules on rows of several sources that a run, a dry run and a verification share.
//
//	conditions.go  which rows the conditions of the plan exclude
//	combine.go     what rows become that others are merged into
//	old_names.go   texts that are names which rows lose
//	fit.go         what a column of the target has room for
package settle
