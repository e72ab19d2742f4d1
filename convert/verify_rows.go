package convert

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/shardsnow/snow/convert/internal/mysql"
	"github.com/shardsnow/snow/convert/internal/postgres"
	"github.com/shardsnow/snow/convert/plan"
	"github.com/shardsnow/snow/convert/report"
	"github.com/shardsnow/snow/internal/sqldialect"
)

// A baseline is what the database had before the first step.
type baseline struct {
	Orphans map[string]int64 // by the names of references; those without any are left out
}

// A reference says which rows of a table belong to rows of another.
type reference struct {
	table   string
	columns []string
	parent  string
	key     []string
}

func (r reference) String() string {
	return fmt.Sprintf("%s(%s) to %s(%s)", r.table, strings.Join(r.columns, ", "), r.parent, strings.Join(r.key, ", "))
}

// references returns the references of a plan, declared ones and decided ones.
func referencesOf(p *plan.Plan) (all []reference) {
	for _, t := range p.Tables {
		declared := map[string]bool{}
		for _, k := range t.ForeignKeys {
			all = append(all, reference{t.Name, k.Columns, k.Refers, k.RefColumns})
			if len(k.Columns) == 1 {
				declared[k.Columns[0]+" "+k.Refers] = true
			}
		}
		for _, c := range t.Columns {
			parent := p.Table(c.Refers)
			if parent == nil || parent.Key == "" || declared[c.Name+" "+c.Refers] {
				continue
			}
			all = append(all, reference{t.Name, []string{c.Name}, c.Refers, []string{parent.Key}})
		}
	}
	return all
}

// orphans returns a statement that counts the rows whose reference leads nowhere.
func (r reference) orphans(d sqldialect.Dialect) string {
	var given, same []string
	for i := range r.columns {
		child := "c." + d.Quote(r.columns[i])
		given = append(given, child+" IS NOT NULL")
		same = append(same, "p."+d.Quote(r.key[i])+" = "+child)
	}
	return fmt.Sprintf("SELECT COUNT(*) FROM %s c WHERE %s AND NOT EXISTS (SELECT 1 FROM %s p WHERE %s)",
		d.Quote(r.table), strings.Join(given, " AND "), d.Quote(r.parent), strings.Join(same, " AND "))
}

// measure counts orphans before the first step.
func measure(ctx context.Context, d sqldialect.Dialect, p *plan.Plan, db *sql.DB) (string, error) {
	b := baseline{Orphans: map[string]int64{}}
	for _, r := range referencesOf(p) {
		var n int64
		if err := db.QueryRowContext(ctx, r.orphans(d)).Scan(&n); err != nil {
			return "", fmt.Errorf("count orphans of %v: %w", r, err)
		}
		if n > 0 {
			b.Orphans[r.String()] = n
		}
	}
	text, err := json.Marshal(b)
	return string(text), err
}

// references counts orphans, and compares them with the baseline.
func (v *verification) references(ctx context.Context) error {
	text, err := v.job.Kept(ctx)
	if err != nil || text == "" { // nothing was measured, so there is nothing to compare with
		return err
	}
	var before baseline
	if err := json.Unmarshal([]byte(text), &before); err != nil {
		return fmt.Errorf("read the baseline: %w", err)
	}
	for _, r := range referencesOf(v.plan) {
		if len(v.types[r.table]) == 0 {
			continue // a fault already
		}
		n, err := v.count(ctx, r.orphans(v.d))
		if err != nil {
			return fmt.Errorf("count orphans of %v: %w", r, err)
		}
		if was := before.Orphans[r.String()]; n > was {
			v.fault(r.table, strings.Join(r.columns, ", "), fmt.Sprintf("%d rows refer to rows of %s that do not exist, and before the conversion it was %d", n, r.parent, was),
				"look whether programs delete rows of "+r.parent+" without these; see "+r.orphans(v.d))
		}
	}
	return nil
}

