// Package contractdb makes the databases for the contracts of package sqlsnowtest. The contracts of leases and of
// segments run on the same ones. It imports no driver: the tests that run a contract do.
package contractdb
