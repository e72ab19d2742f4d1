package merge

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"strings"
)

// The ledger is these tables in the target. What a transaction writes to the
// plan's tables and what the ledger says of it are committed together.
//
//	snow_merge_lease    one row: which process may write, the fence that tells it from those before, and a random name of the target
//	snow_merge_runs     a row for each plan that was run
//	snow_merge_scopes   a row for each run, source and table: the numbers that the others go by
//	snow_merge_map      the rows with a Role key whose id changed: minted, merged into another row or dropped
//	snow_merge_packs    in place of such rows, where a MySQL server mints for a large table that nothing refers to: the ids of a range in two lists
//	snow_merge_batches  for each phase the ranges of rows that are done. The ranges are those of phase mint
//	snow_merge_changes  values that were changed to avoid a clash, and rows of tables without a Role key that were left out
const ledgerTables = `
CREATE TABLE IF NOT EXISTS snow_merge_lease (
	id INT NOT NULL PRIMARY KEY, run {code} NOT NULL, fence BIGINT NOT NULL, holder {name} NOT NULL, until_us BIGINT NOT NULL,
	target {code} NOT NULL
) {end};
CREATE TABLE IF NOT EXISTS snow_merge_runs (
	run {code} NOT NULL PRIMARY KEY, plan {text} NOT NULL, config {text} NOT NULL, state {code} NOT NULL, phase {code} NOT NULL,
	started_us BIGINT NOT NULL, ended_us BIGINT NOT NULL
) {end};
CREATE TABLE IF NOT EXISTS snow_merge_scopes (
	scope INT NOT NULL PRIMARY KEY, run {code} NOT NULL, source {name} NOT NULL, tbl {name} NOT NULL,
	layout {code}, datacenter BIGINT, worker BIGINT, first_sequence BIGINT, end_sequence BIGINT
) {end};
CREATE TABLE IF NOT EXISTS snow_merge_map (
	scope INT NOT NULL, old_id BIGINT NOT NULL, new_id BIGINT, kind SMALLINT NOT NULL, PRIMARY KEY (scope, old_id)
) {clustered};
CREATE TABLE IF NOT EXISTS snow_merge_packs (
	scope INT NOT NULL, seq BIGINT NOT NULL, last_old BIGINT NOT NULL, size BIGINT NOT NULL, old_ids {list} NOT NULL, new_ids {list} NOT NULL,
	begins BIGINT NOT NULL, PRIMARY KEY (scope, seq), UNIQUE (scope, last_old)
) {end};
CREATE TABLE IF NOT EXISTS snow_merge_batches (
	scope INT NOT NULL, phase {code} NOT NULL, seq BIGINT NOT NULL, lo {text}, hi {text} NOT NULL,
	rows_read BIGINT NOT NULL, rows_written BIGINT NOT NULL, minted BIGINT NOT NULL, merged BIGINT NOT NULL, dropped BIGINT NOT NULL,
	hash CHAR(32) NOT NULL, tick BIGINT NOT NULL, sequence BIGINT NOT NULL, displaced_us BIGINT NOT NULL, done_us BIGINT NOT NULL,
	PRIMARY KEY (scope, phase, seq)
) {clustered};
CREATE TABLE IF NOT EXISTS snow_merge_changes (
	scope INT NOT NULL, row_key {code} NOT NULL, col {code} NOT NULL, kind {code} NOT NULL, seq BIGINT NOT NULL,
	before_value {text}, after_value {text}, PRIMARY KEY (scope, row_key, col)
) {end}`

// The kinds of rows in snow_merge_map.
const (
	kindMinted  = 0 // new_id is the row's own
	kindMerged  = 1 // new_id is that of the row which stays, and this one is not copied
	kindDropped = 2 // new_id is NULL, and the row is not copied
)

// The kinds of rows in snow_merge_changes. A row that was left out has an empty
// col; one that was merged has its winner's key as after_value.
const (
	changeRenamed = "renamed"
	changeMerged  = "merged"
	changeDropped = "dropped"
)

// The phases, in their order. Verify has no batches.
const (
	phaseMint   = "mint"
	phaseCopy   = "copy"
	phaseLink   = "link"
	phaseVerify = "verify"
)

// The states of a run.
const (
	stateRunning = "running"
	stateCopied  = "copied" // all of its rows are there; the proof is another matter
)

// makeLedger creates the tables that do not exist.
func (e *engine) makeLedger(ctx context.Context, q queryer) error {
	statements := strings.Split(e.sql(ledgerTables), ";")
	statements = append(statements, `INSERT INTO snow_merge_lease (id, run, fence, holder, until_us, target)
		SELECT 1, '', 0, '', 0, '`+rand.Text()+`' FROM (SELECT COUNT(*) AS n FROM snow_merge_lease) AS found WHERE n = 0`)
	for _, text := range statements {
		_, err := q.ExecContext(ctx, text)
		if err != nil && ctx.Err() == nil { // another process may do the same at the same time
			_, err = q.ExecContext(ctx, text)
		}
		if err != nil {
			return e.failed("make the ledger", err)
		}
	}
	return nil
}

