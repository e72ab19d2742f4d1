package merge

import (
	"context"
	"database/sql"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/shardsnow/snow/sqlsnow"
)

// Export writes the map from old to new ids as CSV with a header: source,
// table, old_id, new_id, ordered by source and table as they were merged, then
// by old_id. A row that was merged into another one has that one's id, a row
// that was dropped has none, and rows that kept their id have no line. It holds
// one range of rows at a time in memory, a few thousand at most.
func Export(ctx context.Context, d sqlsnow.Dialect, target *sql.DB, w io.Writer) error {
	e, err := engineOf(d)
	if err != nil {
		return err
	}
	x := &exporter{engine: e, target: target, out: csv.NewWriter(w)}
	if err := x.export(ctx); err != nil {
		return fmt.Errorf("merge: export: %w", err)
	}
	return nil
}

type exporter struct {
	engine *engine
	target queryer
	out    *csv.Writer
	source string
	table  string
}

func (x *exporter) export(ctx context.Context) error {
	if err := x.out.Write([]string{"source", "table", "old_id", "new_id"}); err != nil {
		return err
	}
	type part struct {
		scope         int64
		source, table string
	}
	var parts []part
	err := x.each(ctx, "SELECT scope, source, tbl FROM snow_merge_scopes ORDER BY scope", func(rows *sql.Rows) error {
		var p part
		err := rows.Scan(&p.scope, &p.source, &p.table)
		parts = append(parts, p)
		return x.engine.failed("read the ledger", err)
	})
	if err != nil {
		return err
	}
	for _, p := range parts {
		x.source, x.table = p.source, p.table
		if err := x.scope(ctx, p.scope); err != nil {
			return err
		}
	}
	x.out.Flush()
	return x.out.Error()
}

// scope writes the rows of the map of one table of one source, and those of each
// pack in their place among them.
func (x *exporter) scope(ctx context.Context, scope int64) error {
	where := "scope = " + strconv.FormatInt(scope, 10)
	from := int64(math.MinInt64)
	for {
		var next *pack
		least := fmt.Sprintf("last_old = (SELECT MIN(last_old) FROM snow_merge_packs WHERE %s AND last_old >= %d)", where, from)
		if err := x.engine.packs(ctx, x.target, scope, least, nil, func(p *pack) error { next = p; return nil }); err != nil {
			return err
		}
		text := fmt.Sprintf("SELECT old_id, new_id FROM snow_merge_map WHERE %s AND old_id >= %d", where, from)
		if next != nil {
			text += " AND old_id < " + strconv.FormatInt(next.olds[0], 10)
		}
		if err := x.each(ctx, text+" ORDER BY old_id", func(rows *sql.Rows) error {
			var old int64
			var id sql.NullInt64
			if err := rows.Scan(&old, &id); err != nil {
				return x.engine.failed("read the map", err)
			}
			return x.line(old, id)
		}); err != nil || next == nil {
			return err
		}
		for i, old := range next.olds {
			if err := x.line(old, sql.NullInt64{Int64: next.news[i], Valid: true}); err != nil {
				return err
			}
		}
		if next.lastOld == math.MaxInt64 {
			return nil
		}
		from = next.lastOld + 1
	}
}

func (x *exporter) line(old int64, id sql.NullInt64) error {
	line := []string{x.source, x.table, strconv.FormatInt(old, 10), ""}
	if id.Valid {
		line[3] = strconv.FormatInt(id.Int64, 10)
	}
	return x.out.Write(line)
}

func (x *exporter) each(ctx context.Context, text string, visit func(*sql.Rows) error) error {
	rows, err := x.target.QueryContext(ctx, text)
	if err != nil {
		return x.engine.failed("read the map", err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := visit(rows); err != nil {
			return err
		}
	}
	return x.engine.failed("read the map", rows.Err())
}
