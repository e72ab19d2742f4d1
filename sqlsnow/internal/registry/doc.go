// Package registry is the tables of worker leases: the statements of the lease protocol, and what they do to
// snow_namespaces and snow_workers. It returns the errors of drivers as they are.
//
//	registry.go     a Registry is the rows of one namespace; Do sends a request of package protocol
//	namespace.go    the constants of a namespace, and Create
//	workers.go      all rows of a namespace, for Workers and Fence
//	reserve.go      a number that is never leased
//	statements.go   the SQL
package registry