// A batch is a row of snow_merge_batches: what a phase did with a range of rows.
type batch struct {
	scope    int64
	phase    string
	seq      int64 // from 1 on
	lo       []any // the primary key that the range begins after; nil for the start
	hi       []any // its last primary key
	read     int64 // rows of the source
	written  int64 // rows of the target
	minted   int64
	merged   int64 // rows that are others' in the target
	dropped  int64
	hash     sum   // phase copy: of the source's rows
	tick     int64 // phase mint: of the last id
	sequence int64 // the same
	late     int64 // phase mint: how far ids are ahead of their rows' dates at most, in microseconds
}

const batchColumns = "scope, phase, seq, lo, hi, rows_read, rows_written, minted, merged, dropped, hash, tick, sequence, displaced_us"

func (e *engine) insertBatches(ctx context.Context, q queryer, batches []batch) error {
	const width = 14
	for len(batches) > 0 {
		n := min(len(batches), 64)
		var rows []string
		var args []any
		for i, b := range batches[:n] {
			var lo any
			if b.lo != nil {
				lo = keyText(b.lo)
			}
			args = append(args, b.scope, b.phase, b.seq, lo, keyText(b.hi), b.read, b.written, b.minted, b.merged, b.dropped,
				b.hash.String(), b.tick, b.sequence, b.late)
			places := e.places(1+i*width, width)
			rows = append(rows, places[:len(places)-1]+", "+e.now+")")
		}
		text := "INSERT INTO snow_merge_batches (" + batchColumns + ", done_us) VALUES " + strings.Join(rows, ", ")
		if _, err := q.ExecContext(ctx, text, args...); err != nil {
			return err
		}
		batches = batches[n:]
	}
	return nil
}

func scanBatch(rows *sql.Rows) (b batch, err error) {
	var lo sql.NullString
	var hi, hash string
	err = rows.Scan(&b.scope, &b.phase, &b.seq, &lo, &hi, &b.read, &b.written, &b.minted, &b.merged, &b.dropped, &hash, &b.tick, &b.sequence, &b.late)
	if err != nil {
		return b, err
	}
	if lo.Valid {
		if b.lo, err = parseKey(lo.String); err != nil {
			return b, err
		}
	}
	if b.hi, err = parseKey(hi); err != nil {
		return b, err
	}
	b.hash, err = parseSum(hash)
	return b, err
}

// batches returns at most limit batches of a phase with numbers above after.
func (e *engine) batches(ctx context.Context, q queryer, scope int64, phase string, after int64, limit int) ([]batch, error) {
	return e.queryBatches(ctx, q, "SELECT "+batchColumns+" FROM snow_merge_batches WHERE scope = ? AND phase = ? AND seq > ? ORDER BY seq LIMIT ?",
		scope, phase, after, limit)
}

// pending returns at most limit ranges of phase mint, with numbers above after,
// that a later phase has not done yet.
func (e *engine) pending(ctx context.Context, q queryer, scope int64, phase string, after int64, limit int) ([]batch, error) {
	return e.queryBatches(ctx, q, "SELECT "+batchColumns+` FROM snow_merge_batches AS ranges WHERE scope = ? AND phase = 'mint' AND seq > ?
		AND NOT EXISTS (SELECT 1 FROM snow_merge_batches AS done WHERE done.scope = ranges.scope AND done.phase = ? AND done.seq = ranges.seq)
		ORDER BY seq LIMIT ?`, scope, after, phase, limit)
}

// lastBatch returns the last range of phase mint.
func (e *engine) lastBatch(ctx context.Context, q queryer, scope int64) (batch, bool, error) {
	all, err := e.queryBatches(ctx, q, "SELECT "+batchColumns+" FROM snow_merge_batches WHERE scope = ? AND phase = 'mint' ORDER BY seq DESC LIMIT 1", scope)
	if err != nil || len(all) == 0 {
		return batch{}, false, err
	}
	return all[0], true, nil
}

func (e *engine) queryBatches(ctx context.Context, q queryer, text string, args ...any) ([]batch, error) {
	rows, err := q.QueryContext(ctx, e.sql(text), args...)
	if err != nil {
		return nil, e.failed("read the ledger", err)
	}
	defer rows.Close()
	var all []batch
	for rows.Next() {
		b, err := scanBatch(rows)
		if err != nil {
			return nil, errors.Join(e.failed("read the ledger", err), rows.Close())
		}
		all = append(all, b)
	}
	return all, e.failed("read the ledger", rows.Err())
}
