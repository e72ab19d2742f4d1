// Package zkserver starts real ZooKeeper servers for tests. They are private: a test may kill, stop, continue and
// restart each member of an ensemble, also with a wrong clock, and put back an older state of its data.
//
// The members run from the jars of Debian's package libzookeeper-java, with a data directory and ports of their own on
// the loopback interface. They sync their logs at every commit, as in production. They end with their test, or with the
// test process, even if it is killed.
//
// Without the jars or Java the test is skipped, or fails with SNOW_REQUIRE_DB=1. With -short it is skipped.
//
//	ensemble.go   Start, and what concerns all members: addresses, the leader, putting back a copy of the data
//	member.go     a member: its process, its clock, what it says about itself
//	jars.go       where Java and the jars are
//
// The package imports only the standard library: it asks a server for its state by ZooKeeper's four letter words. It
// works on Linux.
package zkserver
