// Package dialect has what differs between the databases in a merge, beyond placeholders, names and errors, which
// sqldialect has: how sessions begin, how columns are read, of what types the ledger's columns are, and what tables
// of several databases are called in a session.
package dialect
