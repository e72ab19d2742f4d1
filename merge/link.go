package merge

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// link sets the columns that were NULL at first.
func (p *porter) link(ctx context.Context, rows []row, done []batch) error {
	e, w := p.engine, p.worker
	var set, where []int
	var assign, match, touched []string
	for at, c := range p.scope.columns {
		if slices.Contains(p.stage.Deferred, c) {
			set = append(set, at)
			assign = append(assign, e.quote(c.Name)+" = "+e.number(len(set)))
		}
	}
	for _, at := range p.scope.primary {
		where = append(where, at)
		match = append(match, e.quote(p.scope.columns[at].Name)+" = "+e.number(len(set)+len(where)))
	}
	if e.dialect == sqlsnow.MySQL {
		for _, c := range p.scope.table.Columns { // or ON UPDATE would change them
			if typ := mysqlType(c); c.Generated == "" && (typ == "timestamp" || typ == "datetime") {
				touched = append(touched, "t."+e.quote(c.Name)+" = t."+e.quote(c.Name))
			}
		}
	}
	if len(set) == 0 { // the source does not have them
		return e.failed("link", p.guard.transaction(ctx, w.target, func() error { return e.insertBatches(ctx, w.target, done) }))
	}
	rows = slices.DeleteFunc(rows, func(r row) bool {
		return r.new == nil || !slices.ContainsFunc(set, func(at int) bool { return r.new[at] != nil })
	})
	table := e.quote(p.scope.table.Name)
	if p.whole(rows, set) {
		err := p.guard.transaction(ctx, w.target, func() error {
			for part := range slices.Chunk(rows, mostInserted) {
				if err := p.linkMany(ctx, table, part, set, touched); err != nil {
					return err
				}
			}
			return e.insertBatches(ctx, w.target, done)
		})
		// An error names no row here: the rows are tried one by one for that.
		if err == nil || e.isBusy(err) || ctx.Err() != nil || errors.As(err, new(*report.OvertakenError)) {
			return e.failed("link", err)
		}
	}
	update, err := w.target.PrepareContext(ctx, "UPDATE "+table+" AS t SET "+strings.Join(append(assign, touched...), ", ")+" WHERE "+strings.Join(match, " AND "))
	if err != nil {
		return e.failed("link", err)
	}
	defer update.Close()
	var refused *report.RowError
	err = p.guard.transaction(ctx, w.target, func() error {
		for _, r := range rows {
			args := make([]any, 0, len(set)+len(where))
			for _, at := range slices.Concat(set, where) {
				args = append(args, e.fit(r.new[at], p.scope.columns[at]))
			}
			if _, err := update.ExecContext(ctx, args...); err != nil {
				refused = &report.RowError{Source: p.scope.source, Table: p.scope.table.Name, Row: keyText(r.key), Err: e.failed("link", err)}
				return err
			}
		}
		return e.insertBatches(ctx, w.target, done)
	})
	if err != nil && refused != nil && ctx.Err() == nil {
		return refused
	}
	return e.failed("link", err)
}

// whole reports whether rows can be linked by statements for many of them: all
// numbers are integers, and the target is a server, where each statement is a
// way there and back.
func (p *porter) whole(rows []row, set []int) bool {
	if p.engine.dialect == sqlsnow.SQLite || len(p.scope.primary) != 1 {
		return false
	}
	return !slices.ContainsFunc(rows, func(r row) bool {
		return slices.ContainsFunc(append(set[:len(set):len(set)], p.scope.primary[0]), func(at int) bool {
			_, integer := r.new[at].(int64)
			return !integer && r.new[at] != nil || p.engine.carrier(p.scope.columns[at]) != carryInteger
		})
	})
}

// linkMany sets columns of some rows in one statement, whose numbers are part
// of the text, or arrays.
func (p *porter) linkMany(ctx context.Context, table string, rows []row, set []int, touched []string) error {
	e := p.engine
	columns := append([]int{p.scope.primary[0]}, set...)
	var assign, names []string
	for i, at := range columns {
		names = append(names, "c"+strconv.Itoa(i))
		if i > 0 {
			name := e.quote(p.scope.columns[at].Name)
			if e.dialect == sqlsnow.MySQL {
				name = "t." + name
			}
			assign = append(assign, name+" = v."+names[i])
		}
	}
	on := "t." + e.quote(p.scope.columns[columns[0]].Name) + " = v.c0"
	number := func(v any) string {
		if n, ok := v.(int64); ok {
			return strconv.FormatInt(n, 10)
		}
		return "NULL"
	}
	if e.dialect == sqlsnow.Postgres {
		var args []any
		var arrays []string
		for i, at := range columns {
			var all []string
			for _, r := range rows {
				all = append(all, number(r.new[at]))
			}
			args = append(args, "{"+strings.Join(all, ",")+"}")
			arrays = append(arrays, "CAST("+e.number(i+1)+" AS BIGINT[])")
		}
		_, err := p.worker.target.ExecContext(ctx, "UPDATE "+table+" AS t SET "+strings.Join(assign, ", ")+
			" FROM unnest("+strings.Join(arrays, ", ")+") AS v ("+strings.Join(names, ", ")+") WHERE "+on, args...)
		return err
	}
	var values []string
	for n, r := range rows {
		cells := make([]string, len(columns))
		for i, at := range columns {
			cells[i] = number(r.new[at])
			if n == 0 {
				cells[i] += " AS " + names[i]
			}
		}
		values = append(values, "SELECT "+strings.Join(cells, ", "))
	}
	_, err := p.worker.target.ExecContext(ctx, "UPDATE "+table+" AS t JOIN ("+strings.Join(values, " UNION ALL ")+") AS v ON "+on+
		" SET "+strings.Join(append(assign, touched...), ", "))
	return err
}
