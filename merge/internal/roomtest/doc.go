// Package roomtest has small databases for the tests of merge's rooms: a run's job without package merge, which imports
// the rooms.
package roomtest
