// Package numbertest checks package numbers on a real database. It imports no driver: the tests that call it do.
package numbertest
