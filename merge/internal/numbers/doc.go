// Package numbers is for new ids that are numbers.
//
//	numbers.go   chooses the numbers of a table
//	counters.go  sets the counters of the target above them
package numbers
