package ledger

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/dialect"
)

// The ledger is these tables in the target. What a transaction writes to the
// plan's tables and what the ledger says of it are committed together.
//
//	snow_merge_lease          one row: which process may write, its fencing token, and a random name of the target
//	snow_merge_runs           a row for each plan that was run
//	snow_merge_source_tables  a row for each run, source and table, with a number that tables below refer to, and its
//	                          new ids: a layout, "dense", or "offset" and the offset; and the first and last number, of
//	                          the sequence of a worker or of the ids themselves
//	snow_merge_map            the rows with a Role key whose id changed. kind 0: new_id is the row's own; 1: it was
//	                          merged, and new_id belongs to the row which stays; 2: it was dropped, and new_id is NULL
//	snow_merge_packs          in place of such rows of kind 0, for a large table in MySQL: a chunk's in two lists, see
//	                          [IsPackable]
//	snow_merge_chunks         for each phase the chunks of rows that are done. Phase mint makes the chunks
//	snow_merge_changes        values that were changed to avoid a clash, rows that were dropped and why, rows of tables
//	                          without a Role key that were merged, and what rows of the target get of rows that were
//	                          merged into them
//	snow_merge_earlier        the source tables of the merges that made sources of the runs. Their parts of the sources'
//	                          ledgers are copied: rows of snow_merge_map, snow_merge_packs and snow_merge_changes with
//	                          numbers that no source table has
//	snow_merge_after          the plan's statements for the target that have begun or are done; under 0 the report of
//	                          verification
//
// snow_merge_runs is made last: where it is, the others are.
const ledgerTables = `
CREATE TABLE IF NOT EXISTS snow_merge_lease (
	id INT NOT NULL PRIMARY KEY, run {code} NOT NULL, fence BIGINT NOT NULL, holder {name} NOT NULL, until_us BIGINT NOT NULL,
	target {code} NOT NULL
) {end};
CREATE TABLE IF NOT EXISTS snow_merge_source_tables (
	source_table INT NOT NULL PRIMARY KEY, run {code} NOT NULL, source {name} NOT NULL, tbl {name} NOT NULL,
	ids {code}, datacenter BIGINT, worker BIGINT, first_number BIGINT, end_number BIGINT
) {end};
CREATE TABLE IF NOT EXISTS snow_merge_map (
	source_table INT NOT NULL, old_id BIGINT NOT NULL, new_id BIGINT, kind SMALLINT NOT NULL, PRIMARY KEY (source_table, old_id)
) {clustered};
CREATE TABLE IF NOT EXISTS snow_merge_packs (
	source_table INT NOT NULL, seq BIGINT NOT NULL, last_old BIGINT NOT NULL, size BIGINT NOT NULL, old_ids {list} NOT NULL, new_ids {list} NOT NULL,
	PRIMARY KEY (source_table, seq), UNIQUE (source_table, last_old)
) {end};
CREATE TABLE IF NOT EXISTS snow_merge_chunks (
	source_table INT NOT NULL, phase {code} NOT NULL, seq BIGINT NOT NULL, lo {text}, hi {text} NOT NULL,
	rows_read BIGINT NOT NULL, rows_written BIGINT NOT NULL, rekeyed BIGINT NOT NULL, merged BIGINT NOT NULL, dropped BIGINT NOT NULL,
	hash CHAR(32) NOT NULL, place BIGINT NOT NULL, displaced_us BIGINT NOT NULL, done_us BIGINT NOT NULL,
	PRIMARY KEY (source_table, phase, seq)
) {clustered};
CREATE TABLE IF NOT EXISTS snow_merge_changes (
	source_table INT NOT NULL, row_key {code} NOT NULL, col {code} NOT NULL, kind {code} NOT NULL, seq BIGINT NOT NULL,
	before_value {text}, after_value {text}, PRIMARY KEY (source_table, row_key, col)
) {end};
CREATE TABLE IF NOT EXISTS snow_merge_earlier (
	source_table INT NOT NULL PRIMARY KEY, run {code} NOT NULL, path {text} NOT NULL, tbl {name} NOT NULL, next_table INT NOT NULL, from_table INT NOT NULL,
	ids {code} NOT NULL
) {end};
CREATE TABLE IF NOT EXISTS snow_merge_after (
	run {code} NOT NULL, n INT NOT NULL, statement {text} NOT NULL, state {code} NOT NULL, changed_rows BIGINT NOT NULL, done_us BIGINT NOT NULL,
	PRIMARY KEY (run, n)
) {end};
CREATE TABLE IF NOT EXISTS snow_merge_runs (
	run {code} NOT NULL PRIMARY KEY, plan {text} NOT NULL, config {text} NOT NULL, state {code} NOT NULL, phase {code} NOT NULL,
	started_us BIGINT NOT NULL, ended_us BIGINT NOT NULL
) {end}`

