// Package protocol is the lease protocol without I/O: a [Machine] decides which statement to send when, and what
// follows from its reply. Package sqlsnow runs it against a database; the tests run it in a simulated world with
// failing processes, networks, clocks and databases, and under a fuzzer. The documentation of package sqlsnow
// explains why no id is made twice.
//
//	transitions.go   the protocol as a table: what each step asks, and what handles the reply; Request and Handle
//	release.go       how a machine ends: Release for the number that it holds, GiveUp for an unfinished attempt
//	acquire.go       which number a machine takes: replies while one is searched, taken or claimed
//	renewal.go       when a lease is renewed: replies while a number is held
//	loss.go          when a lease is lost: the row after a renewal without effect
//	machine.go       Machine, the number that it holds, the attempt at another one, and Outcome; when to ask again
//	step.go          the names of the steps
//	clock.go         the server's clock, also between two replies
//	request.go       Request and Reply
//	params.go        the constants of a namespace, and ticks
//	errors.go        the errors that a machine reports
//
// In the tests, sim_world_test.go has the world, sim_process_test.go a process in it, sim_registry_test.go the
// tables, and sim_mutants_test.go the bugs that the simulation must find. In place of the tables, the world may have a
// store of keys with versions, sim_keys_test.go, with the code of package versioned between it and the processes:
// sim_client_test.go has the messages to that store, sim_versions_test.go such worlds, sim_versions_mutants_test.go
// their bugs.
package protocol
