package ledger

import (
	"context"
	"database/sql"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
)

// A Chunk is a row of snow_merge_chunks: what a phase did with rows of a source
// table that follow on each other.
type Chunk struct {
	SourceTable int64
	Phase       string
	Seq         int64 // from 1 on
	Lo          []any // the primary key that it begins after; nil for the start
	Hi          []any // its last primary key
	Counts
	Hash  chunk.Sum // phase copy: of the source's rows; zero where a server has copied them itself
	Place int64     // phase mint: of the last new id, or not before it
	Late  int64     // phase mint: how far ids are ahead of their rows' dates at most, in microseconds
}

// Counts are how many rows of a source there are, and what became of them.
type Counts struct {
	Read    int64
	Written int64 // to the target
	Rekeyed int64 // they have a new id
	Merged  int64 // others stand for them
	Dropped int64
}

// Add adds the counts of other rows.
func (c *Counts) Add(o Counts) {
	c.Read += o.Read
	c.Written += o.Written
	c.Rekeyed += o.Rekeyed
	c.Merged += o.Merged
	c.Dropped += o.Dropped
}

// Take counts what became of a row.
func (c *Counts) Take(f Fate) {
	switch f {
	case Rekeyed:
		c.Rekeyed++
	case Merged:
		c.Merged++
	case Dropped:
		c.Dropped++
	}
}

// In returns the same chunk for another phase, where only Read is known.
func (c Chunk) In(phase string) Chunk {
	return Chunk{SourceTable: c.SourceTable, Phase: phase, Seq: c.Seq, Lo: c.Lo, Hi: c.Hi, Counts: Counts{Read: c.Read}}
}

const chunkColumns = "source_table, phase, seq, lo, hi, rows_read, rows_written, rekeyed, merged, dropped, hash, place, displaced_us"

// InsertChunks writes chunks that a phase has done.
func (l Ledger) InsertChunks(ctx context.Context, chunks []Chunk) error {
	rows := make([][]any, len(chunks))
	for i, c := range chunks {
		var lo any
		if c.Lo != nil {
			lo = sqlvalue.FormatKey(c.Lo)
		}
		rows[i] = []any{c.SourceTable, c.Phase, c.Seq, lo, sqlvalue.FormatKey(c.Hi), c.Read, c.Written, c.Rekeyed, c.Merged, c.Dropped, c.Hash.String(), c.Place, c.Late}
	}
	return l.insert(ctx, "snow_merge_chunks ("+chunkColumns+", done_us)", rows, ", "+l.Engine.Now)
}

// Chunks returns at most limit chunks of a phase with numbers above after.
func (l Ledger) Chunks(ctx context.Context, t *SourceTable, phase string, after int64, limit int) ([]Chunk, error) {
	return l.readChunks(ctx, "SELECT "+chunkColumns+" FROM snow_merge_chunks WHERE source_table = ? AND phase = ? AND seq > ? ORDER BY seq LIMIT ?",
		t.ID, phase, after, limit)
}

// Pending returns at most limit chunks of phase mint, with numbers above after,
// that a later phase has not done yet.
func (l Ledger) Pending(ctx context.Context, t *SourceTable, phase string, after int64, limit int) ([]Chunk, error) {
	return l.readChunks(ctx, "SELECT "+chunkColumns+` FROM snow_merge_chunks AS chunks WHERE source_table = ? AND phase = 'mint' AND seq > ?
		AND NOT EXISTS (SELECT 1 FROM snow_merge_chunks AS done WHERE done.source_table = chunks.source_table AND done.phase = ? AND done.seq = chunks.seq)
		ORDER BY seq LIMIT ?`, t.ID, after, phase, limit)
}

// LastChunk returns the last chunk of phase mint, or one with number 0.
func (l Ledger) LastChunk(ctx context.Context, t *SourceTable) (Chunk, error) {
	all, err := l.readChunks(ctx, "SELECT "+chunkColumns+" FROM snow_merge_chunks WHERE source_table = ? AND phase = 'mint' ORDER BY seq DESC LIMIT 1", t.ID)
	if err != nil || len(all) == 0 {
		return Chunk{}, err
	}
	return all[0], nil
}

