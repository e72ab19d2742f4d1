// Package storetest is the contract of sqlsnow/sqlsnowtest for stores of keys with versions, such as etcd and ZooKeeper.
// [Run] checks its clauses, which keep their numbers. It leaves out what such stores don't have: tables and migrations,
// dialects, sessions and transactions that are left open, and namespaces with a LossWindow.
// [Command] is the command snow on a store.
//
//	storetest.go   Client, what a store gives; Run
//	command.go     the command snow on a store, with the page
//	space.go       a namespace, its rows and its leases
//	acquire.go     clauses: namespaces, and how leases begin
//	end.go         clauses: how leases are lost and end; Fence and Reserve
package storetest
