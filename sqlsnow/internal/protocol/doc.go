// Package protocol is the lease protocol without I/O: a [Machine] decides which statement to send when, and what follows from
// its reply. Package sqlsnow runs it against a database; the tests run it in a simulated world with failing processes,
// networks, clocks and databases, and under a fuzzer. Why no id is made twice is in the documentation of package sqlsnow.
//
//	steps.go     the table of steps: what each asks and what handles the reply; Request and Handle use it
//	release.go   how a machine ends: Release for what it holds, GiveUp for an unfinished attempt
//	attempt.go   what follows while a number is searched, acquired or claimed
//	holding.go   what follows while a number is held
//	machine.go   Machine, the number that it holds and the attempt at another one; when to ask again
//	step.go      the steps
//	clock.go     the server's clock, between two replies as well
//	request.go   Request, Reply and Outcome
//	params.go    the constants of a namespace, and ticks
//	errors.go    the errors that a machine reports
//
// In the tests, sim_world_test.go is the world, sim_process_test.go a process in it, sim_registry_test.go the tables and
// sim_mutants_test.go the bugs that the simulation must find.
package protocol
