package phases

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/merge/internal/catalog"
	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/internal/witness"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// verifying fills a report.
type verifying struct {
	*Job
	run    *ledger.Run
	report *report.Report
	kept   *report.Report        // the report of an earlier verification, which counts instead
	later  map[string]int64      // rows that later runs have copied, by table
	sound  map[*plan.Column]bool // see [Work]
	sets   []*Multiset           // of the tables without a primary key
	first  *chunk.Conns          // for what one goroutine asks of the target
	others []*chunk.Conns        // for rows: those of one goroutine each, or first alone
	pages  map[*chunk.Conns]*ledger.Pages
}

// source looks for rows of a source that the run has never seen, and sees to it
// that the chunks have all of its rows, whatever the database's order of them is.
func (v *verifying) source(ctx context.Context, c *chunk.Conns, t *ledger.SourceTable, last ledger.Chunk, total *Findings) error {
	rows, err := t.Read(ctx, c, last.Hi, nil, 1)
	if err != nil {
		return err
	}
	if len(rows) > 0 {
		total.Fail(t.Failure(report.CheckSource, t.RowKey(rows[0]), "the row is new since the run began"))
	}
	source, err := c.Source(ctx, t.Source)
	if err != nil {
		return err
	}
	n, err := chunk.CountRows(ctx, source.Engine, source, t.Table.Name)
	if err == nil && n != total.Read {
		total.Fail(t.Failure(report.CheckSource, nil, "the source has %d rows, and %d of them were read", n, total.Read))
	}
	return dialect.OfSource(t.Source, err)
}

// mapOf sees to it that the map has each row that changed its id, no other one,
// and that the rows which others were merged into are there.
func (v *verifying) mapOf(ctx context.Context, target *chunk.Session, t *ledger.SourceTable, total *Findings) error {
	counts, err := ledger.MapOf(target).Count(ctx, t)
	if err != nil {
		return err
	}
	for _, kind := range []struct {
		name      string
		got, want int64
	}{
		{"have a new id", counts[ledger.Rekeyed], total.Rekeyed},
		{"are merged", counts[ledger.Merged], total.Merged},
		{"are dropped", counts[ledger.Dropped], total.Dropped},
	} {
		if kind.got != kind.want {
			total.Fail(t.Failure(report.CheckMap, nil, "the map says that %d rows %s, but the source has %d such rows", kind.got, kind.name, kind.want))
		}
	}
	if counts[ledger.Merged] == 0 {
		return nil
	}
	key := v.Engine.Quote(t.Table.Key().Name)
	text := `SELECT map.old_id, map.new_id FROM snow_merge_map AS map LEFT JOIN ` + target.Engine.Table(t.Table.Name) + ` AS t ON t.` + key + ` = map.new_id
		WHERE map.source_table = ? AND map.kind = 1 AND t.` + key + ` IS NULL ORDER BY map.old_id LIMIT ?`
	return ledger.Of(target).Query(ctx, text, []any{t.ID, report.MaxFailures}, func(rows *sql.Rows) error {
		var was, is int64
		err := rows.Scan(&was, &is)
		f := t.Failure(report.CheckMap, []any{was}, "the row that it was merged into is missing")
		f.Target = sqlvalue.FormatKey([]any{is})
		total.Fail(f)
		return err
	})
}

