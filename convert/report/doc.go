// Package report has what a conversion tells: events while it works, the state of
// its steps, faults that a verification finds, and errors.
//
//	errors.go   what keeps a conversion from going on
//	counters.go the same, for counters of MySQL and MariaDB
//	unfit.go    databases that can't be converted as they are
//	event.go    what happens meanwhile
//	status.go   how far it is
//	fault.go    what a verification finds
package report
