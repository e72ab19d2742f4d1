// Package contractdb makes the databases that the contracts of package sqlsnowtest are run on: those of leases and
// those of segments have the same. It imports no driver: the tests that run a contract do.
package contractdb
