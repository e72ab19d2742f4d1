package verify

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/shardsnow/snow/merge/internal/catalog"
	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/witness"
	"github.com/shardsnow/snow/merge/internal/work"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// witnessReferences compares where references lead by the contents of rows, several tables at a time, see package
// witness.
func witnessReferences(ctx context.Context, v *verifying) error {
	began := map[*plan.Table]int64{}
	for i, row := range v.report.Tables {
		began[v.run.Tables[i].Table] += row.Rows
	}
	most := cmp.Or(witnessedRows(v.Job), math.MaxInt64)
	begin := report.Event{Kind: report.EventPhase, Phase: work.PhaseWitness}
	for _, n := range began {
		begin.Total += min(n, most)
	}
	v.Tell(begin)
	witnesses, err := newWitnesses(ctx, v)
	if err != nil {
		return err
	}
	counts := make([][]witness.Counts, len(v.Plan.Tables))
	if err := work.ParallelEach(ctx, v.others, len(counts), func(ctx context.Context, c *chunk.Conns, i int) (err error) {
		t := v.Plan.Tables[i]
		if t.Skip {
			return nil
		}
		progress := v.TableProgress(work.PhaseWitness, t, min(began[t], most))
		progress.Begin()
		if counts[i], err = witnesses[c].Table(ctx, t, began[t]); err != nil {
			return v.Engine.Failed("witness references", err)
		}
		progress.EndAt(min(began[t], most))
		return nil
	}); err != nil {
		return err
	}
	for i, t := range v.Plan.Tables {
		for _, found := range counts[i] {
			reportWitness(v.report, t, found)
		}
	}
	return nil
}

// witnessedRows returns about how many rows of a table the witness looks at, or 0 for all.
func witnessedRows(j *work.Job) int64 {
	if j.WitnessAll {
		return 0
	}
	return 20_000
}

// newWitnesses returns one for each of the sessions. They share what is known of the databases.
func newWitnesses(ctx context.Context, v *verifying) (map[*chunk.Conns]*witness.Witness, error) {
	catalogs, known := map[string]*catalog.Catalog{}, new(witness.Contents)
	database := func(name string, s *chunk.Session) (_ *witness.Database, err error) {
		if catalogs[name] == nil {
			if catalogs[name], err = catalog.Read(ctx, v.Engine.Kind, s, s.Engine.Databases()); err != nil {
				return nil, v.Engine.Failed("inspect", err)
			}
		}
		return &witness.Database{Name: name, Catalog: catalogs[name], SQL: s.Engine.Table, QueryContext: s.QueryContext}, nil
	}
	all := map[*chunk.Conns]*witness.Witness{}
	for _, c := range v.others {
		w := &witness.Witness{
			Dialect: v.Engine.Kind, Plan: v.Plan, Rows: witnessedRows(v.Job), Known: known, Codec: v.Codecs.Of,
			More: func(t *plan.Table) bool { return v.run.Facts.Rows[t.Name] > 0 || v.later[t.Name] > 0 },
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
		all[c] = w
	}
	return all, nil
}

// reportWitness reports what the witness has found of one kind of reference.
func reportWitness(to *report.Report, t *plan.Table, found witness.Counts) {
	ref := found.Column.Refers[found.Ref]
	for i := range to.References {
		if row := &to.References[i]; row.Table == t.Name && row.Column == found.Column.Name && row.Value == ref.Value && row.Path == ref.Path {
			row.Witnessed, row.Undetermined = found.Witnessed, found.Undetermined
		}
	}
	failure := report.Failure{Check: report.CheckWitness, Table: t.Name, Column: found.Column.Name}
	for _, wrong := range found.Such {
		failure.Source, failure.Row, failure.Target = wrong.Source, "["+strings.Join(wrong.Row, ", ")+"]", "["+strings.Join(wrong.Target, ", ")+"]"
		failure.Reason = fmt.Sprintf("it leads to a row of table %q with other contents than in the source", ref.Table)
		if wrong.Nobody {
			failure.Reason = fmt.Sprintf("it leads to no row of table %q, and to one in the source", ref.Table)
		}
		to.Add(failure)
	}
	if more := found.Wrong - int64(len(found.Such)); more > 0 {
		to.Failed += more
	}
}
