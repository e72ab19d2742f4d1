// Package job does the steps of a conversion one after another. Which step is next, and how far it is, is in tables of
// the database that is converted: snow_convert_run, snow_convert_steps and snow_convert_run_sessions.
//
//	step.go       what a step is
//	job.go        the one loop over them: gates, questions, verification
//	back.go       the way back
//	status.go     how far it is
//	look.go       steps that are verified again
//	state.go      what is stored
//	compare.go    in what two plans differ
//	owner.go      one run at a time, and the end of all sessions of the one before
//	sessions.go   the sessions that steps get
//	throttle.go   when a run waits
//	engine.go     SQL that differs between databases
package job
