// Package leasefaults tests worker leases with real processes and real servers: it stops, kills and restarts them,
// cuts and holds their connections, steps their clocks and undoes commits of a database, while the leases make ids
// at the rate of their layout. [Run] is the suite; a package with a driver calls it, and
// [RunStore] for a store of keys with versions.
//
// A worker process is the test binary itself, started again. It appends every id to a file, one for each lease. At
// the end of a scenario the files are merged, and these must hold:
//
//  1. No id was issued twice.
//  2. No two leases issued ids of one worker number in one tick, even if the ids differ.
//  3. The ids of a lease ascend, whatever numbers it went through.
//  4. Ids were issued: every lease that a scenario needs has made some, also after the fault.
//
// The second is stricter than the first: a tick belongs to one window. The layout has four ids in a tick and the
// load uses all of them, so two windows that overlap produce a duplicate in nearly every tick of the overlap.
//
// A process that is killed may lose ids that it has not written yet. Nobody has seen those.
//
//	run.go                                          Run, and the world of a scenario
//	clocks.go failovers.go outages.go               the scenarios of leases
//	pauses.go pins.go pods.go storms.go
//	stores.go store_faults.go                       RunStore, and the scenarios of stores such as ZooKeeper
//	segments.go                                     RunSegments, and its scenarios
//	fleet.go                                        processes, proxies and the ledger for stores that are no databases
//	proxy.go ledger.go                              a network with faults; the check of all ids
//	process.go report.go                            a worker process as its parent sees it
//	worker.go load.go                               the worker process itself, and the ids that it makes
//	shifted.go wall.go wall_shifted.go              the same with a wrong clock
package leasefaults