// Done sums up what a phase has done with a source table: how many rows it has
// read, and how far ids are ahead of their rows at most.
func (l Ledger) Done(ctx context.Context, t *SourceTable, phase string) (c Chunk, err error) {
	err = l.Q.QueryRowContext(ctx, l.Engine.SQL(`SELECT COALESCE(SUM(rows_read), 0), COALESCE(MAX(displaced_us), 0)
		FROM snow_merge_chunks WHERE source_table = ? AND phase = ?`), t.ID, phase).Scan(&c.Read, &c.Late)
	return c, l.Engine.Failed("read the ledger", err)
}

func (l Ledger) readChunks(ctx context.Context, text string, args ...any) (all []Chunk, err error) {
	err = l.Query(ctx, text, args, func(rows *sql.Rows) error {
		var c Chunk
		var lo sql.NullString
		var hi, hash string
		err := rows.Scan(&c.SourceTable, &c.Phase, &c.Seq, &lo, &hi, &c.Read, &c.Written, &c.Rekeyed, &c.Merged, &c.Dropped, &hash, &c.Place, &c.Late)
		if err == nil && lo.Valid {
			c.Lo, err = sqlvalue.ParseKey(lo.String)
		}
		if err == nil {
			c.Hi, err = sqlvalue.ParseKey(hi)
		}
		if err == nil {
			c.Hash, err = chunk.ParseSum(hash)
		}
		all = append(all, c)
		return err
	})
	return all, err
}

// A Change is a row of snow_merge_changes.
type Change struct {
	Row           string // [sqlvalue.FormatRow] of its primary key
	Column        string // empty where it is the row as a whole
	Kind          string
	Seq           int64 // of the chunk in phase mint
	Before, After any   // string or nil
}

