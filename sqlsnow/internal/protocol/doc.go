// Package protocol is the lease protocol without I/O: a [Machine] decides which statement to send when, and what follows from
// its reply. Package sqlsnow runs it against a database; the tests run it in a simulated world with failing processes,
// networks, clocks and databases, and under a fuzzer. Why no id is made twice is in the documentation of package sqlsnow.
//
//	machine.go   Machine: the request that is due, its reply, and when to ask again
//	steps.go     the table of steps: what each asks and what handles the reply
//	attempt.go   what follows while a number is searched, acquired or claimed
//	holding.go   what follows while a number is held, and when it is given back
//	request.go   Request, Reply and Outcome
//	clock.go     the server's clock between two replies
//	params.go    the constants of a namespace, and ticks
//	errors.go    the errors that the machine reports
//
// In the tests, sim_world_test.go is the world, sim_process_test.go a process in it, sim_registry_test.go the tables and
// sim_mutants_test.go the bugs that the simulation must find.
package protocol
