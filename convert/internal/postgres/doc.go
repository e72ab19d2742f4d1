// Package postgres has the steps of a conversion on PostgreSQL.
//
// A table of the method Online gets a second column of type bigint for each column that becomes wider, and a trigger
// that keeps the two equal. The copy fills the second columns in chunks. Indexes, checks and foreign keys get copies
// on the second columns, built while programs write. A check of the server proves that the two columns are equal in
// all rows. Then one transaction exchanges the names of the columns, for all tables that foreign keys connect. From
// there on a trigger keeps the old columns equal, as long as values fit. So the exchange can be taken back in the
// same way.
//
// This takes about ten times as long as ALTER TABLE: PostgreSQL writes a second version of each row, locks it for the
// trigger, and adds it to each index. A shadow table would be quicker to fill. But views, rights, policies, sequences,
// publications and foreign keys of other tables stay with the table, so all of them would have to move.
//
// A table of the method Alter changes with ALTER TABLE, which blocks its readers and writers meanwhile.
//
// No statement waits for a lock longer than briefly's timeout. So nothing queues behind a step that waits for a long
// transaction: the step gives up, and tries again.
//
//	steps.go       the list of steps
//	check.go       what a method cannot do, found before anything is written
//	columns.go     second columns and their trigger, trigger.go
//	copy.go        the copy of old rows, in chunks
//	equal.go       the check that two columns are equal in all rows
//	index.go       copies of indexes and checks; build.go builds indexes beside writers
//	foreign.go     copies of foreign keys
//	swap.go        the exchange of names; rename.go, dependents.go, view.go and sequence.go have its parts
//	alter.go       ALTER TABLE
//	count.go       identities and sequences
//	finish.go      the end: nothing is counted any more
//	table.go       tables and columns as they are now; names.go, lock.go, query.go, errors.go
package postgres
