// Package leasefaults tests worker leases against what happens to real processes and real servers: it stops, kills and
// restarts them, cuts and holds their connections, steps their clocks and undoes what a database has committed, while the
// leases make ids at the rate of their layout. [Run] is the suite; a package with a driver calls it.
//
// A worker process is the test binary again. It appends every id to a file, one for each lease, and at the end of a scenario
// all the files are merged. What must hold:
//
//  1. No id was issued twice.
//  2. No two leases issued ids of one worker number in one tick, even if the ids differ.
//  3. The ids of a lease ascend, whatever numbers it went through.
//  4. Ids were issued: every lease that a scenario counts on has made some, after the fault too.
//
// The second is the stricter test: a tick belongs to one window. The layout has four ids in a tick and the load takes all of
// them, so an overlap of two windows shows as a duplicate in nearly every tick of it.
//
// A process that is killed may lose ids that it has not written yet. Nobody has seen those.
package leasefaults
