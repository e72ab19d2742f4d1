package merge

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"

	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// mapOf sees to it that the map has each row that changed its id, no other one,
// and that the rows which others were merged into are there.
func (v *verifier) mapOf(ctx context.Context, target queryer, s *scope, last batch, total *proof) error {
	counts := map[int]int64{}
	where, args := " WHERE scope = ?", []any{s.id}
	if total.counted && s.maps && last.hi != nil { // what is left is above the last range
		counts = map[int]int64{kindMinted: total.rekeyed, kindMerged: total.merged, kindDropped: total.dropped}
		where, args = where+" AND old_id > ?", append(args, last.hi[0])
	}
	err := v.query(ctx, target, "SELECT kind, COUNT(*) FROM snow_merge_map"+where+" GROUP BY kind", args, func(rows *sql.Rows) error {
		var kind int
		var n int64
		err := rows.Scan(&kind, &n)
		counts[kind] += n
		return err
	})
	if err != nil {
		return err
	}
	if s.packs {
		others := "TRUE"
		if total.counted {
			others = "NOT EXISTS (SELECT 1 FROM snow_merge_batches AS ranges WHERE ranges.scope = packs.scope AND ranges.phase = 'mint' AND ranges.seq = packs.seq)"
		}
		n, _, err := v.engine.packedRows(ctx, target, s.id, others)
		if err != nil {
			return err
		}
		counts[kindMinted] += n
	}
	for _, kind := range []struct {
		name      string
		got, want int64
	}{
		{"have a new id", counts[kindMinted], total.rekeyed},
		{"are merged", counts[kindMerged], total.merged},
		{"are dropped", counts[kindDropped], total.dropped},
	} {
		if kind.got != kind.want {
			total.fail(report.Failure{
				Check: report.CheckMap, Source: s.source, Table: s.table.Name,
				Reason: fmt.Sprintf("the map says that %d rows %s, but the source has %d such rows", kind.got, kind.name, kind.want),
			})
		}
	}
	if counts[kindMerged] == 0 {
		return nil
	}
	key := v.engine.quote(s.table.Key().Name)
	text := `SELECT map.old_id, map.new_id FROM snow_merge_map AS map LEFT JOIN ` + v.engine.quote(s.table.Name) + ` AS t ON t.` + key + ` = map.new_id
		WHERE map.scope = ? AND map.kind = ? AND t.` + key + ` IS NULL ORDER BY map.old_id LIMIT ?`
	return v.query(ctx, target, text, []any{s.id, kindMerged, report.MaxFailures}, func(rows *sql.Rows) error {
		var was, is int64
		if err := rows.Scan(&was, &is); err != nil {
			return err
		}
		total.fail(report.Failure{
			Check: report.CheckMap, Source: s.source, Table: s.table.Name, Row: keyText([]any{was}), Target: keyText([]any{is}),
			Reason: "the row that it was merged into is missing",
		})
		return nil
	})
}

func (v *verifier) query(ctx context.Context, q queryer, text string, args []any, scan func(*sql.Rows) error) (err error) {
	rows, err := q.QueryContext(ctx, v.engine.sql(text), args...)
	if err != nil {
		return v.engine.failed("verify", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return v.engine.failed("verify", err)
		}
	}
	return v.engine.failed("verify", rows.Err())
}