// tables counts the rows of the target, and sees to it that no two rows of
// different sources have got one id.
func (v *verifying) tables(ctx context.Context, target *chunk.Session, found []*Findings) error {
	var err error
	if v.later, err = ledger.Of(target).WrittenLater(ctx, v.run); err != nil {
		return err
	}
	for _, t := range v.Plan.Tables {
		if t.Skip {
			continue
		}
		row := report.Target{Table: t.Name, Before: v.run.Facts.Rows[t.Name], Later: v.later[t.Name]}
		var rekeyed []int64
		doubtful := false
		for i, s := range v.run.Tables {
			if s.Table == t {
				row.Copied += found[i].Written
				if s.Rekeys {
					doubtful = doubtful || found[i].failed > 0 || slices.ContainsFunc(rekeyed, func(id int64) bool { return v.shares(s, id) })
					rekeyed = append(rekeyed, s.ID)
				}
			}
		}
		if row.Rows, err = chunk.CountRows(ctx, target.Engine, target, t.Name); err != nil {
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
			continue // ids that ascend, and are of ranges that have nothing in common, are not equal
		}
		condition, args := chunk.AnyOf(v.Engine, "source_table", rekeyed)
		text := "SELECT new_id, COUNT(*) FROM snow_merge_map WHERE kind = 0 AND " + condition + " GROUP BY new_id HAVING COUNT(*) > 1"
		if err := ledger.Of(target).Query(ctx, text, args, func(rows *sql.Rows) error {
			var id, n int64
			err := rows.Scan(&id, &n)
			v.report.Add(report.Failure{Check: report.CheckMap, Table: t.Name, Target: sqlvalue.FormatKey([]any{id}), Reason: fmt.Sprintf("%d rows have got this id", n)})
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// shares reports whether two source tables have numbers in common, which those of one table never have.
func (v *verifying) shares(s *ledger.SourceTable, id int64) bool {
	other := v.run.Tables[slices.IndexFunc(v.run.Tables, func(t *ledger.SourceTable) bool { return t.ID == id })]
	return s.Ids.IDs.AreNumbers() && s.Ids.First < other.Ids.End && other.Ids.First < s.Ids.End
}

// soundReferences returns the columns that refer to rows that exist, in all rows
// of the target. The others are looked at row by row: they may hold more than one id,
// or orphans that were there before the run.
func (v *verifying) soundReferences(ctx context.Context) (map[*plan.Column]bool, error) {
	type column struct {
		of *plan.Table
		*plan.Column
	}
	var columns []column
	for _, t := range v.Plan.Tables {
		for _, c := range t.Columns {
			// SQLite's columns may have texts whatever their type
			if !t.Skip && c.Role == plan.RoleReference && sqltype.Of(v.Engine.Kind, c.Type).Kind == sqltype.Integer && v.Engine.Kind != sqlsnow.SQLite {
				columns = append(columns, column{t, c})
			}
		}
	}
	found := make([]bool, len(columns))
	err := parallelEach(ctx, v.others, len(columns), func(ctx context.Context, c *chunk.Conns, i int) (err error) {
		found[i], err = isSound(ctx, c.Target, v.Plan, columns[i].of, columns[i].Column)
		return err
	})
	sound := map[*plan.Column]bool{}
	for i, c := range columns {
		sound[c.Column] = found[i]
	}
	return sound, err
}

// isSound reports whether a column of integers refers to rows that exist, in all rows of a table of a database.
func isSound(ctx context.Context, s *chunk.Session, p *plan.Plan, t *plan.Table, c *plan.Column) (bool, error) {
	e, parent := s.Engine, p.Table(c.Refers[0].Table)
	key, column := e.Quote(parent.Key().Name), e.Quote(c.Name)
	text := "SELECT COUNT(*) FROM (SELECT 1 FROM " + e.Table(t.Name) + " AS t LEFT JOIN " + e.Table(parent.Name) + " AS p ON p." + key + " = t." + column +
		" WHERE t." + column + " IS NOT NULL AND p." + key + " IS NULL"
	var args []any
	if none := rekey.NoneIDs(c); len(none) > 0 {
		var condition string
		condition, args = chunk.AnyOf(e, "t."+column, none)
		text += " AND NOT (" + condition + ")"
	}
	var orphans int
	err := s.QueryRowContext(ctx, text+" LIMIT 1) AS orphans", args...).Scan(&orphans)
	return err == nil && orphans == 0, e.Failed("look for orphans of "+strconv.Quote(t.Name+"."+c.Name), err)
}

// references reports what was looked up on the way.
func (v *verifying) references(found []*Findings) {
	all := NewFindings()
	for _, p := range found {
		all.addReferences(p)
	}
	for _, t := range v.Plan.Tables {
		for _, c := range t.Columns {
			if t.Skip || !c.HoldsReferences() {
				continue
			}
			for i, ref := range c.Refers {
				if ref.Table == "" {
					continue
				}
				row := *all.Reference(RefKey{c, i})
				row.Table, row.Column, row.Path, row.Value, row.Refers = t.Name, c.Name, ref.Path, ref.Value, ref.Table
				v.report.References = append(v.report.References, row)
			}
		}
	}
	v.report.Open = append(v.report.Open, v.emptyPaths(all)...)
}

// assert compares the caller's numbers.
func (v *verifying) assert(ctx context.Context, target *chunk.Session) error {
	if len(v.later) > 0 && len(v.Assertions) > 0 {
		v.report.Open = append(v.report.Open, report.Open{Kind: report.OpenUnchecked, Reason: "assertions are not checked: later runs have copied rows"})
		return nil
	}
	for _, a := range v.Assertions {
		row := report.Assertion{Name: a.Name, Sources: map[string]string{}}
		want, known := new(big.Rat).SetString(v.run.Facts.Assertions[a.Name])
		if !known {
			v.report.Open = append(v.report.Open, report.Open{
				Kind: report.OpenUnchecked, Reason: fmt.Sprintf("assertion %q is not checked: the target was not asked before the run", a.Name),
			})
			continue
		}
		row.Before = printNumber(want)
		for _, name := range v.Plan.Sources {
			source, err := v.others[0].Source(ctx, name)
			if err != nil {
				return err
			}
			n, err := a.measure(ctx, source)
			if err != nil {
				return dialect.OfSource(name, err)
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

// witness compares where references lead by the contents of rows, several tables at a time, see package witness.
func (v *verifying) witness(ctx context.Context) error {
	began := map[*plan.Table]int64{}
	for i, row := range v.report.Tables {
		began[v.run.Tables[i].Table] += row.Rows
	}
	most := cmp.Or(v.witnessedRows(), math.MaxInt64)
	begin := report.Event{Kind: report.EventPhase, Phase: phaseWitness}
	for _, n := range began {
		begin.Total += min(n, most)
	}
	v.tell(begin)
	witnesses, err := v.witnesses(ctx)
	if err != nil {
		return err
	}
	counts := make([][]witness.Counts, len(v.Plan.Tables))
	if err := parallelEach(ctx, v.others, len(counts), func(ctx context.Context, c *chunk.Conns, i int) (err error) {
		t := v.Plan.Tables[i]
		if t.Skip {
			return nil
		}
		progress := &Progress{v.tell, report.Event{Phase: phaseWitness, Table: t.Name, Total: min(began[t], most)}}
		progress.begin()
		if counts[i], err = witnesses[c].Table(ctx, t, began[t]); err != nil {
			return v.Engine.Failed("witness references", err)
		}
		progress.event.Rows = progress.event.Total
		progress.end()
		return nil
	}); err != nil {
		return err
	}
	for i, t := range v.Plan.Tables {
		for _, found := range counts[i] {
			v.reportWitness(t, found)
		}
	}
	return nil
}

// witnessedRows returns about how many rows of a table the witness looks at, or 0 for all.
func (v *verifying) witnessedRows() int64 {
	if v.WitnessAll {
		return 0
	}
	return 20_000
}

// witnesses returns one for each of the sessions. They share what is known of the databases.
func (v *verifying) witnesses(ctx context.Context) (map[*chunk.Conns]*witness.Witness, error) {
	first, err := v.newWitness(ctx, v.others[0])
	if err != nil {
		return nil, err
	}
	all := map[*chunk.Conns]*witness.Witness{v.others[0]: first}
	through := func(db witness.Database, s *chunk.Session) *witness.Database {
		db.QueryContext = s.QueryContext
		return &db
	}
	for _, c := range v.others[1:] {
		w := *first
		w.Target, w.Sources = through(*first.Target, c.Target), nil
		for i, name := range v.Plan.Sources {
			s, err := c.Source(ctx, name)
			if err != nil {
				return nil, err
			}
			w.Sources = append(w.Sources, through(*first.Sources[i], s))
		}
		all[c] = &w
	}
	return all, nil
}

// newWitness returns the witness of a session.
func (v *verifying) newWitness(ctx context.Context, c *chunk.Conns) (*witness.Witness, error) {
	w := &witness.Witness{
		Dialect: v.Engine.Kind, Plan: v.Plan, Rows: v.witnessedRows(), Known: new(witness.Contents), Codec: v.Codecs.Of,
		More: func(t *plan.Table) bool { return v.run.Facts.Rows[t.Name] > 0 || v.later[t.Name] > 0 },
	}
	database := func(name string, s *chunk.Session) (*witness.Database, error) {
		found, err := catalog.Read(ctx, v.Engine.Kind, s, s.Engine.Databases())
		return &witness.Database{Name: name, Catalog: found, SQL: s.Engine.Table, QueryContext: s.QueryContext}, v.Engine.Failed("inspect", err)
	}
	var err error
	if w.Target, err = database("", c.Target); err != nil {
		return nil, err
	}
	for _, name := range v.Plan.Sources {
		s, err := c.Source(ctx, name)
		if err != nil {
			return nil, err
		}
		source, err := database(name, s)
		if err != nil {
			return nil, dialect.OfSource(name, err)
		}
		w.Sources = append(w.Sources, source)
	}
	return w, nil
}

// reportWitness reports what the witness has found of one kind of reference.
func (v *verifying) reportWitness(t *plan.Table, found witness.Counts) {
	ref := found.Column.Refers[found.Ref]
	for i := range v.report.References {
		if row := &v.report.References[i]; row.Table == t.Name && row.Column == found.Column.Name && row.Value == ref.Value && row.Path == ref.Path {
			row.Witnessed, row.Untold = found.Witnessed, found.Untold
		}
	}
	failure := report.Failure{Check: report.CheckWitness, Table: t.Name, Column: found.Column.Name}
	for _, wrong := range found.Such {
		failure.Source, failure.Row, failure.Target = wrong.Source, "["+strings.Join(wrong.Row, ", ")+"]", "["+strings.Join(wrong.Target, ", ")+"]"
		failure.Reason = fmt.Sprintf("it leads to a row of table %q with other contents than in the source", ref.Table)
		if wrong.Nobody {
			failure.Reason = fmt.Sprintf("it leads to no row of table %q, and to one in the source", ref.Table)
		}
		v.report.Add(failure)
	}
	if more := found.Wrong - int64(len(found.Such)); more > 0 {
		v.report.Failed += more
	}
}
