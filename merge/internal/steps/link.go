package steps

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// A linker sets the references of one source table that were NULL at first.
type linker struct {
	*copier
	part    *ledger.SourceTable // the same table with those columns
	set     []int               // which of part's they are
	touched []string            // assignments that keep ON UPDATE from changing other columns
}

func newLinker(c *copier) *linker {
	deferred := func(column *plan.Column) bool { return slices.Contains(c.deferred, column) }
	l := &linker{copier: c, part: c.table.Only(deferred)}
	for at, column := range l.part.Columns {
		if deferred(column) {
			l.set = append(l.set, at)
		}
	}
	for _, column := range c.table.Table.Columns {
		if typ := sqltype.Word(column.Type); c.Engine.Kind == sqlsnow.MySQL && column.Generated == "" && (typ == "timestamp" || typ == "datetime") {
			name := "t." + c.Engine.Quote(column.Name)
			l.touched = append(l.touched, name+" = "+name)
		}
	}
	return l
}

// link sets the references of the rows of chunks that follow on each other, in one transaction, and returns about how
// many bytes the rows have.
func (l *linker) link(ctx context.Context, chunks []ledger.Chunk) (bytes int, err error) {
	values, rows, err := l.rows(ctx, l.part, chunks)
	if err != nil {
		return 0, err
	}
	if at := slices.IndexFunc(rows, func(r rekey.Row) bool { return r.Fate == ledger.Missing }); at >= 0 {
		return 0, l.changed(rows[at].Key, "the row is new")
	}
	done := make([]ledger.Chunk, len(chunks))
	for i, c := range chunks {
		done[i] = c.In(ledger.PhaseLink)
	}
	rows = slices.DeleteFunc(rows, func(r rekey.Row) bool {
		return r.New == nil || !slices.ContainsFunc(l.set, func(at int) bool { return r.New[at] != nil })
	})
	return chunk.SizeOf(values...), l.Engine.Failed("link", l.update(ctx, rows, done))
}

func (l *linker) update(ctx context.Context, rows []rekey.Row, done []ledger.Chunk) error {
	target := l.Conns.Target
	if len(l.set) == 0 || l.updatable(rows) { // the source may not have the columns
		err := l.Lease.Transaction(ctx, target, func() error {
			for part := range slices.Chunk(rows, chunk.MostInserted) {
				if err := l.updateMany(ctx, part); err != nil {
					return err
				}
			}
			return ledger.Of(target).InsertChunks(ctx, done)
		})
		// An error names no row here: the rows are tried one by one for that.
		if err == nil || l.Engine.IsBusy(err) || ctx.Err() != nil || errors.As(err, new(*report.OvertakenError)) || len(l.set) == 0 {
			return err
		}
	}
	return l.updateEach(ctx, rows, done)
}

// updateEach sets columns row by row, and names the row that is refused.
func (l *linker) updateEach(ctx context.Context, rows []rekey.Row, done []ledger.Chunk) error {
	e, target := l.Engine, l.Conns.Target
	var assign, match []string
	for n, at := range l.set {
		assign = append(assign, e.Quote(l.part.Columns[at].Name)+" = "+e.Placeholder(n+1))
	}
	for n, at := range l.part.Primary {
		match = append(match, e.Quote(l.part.Columns[at].Name)+" = "+e.Placeholder(len(l.set)+n+1))
	}
	update, err := target.PrepareContext(ctx, "UPDATE "+target.Engine.Table(l.part.Table.Name)+" AS t SET "+strings.Join(append(assign, l.touched...), ", ")+" WHERE "+strings.Join(match, " AND "))
	if err != nil {
		return err
	}
	defer update.Close()
	var refused error
	err = l.Lease.Transaction(ctx, target, func() error {
		for _, r := range rows {
			args := make([]any, 0, len(l.set)+len(l.part.Primary))
			for _, at := range slices.Concat(l.set, l.part.Primary) {
				args = append(args, chunk.FitValue(e, r.New[at], l.part.Columns[at]))
			}
			if _, err := update.ExecContext(ctx, args...); err != nil {
				refused = l.table.RowError(r.Key, e.Failed("link", err))
				return err
			}
		}
		return ledger.Of(target).InsertChunks(ctx, done)
	})
	if err != nil && refused != nil && ctx.Err() == nil {
		return refused
	}
	return err
}

// updatable reports whether rows can be updated by statements for many of them:
// all values are integers, and the target is a server, where each statement is a
// way there and back.
func (l *linker) updatable(rows []rekey.Row) bool {
	if l.Engine.Kind == sqlsnow.SQLite || len(l.part.Primary) != 1 {
		return false
	}
	return !slices.ContainsFunc(rows, func(r rekey.Row) bool {
		return slices.ContainsFunc(append(l.set[:len(l.set):len(l.set)], l.part.Primary[0]), func(at int) bool {
			_, integer := r.New[at].(int64)
			return !integer && r.New[at] != nil || l.Engine.Carrier(l.part.Columns[at]) != dialect.CarryInteger
		})
	})
}

// updateMany sets columns of some rows in one statement, whose numbers are part
// of the text.
func (l *linker) updateMany(ctx context.Context, rows []rekey.Row) error {
	postgres := l.Engine.Kind == sqlsnow.Postgres
	columns := append([]int{l.part.Primary[0]}, l.set...)
	var assign, values []string
	for n, r := range rows {
		cells := make([]string, len(columns))
		for i, at := range columns {
			if cells[i] = "NULL"; r.New[at] != nil {
				cells[i] = sqlvalue.Text(r.New[at])
			}
			if n == 0 && postgres {
				cells[i] = "CAST(" + cells[i] + " AS BIGINT)"
			}
			if n == 0 {
				cells[i] += " AS c" + strconv.Itoa(i)
			}
		}
		values = append(values, "SELECT "+strings.Join(cells, ", "))
	}
	for i, at := range l.set {
		name := l.Engine.Quote(l.part.Columns[at].Name)
		if !postgres {
			name = "t." + name
		}
		assign = append(assign, name+" = v.c"+strconv.Itoa(i+1))
	}
	set := " SET " + strings.Join(append(assign, l.touched...), ", ")
	from := "(" + strings.Join(values, " UNION ALL ") + ") AS v"
	on := "t." + l.Engine.Quote(l.part.Columns[columns[0]].Name) + " = v.c0"
	text := "UPDATE " + l.Conns.Target.Engine.Table(l.part.Table.Name) + " AS t"
	if postgres {
		text += set + " FROM " + from + " WHERE " + on
	} else {
		text += " JOIN " + from + " ON " + on + set
	}
	_, err := l.Conns.Target.ExecContext(ctx, text)
	return err
}