// tables counts the rows of the target, and sees to it that no two rows of
// different sources have got one id.
func (v *verifier) tables(ctx context.Context, target queryer, proofs []*proof) error {
	var err error
	if v.later, err = v.since(ctx, target); err != nil {
		return err
	}
	for _, t := range v.plan.Tables {
		if t.Skip {
			continue
		}
		row := report.Target{Table: t.Name, Before: v.ran.facts.Rows[t.Name], Later: v.later[t.Name]}
		var minting []int64
		doubtful := false
		for i, s := range v.ran.scopes {
			if s.table == t {
				row.Copied += proofs[i].copied
				if s.mints {
					minting = append(minting, s.id)
					doubtful = doubtful || proofs[i].failed > 0
				}
			}
		}
		if row.Rows, err = v.engine.count(ctx, target, t.Name); err != nil {
			return err
		}
		v.report.Targets = append(v.report.Targets, row)
		if more := row.Rows - row.Before - row.Copied - row.Later; more != 0 {
			reason := fmt.Sprintf("%d rows are there that no source has", more)
			if more < 0 {
				reason = fmt.Sprintf("%d rows are gone that the target had before", -more)
			}
			v.report.Add(report.Failure{Check: report.CheckRows, Table: t.Name, Reason: reason})
		}
		if !doubtful {
			continue // ids that ascend, and are of lanes that have nothing in common, are not equal
		}
		condition, args := v.engine.anyOf("scope", minting)
		text := "SELECT new_id, COUNT(*) FROM snow_merge_map WHERE kind = 0 AND " + condition + " GROUP BY new_id HAVING COUNT(*) > 1"
		if err := v.query(ctx, target, text, args, func(rows *sql.Rows) error {
			var id, n int64
			err := rows.Scan(&id, &n)
			v.report.Add(report.Failure{Check: report.CheckMap, Table: t.Name, Target: keyText([]any{id}), Reason: fmt.Sprintf("%d rows have got this id", n)})
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// sound returns the columns that refer to rows that exist, in all rows of the
// target. The others are looked at row by row: they may hold more than one id,
// or orphans that were there before the run.
func (v *verifier) sound(ctx context.Context, target queryer) (map[*plan.Column]bool, error) {
	sound := map[*plan.Column]bool{}
	e := v.engine
	for _, t := range v.plan.Tables {
		for _, c := range t.Columns {
			if t.Skip || c.Role != plan.RoleReference || sqltype.Of(e.dialect, c.Type).Kind != sqltype.Integer || e.dialect == sqlsnow.SQLite {
				continue // SQLite's columns may have texts whatever their type
			}
			parent := v.plan.Table(c.Refers[0].Table)
			key, column := e.quote(parent.Key().Name), e.quote(c.Name)
			text := "SELECT COUNT(*) FROM (SELECT 1 FROM " + e.quote(t.Name) + " AS t LEFT JOIN " + e.quote(parent.Name) + " AS p ON p." + key + " = t." + column +
				" WHERE t." + column + " IS NOT NULL AND p." + key + " IS NULL"
			var none []int64
			for _, value := range c.None {
				if id, ok := parseID(value); ok {
					none = append(none, id)
				}
			}
			var args []any
			if len(none) > 0 {
				var condition string
				condition, args = e.anyOf("t."+column, none)
				text += " AND NOT (" + condition + ")"
			}
			var orphans int
			if err := target.QueryRowContext(ctx, text+" LIMIT 1) AS orphans", args...).Scan(&orphans); err != nil {
				return nil, e.failed("look for orphans of "+strconv.Quote(t.Name+"."+c.Name), err)
			}
			sound[c] = orphans == 0
		}
	}
	return sound, nil
}

// references reports what was looked up on the way, and warns of paths that
// led to nothing.
func (v *verifier) references(proofs []*proof) {
	all := newProof()
	for _, p := range proofs {
		for key, ref := range p.references {
			all.reference(key).Checked += ref.Checked
			all.reference(key).Orphans += ref.Orphans
		}
		for key, reached := range p.paths {
			all.paths[key] = all.paths[key] || reached
		}
	}
	for _, t := range v.plan.Tables {
		for _, c := range t.Columns {
			if t.Skip || !c.HoldsReferences() {
				continue
			}
			for i, ref := range c.Refers {
				if ref.Table == "" {
					continue
				}
				row := *all.reference(refKey{c, i})
				row.Table, row.Column, row.Path, row.Value, row.Refers = t.Name, c.Name, ref.Path, ref.Value, ref.Table
				v.report.References = append(v.report.References, row)
				if reached, looked := all.paths[refKey{c, i}]; looked && !reached {
					v.report.Warnings = append(v.report.Warnings, fmt.Sprintf(
						"column %q: no JSON that was copied has anything at path %q: if it is misspelt, old ids were copied as they are", t.Name+"."+c.Name, ref.Path))
				}
			}
		}
	}
}

// since returns how many rows later runs have copied, by table.
func (v *verifier) since(ctx context.Context, target queryer) (map[string]int64, error) {
	later := map[string]int64{}
	const text = `SELECT scopes.tbl, SUM(batches.rows_written) FROM snow_merge_runs AS later
		JOIN snow_merge_scopes AS scopes ON scopes.run = later.run
		JOIN snow_merge_batches AS batches ON batches.scope = scopes.scope AND batches.phase = 'copy'
		WHERE later.run <> ? AND later.started_us >= (SELECT started_us FROM snow_merge_runs WHERE run = ?) GROUP BY scopes.tbl`
	err := v.query(ctx, target, text, []any{v.ran.id, v.ran.id}, func(rows *sql.Rows) error {
		var table string
		var n int64
		err := rows.Scan(&table, &n)
		later[table] = n
		return err
	})
	return later, err
}

// fewestSamples is how many values it takes to say anything.
const fewestSamples = 20

// leftovers warns of plain columns that nobody has decided on, and whose values
// look like old ids: they all are some, and not only small ones.
func (v *verifier) leftovers(ctx context.Context, target queryer, proofs []*proof) error {
	for i, s := range v.ran.scopes {
		for c, samples := range proofs[i].samples {
			if len(samples) < fewestSamples {
				continue
			}
			values := slices.Sorted(maps.Keys(samples))
			for _, parent := range v.ran.scopes {
				if parent.source != s.source || !parent.mints {
					continue
				}
				n, most, err := v.oldIDs(ctx, target, parent, values)
				if err != nil {
					return err
				}
				if n == len(values) && values[n-1] >= most/2 {
					v.report.Warnings = append(v.report.Warnings, fmt.Sprintf(
						"column %q is plain, but all of %d values of source %q are old ids of table %q: if they are references, the plan is wrong; if not, set decided",
						s.table.Name+"."+c.Name, n, s.source, parent.table.Name))
				}
			}
		}
	}
	slices.Sort(v.report.Warnings)
	return nil
}

// oldIDs returns how many of the values the map has, and the highest old id.
func (v *verifier) oldIDs(ctx context.Context, target queryer, s *scope, values []int64) (n int, most int64, err error) {
	condition, args := v.engine.anyOf("old_id", values)
	err = target.QueryRowContext(ctx, fmt.Sprintf("SELECT COUNT(*), COALESCE((SELECT MAX(old_id) FROM snow_merge_map WHERE scope = %d), 0)"+
		" FROM snow_merge_map WHERE scope = %[1]d AND %s", s.id, condition), args...).Scan(&n, &most)
	if err != nil || !s.packs {
		return n, most, v.engine.failed("look for old ids", err)
	}
	_, last, err := v.engine.packedRows(ctx, target, s.id, "TRUE")
	if err != nil {
		return n, most, err
	}
	err = v.engine.inPacks(ctx, target, s.id, values, func(int64, int64) { n++ })
	return n, max(most, last), err
}

// assert compares the caller's numbers.
func (v *verifier) assert(ctx context.Context, target queryer) error {
	if len(v.later) > 0 && len(v.config.Assertions) > 0 {
		v.report.Warnings = append(v.report.Warnings, "assertions are not checked: later runs have copied rows")
		return nil
	}
	for _, a := range v.config.Assertions {
		row := report.Assertion{Name: a.Name, Sources: map[string]string{}}
		want, known := new(big.Rat).SetString(v.ran.facts.Assertions[a.Name])
		if !known {
			v.report.Warnings = append(v.report.Warnings, fmt.Sprintf("assertion %q is not checked: the target was not asked before the run", a.Name))
			continue
		}
		row.Before = printNumber(want)
		for _, name := range v.plan.Sources {
			n, err := v.measure(ctx, name, a)
			if err != nil {
				return err
			}
			row.Sources[name] = printNumber(n)
			want.Add(want, n)
		}
		got, err := a.measure(ctx, target)
		if err != nil {
			return err
		}
		row.Want, row.Got = printNumber(want), printNumber(got)
		v.report.Assertions = append(v.report.Assertions, row)
		if got.Cmp(want) != 0 {
			v.report.Add(report.Failure{Check: report.CheckAssertion, Reason: fmt.Sprintf("%s: want %s, got %s", a.Name, row.Want, row.Got)})
		}
	}
	return nil
}

func (v *verifier) measure(ctx context.Context, source string, a Assertion) (*big.Rat, error) {
	s, err := v.provers[0].worker.source(ctx, source)
	if err != nil {
		return nil, err
	}
	n, err := a.measure(ctx, s)
	return n, sourceError(source, err)
}