// kept compares tables with what is kept of old: all columns on MySQL, the wider ones on PostgreSQL, which copies no
// others.
func (v *verification) kept(ctx context.Context) error {
	if v.d == sqldialect.Postgres {
		return v.keptColumns(ctx)
	}
	for _, s := range v.status.Steps {
		if strings.HasSuffix(s.Name, mysql.LetGo) && s.State != report.Waiting {
			return nil // old tables are not kept equal any more
		}
	}
	for _, t := range v.plan.Tables {
		types, err := v.typesOf(ctx, mysql.OldTable(t.Name))
		if err != nil {
			return err
		}
		if len(types) == 0 || len(t.Columns) == 0 {
			continue
		}
		if err := v.sameRows(ctx, t, types); err != nil {
			return fmt.Errorf("compare %q with %q: %w", t.Name, mysql.OldTable(t.Name), err)
		}
	}
	return nil
}

// sameRows compares a table with the one that is kept of old, in one snapshot.
func (v *verification) sameRows(ctx context.Context, t *plan.Table, types map[string]string) error {
	if _, err := v.s.ExecContext(ctx, "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ"); err != nil {
		return err
	}
	tx, err := v.s.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // it has only read
	var missing, values []string
	for column, kind := range types {
		if kind != "" { // not generated
			values = append(values, column)
		}
	}
	values, missing = sorted(values), nil
	for i, column := range values {
		quoted := v.d.Quote(column)
		missing = append(missing, "ISNULL("+quoted+")")
		values[i] = "COALESCE(SHA2(" + quoted + ", 256), '')"
	}
	sum := fmt.Sprintf("SHA2(CONCAT(%s, %s), 256)", strings.Join(missing, ", "), strings.Join(values, ", "))
	query := fmt.Sprintf("SELECT COUNT(*), CONCAT(BIT_XOR(CAST(CONV(LEFT(x, 16), 16, 10) AS UNSIGNED)), ' ', BIT_XOR(CAST(CONV(RIGHT(x, 16), 16, 10) AS UNSIGNED))) FROM (SELECT %s AS x FROM %%s) y", sum)
	var rows [2]int64
	var sums [2]string
	for i, table := range []string{t.Name, mysql.OldTable(t.Name)} {
		if err := tx.QueryRowContext(ctx, fmt.Sprintf(query, v.d.Quote(table))).Scan(&rows[i], &sums[i]); err != nil {
			return err
		}
	}
	switch {
	case rows[0] != rows[1]:
		v.fault(t.Name, "", fmt.Sprintf("it has %d rows, and %s, which is kept equal, has %d", rows[0], mysql.OldTable(t.Name), rows[1]), "take the conversion back, which compares all rows")
	case sums[0] != sums[1]:
		v.fault(t.Name, "", "its rows differ from "+mysql.OldTable(t.Name)+", which is kept equal", "take the conversion back, which compares all rows")
	}
	return nil
}

// keptColumns compares columns of PostgreSQL with the narrow ones that are kept. These can't have snow ids.
func (v *verification) keptColumns(ctx context.Context) error {
	limits := map[string][2]int64{"integer": {-1 << 31, 1<<31 - 1}, "smallint": {-1 << 15, 1<<15 - 1}}
	for _, t := range v.plan.Tables {
		for _, c := range t.Columns {
			old := postgres.OldColumn(c.Name)
			limit, ok := limits[v.types[t.Name][old]]
			if !ok {
				continue
			}
			n, err := v.count(ctx, fmt.Sprintf("SELECT COUNT(*) FROM %s WHERE %s IS DISTINCT FROM %s AND (%[3]s IS NULL OR %[3]s BETWEEN %d AND %d)",
				v.d.Quote(t.Name), v.d.Quote(old), v.d.Quote(c.Name), limit[0], limit[1]))
			if err != nil {
				return fmt.Errorf("compare %q.%q: %w", t.Name, c.Name, err)
			}
			if n > 0 {
				v.fault(t.Name, c.Name, fmt.Sprintf("%d rows have another value in %s, which is kept equal", n, old), "look at these rows before going back: "+old+" is what they would have")
			}
		}
	}
	return nil
}
