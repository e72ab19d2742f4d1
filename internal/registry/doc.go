// Package registry is the tables of worker leases, snow_namespaces and snow_workers, and the statements of the
// lease protocol on them. It returns the errors of drivers unchanged.
//
//	reserve.go      a number that is never leased
//	workers.go      all rows of a namespace, for Workers and Fence
//	registry.go     Registry: the rows of one namespace; Do sends a request of package protocol
//	namespace.go    the constants of a namespace, and Create
//	statements.go   the SQL of all of these
package registry
