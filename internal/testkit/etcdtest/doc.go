// Package etcdtest has private etcd clusters for tests, and tests of etcdsnow on them. A member is the test binary itself,
// started again, so a test may kill it and stop it. Members reach each other through proxies that know who speaks, so a
// test may cut one off from the others while clients still reach it.
//
//	member.go    a member: its process
//	cluster.go   Start, and what a test does to members
//	network.go   the network between the members
//	open.go      leases of the worker processes of leasefaults
package etcdtest