// The kinds of rows in snow_merge_changes. One about a row as a whole has an empty col, and the row's key as
// before_value. Its after_value is the key of the winner of a row that was merged, or why a row was dropped.
const (
	ChangeRenamed = "renamed"
	ChangeSet     = "set" // another value of a row that was renamed
	ChangeMerged  = "merged"
	// merged into a row that the target had before, whose key is after_value, and which gets values of it
	ChangeIntoTarget = "into target"
	ChangeDropped    = "dropped"

	// ChangeCombined is a value that a row of the target gets, under the first of the source tables whose rows are
	// merged into it. Its row_key is what TargetRow returns.
	ChangeCombined = "combined"
)

// The phases, in their order. Choose and verify have no chunks.
const (
	PhaseChoose = "choose" // where the plan has conditions on rows
	PhaseMint   = "mint"
	PhaseCopy   = "copy"
	PhaseLink   = "link"
	PhaseVerify = "verify"
)

// Deciding reports whether a run in a phase has copied nothing yet.
func Deciding(phase string) bool { return phase == PhaseChoose || phase == PhaseMint }

// The states of a run.
const (
	StateRunning = "running"
	StateCopied  = "copied" // all of its rows are there, whether or not they were verified
)

// errLedger says that somebody else has written to the ledger.
var errLedger = errors.New("the ledger in the target is damaged")

// A Ledger reads and writes the ledger by one session or pool. What writes must
// be called in a transaction of the lease, but for Make.
type Ledger struct {
	Engine *dialect.Dialect
	Q      chunk.Queryer
}

// Of returns the ledger that a session of the target has.
func Of(s *chunk.Session) Ledger { return Ledger{s.Engine, s} }

// Make creates the tables that do not exist.
func (l Ledger) Make(ctx context.Context) error {
	statements := strings.Split(l.Engine.SQL(ledgerTables), ";")
	statements = append(statements, `INSERT INTO snow_merge_lease (id, run, fence, holder, until_us, target)
		SELECT 1, '', 0, '', 0, '`+rand.Text()+`' FROM (SELECT COUNT(*) AS n FROM snow_merge_lease) AS found WHERE n = 0`)
	for _, text := range statements {
		_, err := l.Q.ExecContext(ctx, text)
		if err != nil && ctx.Err() == nil { // another process may do the same at the same time
			_, err = l.Q.ExecContext(ctx, text)
		}
		if err != nil {
			return l.Engine.Failed("make the ledger", err)
		}
	}
	return nil
}

// IndexMap makes it fast to find the old id of a new one, which a run needs where
// unique keys refer to rows that may be merged. Without it, the map is filled in
// half the time.
func (l Ledger) IndexMap(ctx context.Context) error {
	_, err := l.Q.ExecContext(ctx, "CREATE INDEX "+l.Engine.IfMissing+" snow_merge_map_new_id ON snow_merge_map (source_table, new_id)")
	if sqldialect.Code(err) == "1061" { // MySQL, where it is there
		return nil
	}
	return l.Engine.Failed("index the map", err)
}

// Query calls scan for each row of a query, which [dialect.Dialect.SQL] writes. An
// error of scan is returned as it is.
func (l Ledger) Query(ctx context.Context, text string, args []any, scan func(*sql.Rows) error) error {
	var ours error
	err := chunk.Visit(ctx, l.Q, l.Engine.SQL(text), args, func(rows *sql.Rows) error {
		ours = scan(rows)
		return ours
	})
	if ours != nil {
		return ours
	}
	return l.Engine.Failed("read the ledger", err)
}

// insert writes rows into a table with named columns. Each row ends with last, which is SQL.
func (l Ledger) insert(ctx context.Context, into string, rows [][]any, last string) error {
	for part := range slices.Chunk(rows, 64) {
		values := strings.ReplaceAll(l.Engine.PlaceholderRows(len(part), len(part[0])), ")", last+")")
		if _, err := l.Q.ExecContext(ctx, "INSERT INTO "+into+" VALUES "+values, slices.Concat(part...)...); err != nil {
			return err
		}
	}
	return nil
}
