package phases

import (
	"context"
	"fmt"
	"strings"

	"github.com/shardsnow/snow/merge/internal/catalog"
	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/witness"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// witnessedRows is about how many rows of a table the witness looks at, unless it is to look at all.
const witnessedRows = 20_000

// witness compares where references lead by the contents of rows, see package witness.
func (v *verifying) witness(ctx context.Context) error {
	c := v.others[0]
	began := map[*plan.Table]int64{}
	for i, row := range v.report.Tables {
		began[v.run.Tables[i].Table] += row.Rows
	}
	w := &witness.Witness{Dialect: v.Engine.Kind, Plan: v.Plan, Rows: witnessedRows, Codec: v.Codecs.Of, More: func(t *plan.Table) bool {
		return v.run.Facts.Rows[t.Name] > 0 || v.later[t.Name] > 0
	}}
	if v.WitnessAll {
		w.Rows = 0
	}
	database := func(name string, s *chunk.Session) (*witness.Database, error) {
		found, err := catalog.Read(ctx, v.Engine.Kind, s, s.Engine.Databases())
		return &witness.Database{Name: name, Catalog: found, SQL: s.Engine.Table, QueryContext: s.QueryContext}, v.Engine.Failed("inspect", err)
	}
	var err error
	if w.Target, err = database("", c.Target); err != nil {
		return err
	}
	for _, name := range v.Plan.Sources {
		s, err := c.Source(ctx, name)
		if err != nil {
			return err
		}
		source, err := database(name, s)
		if err != nil {
			return dialect.OfSource(name, err)
		}
		w.Sources = append(w.Sources, source)
	}
	rows := func(t *plan.Table) int64 {
		if w.Rows == 0 {
			return began[t]
		}
		return min(began[t], w.Rows)
	}
	begin := report.Event{Kind: report.EventPhase, Phase: phaseWitness}
	for t := range began {
		begin.Total += rows(t)
	}
	v.tell(begin)
	for _, t := range v.Plan.Tables {
		if t.Skip {
			continue
		}
		progress := &Progress{v.tell, report.Event{Phase: phaseWitness, Table: t.Name, Total: rows(t)}}
		progress.begin()
		counts, err := w.Table(ctx, t, began[t])
		if err != nil {
			return v.Engine.Failed("witness references", err)
		}
		progress.event.Rows = rows(t)
		progress.end()
		for _, found := range counts {
			v.reportWitness(t, found)
		}
	}
	return nil
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
