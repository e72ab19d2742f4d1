package merge

import (
	"context"
	"database/sql"

	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/plan"
)

// An inserter inserts rows into one table, with a prepared statement for as many
// as one takes.
type inserter struct {
	s       *session
	table   string
	columns []*plan.Column
	full    *sql.Stmt
	rows    int    // that full takes
	texts   []bool // which columns of the target take no integer
}

// mostInserted is how many rows a statement inserts, and mostSent about how
// many bytes: servers refuse statements that are too long.
const (
	mostInserted = 500
	mostSent     = 1 << 20
)

func newInserter(s *session, table string, columns []*plan.Column) *inserter {
	i := &inserter{s: s, table: table, columns: columns, rows: max(1, min(mostInserted, s.engine.MaxParams/len(columns)))}
	for _, c := range columns {
		i.texts = append(i.texts, s.engine.Carrier(c) == dialect.CarryText)
	}
	return i
}

// close ends the statement. Nothing depends on it any more, and of a connection
// that was lost an error would say so once more.
func (i *inserter) close() {
	if i.full != nil {
		_ = i.full.Close()
	}
}

func (i *inserter) text(rows int) string {
	e := i.s.engine
	names := make([]string, len(i.columns))
	for n, c := range i.columns {
		names[n] = c.Name
	}
	return "INSERT INTO " + e.Quote(i.table) + " (" + e.QuoteAll(names) + ") VALUES " + e.PlaceholderRows(rows, len(names))
}

// write inserts rows, which have a value for each column.
func (i *inserter) write(ctx context.Context, rows [][]any) error {
	for len(rows) > 0 {
		n, sent := 0, 0
		for n < len(rows) && n < i.rows && (n == 0 || sent < mostSent) {
			sent += sizeOf(rows[n])
			n++
		}
		if err := i.some(ctx, rows[:n]); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

func (i *inserter) some(ctx context.Context, rows [][]any) error {
	args := make([]any, 0, len(rows)*len(i.columns))
	for _, row := range rows {
		for n, v := range row {
			if i.texts[n] {
				v = fitValue(i.s.engine, v, i.columns[n])
			}
			args = append(args, v)
		}
	}
	if len(rows) < i.rows {
		_, err := i.s.ExecContext(ctx, i.text(len(rows)), args...)
		return err
	}
	if i.full == nil {
		var err error
		if i.full, err = i.s.PrepareContext(ctx, i.text(i.rows)); err != nil {
			return err
		}
	}
	_, err := i.full.ExecContext(ctx, args...)
	return err
}

// blame returns which of rows is the first that the target does not take, and
// its error, given that the target refuses all of them together with whole.
func (i *inserter) blame(ctx context.Context, rows [][]any, whole error) (at int, found error) {
	found = whole
	_ = i.s.try(ctx, nil, func() error {
		for n := range rows {
			if err := i.some(ctx, rows[n:n+1]); err != nil {
				found, at = err, n
				break
			}
		}
		return errRollBack
	})
	return at, found
}

// sizeOf returns about how many bytes a row has.
func sizeOf(row []any) int {
	n := 0
	for _, v := range row {
		switch v := v.(type) {
		case string:
			n += 16 + len(v)
		case []byte:
			n += 24 + len(v)
		default:
			n += 16
		}
	}
	return n
}
