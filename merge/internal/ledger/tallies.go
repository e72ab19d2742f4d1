package ledger

import (
	"context"
	"database/sql"
	"strconv"
	"time"
)

// What the ledger says of a run as a whole: sums over rows and chunks, for reports.

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
