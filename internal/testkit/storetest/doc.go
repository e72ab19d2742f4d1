// Package storetest is the contract of sqlsnow/sqlsnowtest for stores of keys with versions, such as etcd and
// ZooKeeper. [Run] checks its clauses, which keep their numbers. [Command] is the command snow on a store.
//
// These clauses have no meaning here:
//
//	1 2 73         there are no tables and no migrations
//	10 65          a member that can't write is no database of its own: calls fail as in an outage
//	11 12          no client can see whether members sync
//	50-58 66 69    there is no LossWindow: a majority has what is confirmed
//	60 72          there are no sessions with settings, and no transactions that are left open
//
// There is one more: "put back" is the state of a store before its leases, and Fence. The packages of stores also put
// back copies of real clusters: see leasefaults.RunStore.
//
//	storetest.go   Client, what a store gives; Run
//	command.go     the command snow on a store, with the page
//	space.go       a namespace, its rows and its leases
//	acquire.go     clauses: namespaces, and how leases begin
//	end.go         clauses: how leases are lost and end; Fence and Reserve
//	outage.go      clauses: leases without their store
//	late.go        clauses: what others do between two statements of a lease; ids that are borrowed; names
//	random.go      clause 61: random histories
package storetest