// Changes returns what was changed in rows of a source table.
func (l Ledger) Changes(ctx context.Context, t *SourceTable, rows []string) (all []Change, err error) {
	for part := range slices.Chunk(rows, chunk.MaxIn) {
		args := []any{t.ID}
		for _, row := range part {
			args = append(args, row)
		}
		if all, err = l.readChanges(ctx, all, "row_key IN (?"+strings.Repeat(", ?", len(part)-1)+")", args); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Renames returns the new names in a source table, in the order of the keys of their rows as texts.
func (l Ledger) Renames(ctx context.Context, t *SourceTable) ([]Change, error) {
	return l.readChanges(ctx, nil, "kind = '"+ChangeRenamed+"' ORDER BY row_key, col", []any{t.ID})
}

// HasChanges reports whether anything was changed in a source table, other than what the map says too.
func (l Ledger) HasChanges(ctx context.Context, t *SourceTable) (bool, error) {
	var n int
	but := ""
	if t.Mapped {
		but = " AND kind <> '" + ChangeDropped + "'"
	}
	err := l.Q.QueryRowContext(ctx, l.Engine.SQL("SELECT COUNT(*) FROM (SELECT 1 FROM snow_merge_changes WHERE source_table = ?"+but+" LIMIT 1) AS found"), t.ID).Scan(&n)
	return n > 0, l.Engine.Failed("read the ledger", err)
}

// EachDropped visits the rows of a source table that were dropped, in the order of their keys as texts.
func (l Ledger) EachDropped(ctx context.Context, t *SourceTable, visit func(Change) error) error {
	return l.visitChanges(ctx, "kind = '"+ChangeDropped+"' ORDER BY row_key", []any{t.ID}, visit)
}

// EachIntoTarget visits the rows of a source table that were merged into rows which the target had before.
func (l Ledger) EachIntoTarget(ctx context.Context, t *SourceTable, visit func(Change) error) error {
	return l.visitChanges(ctx, "kind = '"+ChangeIntoTarget+"' ORDER BY row_key", []any{t.ID}, visit)
}

// TargetRow returns the row_key for values that a row of the target gets, which is none of a row of a source.
func TargetRow(key []any) string { return sqlvalue.FormatRow(append([]any{"target"}, key...)) }

// ForgetChanges deletes the changes of a run.
func (l Ledger) ForgetChanges(ctx context.Context, run string) error {
	_, err := l.Q.ExecContext(ctx, l.Engine.SQL("DELETE FROM snow_merge_changes WHERE source_table IN (SELECT source_table FROM snow_merge_source_tables WHERE run = ?)"), run)
	return err
}

func (l Ledger) readChanges(ctx context.Context, all []Change, where string, args []any) ([]Change, error) {
	err := l.visitChanges(ctx, where, args, func(c Change) error {
		all = append(all, c)
		return nil
	})
	return all, err
}

func (l Ledger) visitChanges(ctx context.Context, where string, args []any, visit func(Change) error) error {
	text := "SELECT row_key, col, kind, seq, before_value, after_value FROM snow_merge_changes WHERE source_table = ? AND " + where
	return l.Query(ctx, text, args, func(rows *sql.Rows) error {
		var c Change
		var before, after sql.NullString
		err := rows.Scan(&c.Row, &c.Column, &c.Kind, &c.Seq, &before, &after)
		if before.Valid {
			c.Before = before.String
		}
		if after.Valid {
			c.After = after.String
		}
		if err != nil {
			return err
		}
		return visit(c)
	})
}

// InsertChanges writes what was changed in rows of a source table.
func (l Ledger) InsertChanges(ctx context.Context, t *SourceTable, changes []Change) error {
	rows := make([][]any, len(changes))
	for i, c := range changes {
		rows[i] = []any{t.ID, c.Row, c.Column, c.Kind, c.Seq, c.Before, c.After}
	}
	return l.insert(ctx, "snow_merge_changes (source_table, row_key, col, kind, seq, before_value, after_value)", rows, "")
}

// Reasons counts the rows of a source table that were dropped, by the reason.
func (l Ledger) Reasons(ctx context.Context, t *SourceTable) (map[string]int64, error) {
	return l.tally(ctx, t, "after_value", ChangeDropped)
}

// Renamed counts the new names in a source table, by their columns.
func (l Ledger) Renamed(ctx context.Context, t *SourceTable) (map[string]int64, error) {
	return l.tally(ctx, t, "col", ChangeRenamed)
}

func (l Ledger) tally(ctx context.Context, t *SourceTable, by, kind string) (map[string]int64, error) {
	counts := map[string]int64{}
	text := "SELECT " + by + ", COUNT(*) FROM snow_merge_changes WHERE source_table = ? AND kind = '" + kind + "' GROUP BY " + by
	err := l.Query(ctx, text, []any{t.ID}, func(rows *sql.Rows) error {
		var value sql.NullString
		var n int64
		err := rows.Scan(&value, &n)
		counts[value.String] += n
		return err
	})
	return counts, err
}

// SomeRenames returns the first new names in a column of a source table, in the order of the keys of their rows as
// texts.
func (l Ledger) SomeRenames(ctx context.Context, t *SourceTable, column string, limit int) ([]Change, error) {
	return l.readChanges(ctx, nil, "kind = '"+ChangeRenamed+"' AND col = ? ORDER BY row_key LIMIT "+strconv.Itoa(limit), []any{t.ID, column})
}

// A Moment is when a chunk of a phase was committed, by the target's clock.
type Moment struct {
	Phase string
	At    time.Time
	Rows  int64
}

// EachMoment visits the chunks of a run in the order of time.
func (l Ledger) EachMoment(ctx context.Context, run string, visit func(Moment)) error {
	return l.Query(ctx, `SELECT chunks.phase, chunks.done_us, chunks.rows_read FROM snow_merge_source_tables AS tables
		JOIN snow_merge_chunks AS chunks ON chunks.source_table = tables.source_table WHERE tables.run = ? ORDER BY chunks.done_us`, []any{run}, func(rows *sql.Rows) error {
		var m Moment
		var us int64
		err := rows.Scan(&m.Phase, &us, &m.Rows)
		m.At = time.UnixMicro(us).UTC()
		visit(m)
		return err
	})
}

// Span returns when a run began, and when it had copied all rows, by the target's clock. The latter is zero if it
// has not.
func (l Ledger) Span(ctx context.Context, run string) (began, ended time.Time, err error) {
	var from, to int64
	if err := l.Q.QueryRowContext(ctx, l.Engine.SQL("SELECT started_us, ended_us FROM snow_merge_runs WHERE run = ?"), run).Scan(&from, &to); err != nil {
		return began, ended, l.Engine.Failed("read the ledger", err)
	}
	if to > 0 {
		ended = time.UnixMicro(to).UTC()
	}
	return time.UnixMicro(from).UTC(), ended, nil
}
