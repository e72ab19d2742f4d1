// Package merge brings the tables of several databases into one. Rows whose keys would clash get new ids, and every
// reference to them is rewritten. It merges game servers, and moves tables from keys that a database numbers to ids of
// package snow. docs/merge.md says what to do, and what to do when something goes wrong; the commands of snow merge
// are around this package.
//
//	p, err := merge.Inspect(ctx, sqlsnow.MySQL, sources...) // proposes a plan; writes nothing
//	schema, err := merge.ReadSchema(ctx, sqlsnow.MySQL, sources...)
//	decisions, err := plan.Shorten(p, schema)               // the short form
//	err = decisions.WriteYAML(file)                         // for people to review and edit
//	decisions, err = plan.ReadDecisions(file)
//	p, err = decisions.Complete(schema)
//	err = p.Check()                                         // is everything decided?
//	statements, err := p.Schema()                           // make the target's tables
//	m, err := merge.New(sqlsnow.MySQL, target, sources, p, merge.Config{Namespace: "game"})
//	forecast, err := m.DryRun(ctx)                          // writes nothing
//	result, err := m.Run(ctx)                               // makes new ids, copies, links, verifies
//	id, err := merge.Lookup(ctx, sqlsnow.MySQL, target, "eu", "players", 1234)
//
// # The plan
//
// A [github.com/shardsnow/snow/merge/plan.Plan] gives each column a role, and each unique key a rule for rows that
// clash in it. Where sources have several databases, the name of a table begins with its database's, see [Source].
// [Inspect] makes a plan from the schemas and from samples of the rows. Where it is not sure, it asks a question
// about all columns of one meaning, or adds a suspect to one column. What people have not decided on is an error
// that names it. People see and edit [github.com/shardsnow/snow/merge/plan.Decisions]. Together with the schemas of
// the sources they give the plan.
//
// # The run
//
// A run goes through the tables of the sources in phases. Where the plan has conditions on rows, phase choose
// writes down which rows they leave out. Phase mint decides what becomes of each row: it gets a new id (that is
// minting), is merged into another row, is renamed, is left out, or stays as it is. Phase copy writes the rows,
// parents before their children, while the target checks its foreign keys. Where foreign keys form a circle,
// references are NULL until phase link. Phase verify then compares everything; where references lead is also
// compared by a witness that shares nothing with what has copied them.
//
// The ledger records what was decided and done, in tables snow_merge_… of the target. The transaction that copies rows
// also writes the ledger. So a run that is killed at any statement continues after its last transaction, and copies
// nothing twice. A lease refuses a second run at the same time. Each transaction checks a fencing token, so that a run
// that has lost its lease writes nothing.
//
// # Ids
//
// A row keeps its id unless its source is in NewIDs of its [github.com/shardsnow/snow/merge/plan.Table]. That is
// right for rows with ids of package snow, which can't clash. Other rows get new ids in the order of the old ones,
// each with the time in the column Created of its row. [sqlsnow.Reserve] takes a worker number out of the namespace
// for the source, so no generator ever makes the same id.
//
// A source may be the target of an earlier merge. Its ledger is then copied into the target's when all rows are
// copied, and compared in phase verify: [Lookup] and [Export] go through the merges one by one, from the oldest ids
// to the target's.
//
// A plan may say that new ids are numbers instead, see [github.com/shardsnow/snow/merge/plan.IDs]: the old id and
// an offset of its source, or the next numbers that are free. Columns then keep their types, and the target numbers
// rows as the sources did, above the highest. The transaction that looks for the highest id writes the numbers of each
// source of a table to the ledger. No two sources of a table share a number.
//
// # Limits
//
// Sources and target are of one product, the databases of each are on one server, and nobody else writes to them: a
// run detects that a source has changed, but does not wait for it. Where somebody inserts rows into the target with
// numbers that are to be new ids, the target refuses the source's rows, and the run ends. Only keys of one
// integer column get new ids: a primary key, or a unique key beside it. In a table without a primary key, each
// chunk reads the whole table. Ids inside of other values are copied as they are, unless the plan says how they are
// packed: see [github.com/shardsnow/snow/merge/plan.RolePacked] and [Codec]. So are names of renamed rows in other
// columns, unless the plan says whose names these are: see [github.com/shardsnow/snow/merge/plan.RoleName].
//
// # Inside
//
//	merge                 New, Run, DryRun, Verify, Lookup, Export, Inspect: checks arguments, connects what is below
//	  internal/steps      a run: choose, mint, copy and link, a file each; rows are read, rewritten and inserted here
//	  internal/dryrun     what a run would do, and what would stop it
//	  internal/verify     compares the target with the sources, the plan and the ledger
//	  internal/preflight  what must be so before a run writes
//	  internal/earlier    ledgers of sources that were made by merges
//	  internal/numbers    new ids that are numbers
//	  internal/settle     which rows go, what rows become that others are merged into, and whether values fit
//	  internal/work       the job, the loop over rows and chunks, and what people are told
//	  internal/witness    compares where references lead, without the map of ids
//	  internal/rekey      new ids, references, rows that clash
//	  internal/ledger     runs, chunks, the map from old to new ids, the fenced lease
//	  internal/chunk      sessions; reads, writes and hashes rows
//	  internal/dialect    what differs between the databases
//	  internal/packed     finds ids inside of other values
//	  internal/inspect    proposes a plan
//	  internal/catalog    what a database has
//	  report              events, forecasts, reports, errors
//	  plan                what becomes of each table and column; asks no database
//
// Arrows point downward: a package imports only those below it.
package merge
