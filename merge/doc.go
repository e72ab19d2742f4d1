// Package merge brings the tables of several databases into one, and gives
// rows whose keys would clash new ids, with every reference to them rewritten.
// It merges game servers, and moves tables from keys that a database counts up
// to those of package snow. What to do when, and when it goes wrong, is in
// docs/merge.md; examples/merge-servers is a program around it.
//
//	p, err := merge.Inspect(ctx, sqlsnow.MySQL, sources...) // proposes; writes nothing
//	err = p.WriteYAML(file)                                 // for people to review and edit
//	p, err = plan.Read(file)
//	err = p.Check()                                         // is everything decided?
//	statements, err := p.Schema()                           // make the target's tables
//	m, err := merge.New(sqlsnow.MySQL, target, sources, p, merge.Config{Namespace: "game"})
//	forecast, err := m.DryRun(ctx)                             // writes nothing
//	report, err := m.Run(ctx)                                  // mint, copy, link, verify
//	id, err := merge.Lookup(ctx, sqlsnow.MySQL, target, "eu", "players", 1234)
//
// # The plan
//
// A [github.com/shardsnow/snow/merge/plan.Plan] gives each column a [github.com/shardsnow/snow/merge/plan.Role], and each unique key a [github.com/shardsnow/snow/merge/plan.Rule] for rows of
// several sources that clash in it. [Inspect] makes it of the schemas and of
// samples of the rows. What it can't be sure of is a suspect, and a suspect
// that nobody has decided on is an error that names table and column.
//
// # The run
//
// Run goes through the sources' tables three times. Phase mint decides what
// becomes of each row: a new id, another row that stands for it, a new name.
// Phase copy writes the rows, tables before those that refer to them, with the
// target's foreign keys on; where they go round in a circle, references are
// NULL until phase link. Then everything is verified.
//
// What was decided and done is in a ledger of tables snow_merge_… in the target.
// A transaction that copies rows writes what the ledger says of them too, so
// a run that is killed at any statement goes on behind the last transaction,
// and copies nothing twice. A lease refuses a second run at the same time, and
// a fence in every transaction one that was taken for dead.
//
// Where a source is on the MySQL or MariaDB server of the target, and its
// account may read it, that server mints, copies and compares the rows of
// tables with plain values and integer references itself.
//
// # Ids
//
// A row keeps its id if its source is not among Mint of its
// [github.com/shardsnow/snow/merge/plan.Table], which is right for rows with ids
// of package snow: they can't clash. The others get an id whose time is that of
// the column Created and whose order is that of the old ids, on a worker number
// that [sqlsnow.Reserve] took out of the namespace for the source. So no
// generator will ever make it.
//
// # Limits
//
// Sources and target are of one product, and nobody else writes to them: a
// source that changes is detected, but not waited for. Only keys of one integer
// column get new ids. Ids in free text, in binary and in the names of JSON's
// members are copied as they are.
package merge
