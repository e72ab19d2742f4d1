// Package convertcommand is the commands of a conversion in place: flags, files of plans, progress and output around
// package convert.
//
//	command.go    the commands, their flags, and what opens their databases
//	about.go      what their help says
//	plan.go       writing and reading plans
//	work.go       run and back
//	look.go       status and verify
//	progress.go   what a person sees of a run
package convertcommand
