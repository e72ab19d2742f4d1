// Package versioned keeps the worker numbers of a namespace in a store of keys with versions, such as etcd or
// ZooKeeper, as package registry keeps them in SQL. It is the seam below packages that lease from such a store: they
// bring a [Store], and get a [Registry].
//
// A namespace is the key namespaces/NAME, and each of its numbers the key workers/NAME/NUMBER. The values are JSON with
// the names of the columns of snow_namespaces and snow_workers. A request is carried out in three steps: read the row,
// test the conditions of the SQL statement, and write the new row. The write has an effect only if the row and the
// namespace's key still are as they were read. So what a request found is true at the moment that it is carried out,
// however long it was under way, and the argument of package sqlsnow holds.
//
// A store confirms a write when a majority has it on disk, and no failover loses it. So there is no LossWindow, no
// claim without a window, and no probation.
//
// The simulation of package protocol runs this code, over a store that loses messages, changes its leader, compacts and
// goes back to a snapshot, for processes with wrong clocks: TestSimulationOfVersions.
//
//	store.go        Store, the interface of a store, and Entry
//	registry.go     Registry: the rows of one namespace; Do carries out a request of package protocol
//	conditions.go   what the requests change, and under which conditions
//	namespace.go    the constants of a namespace, and Create
//	list.go         Workers and Fence: all rows of a namespace
//	reserve.go      a number that is never leased
//	clocks.go       whether this process's clock can be right, judged by the rows of others
//	row.go key.go   the values and the keys
//	errors.go       errors
//	memory.go       a Store in memory, for tests
package versioned
