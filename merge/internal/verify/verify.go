package verify

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/earlier"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/preflight"
	"github.com/shardsnow/snow/merge/internal/settle"
	"github.com/shardsnow/snow/merge/internal/work"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

var errNotRun = errors.New("the plan was never run on the target")

// Verify compares the target with what the sources, the plan and the ledger say.
func Verify(ctx context.Context, j *work.Job) (*report.Report, error) {
	v := &verifying{Job: j, report: &report.Report{Run: j.ID, Sources: j.Plan.Sources, Started: time.Now().UTC()}}
	if err := v.verify(ctx); err != nil {
		return nil, err
	}
	if v.kept != nil {
		v.kept.After = v.report.After
		return v.kept, nil
	}
	v.report.Finished = time.Now().UTC()
	v.report.Phases = append(v.report.Phases, v.ownPhase())
	return v.report, nil
}

// ownPhase returns how long verification took.
func (v *verifying) ownPhase() report.Phase {
	p := report.Phase{Name: ledger.PhaseVerify, Began: v.report.Started, Ended: v.report.Finished}
	for _, row := range v.report.Tables {
		p.Rows += row.Rows
	}
	return p
}

func (v *verifying) verify(ctx context.Context) (err error) {
	if v.first, err = v.Connect(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, v.first.Close()) }()
	target := v.first.Target
	if v.run, err = ledger.Of(target).Load(ctx, v.ID, v.Plan); err != nil {
		return err
	}
	if v.run == nil {
		return errNotRun
	}
	if err := v.SameDatabases(v.run); err != nil {
		return err
	}
	if v.run.State != ledger.StateCopied {
		v.report.Add(report.Failure{Check: report.CheckComplete, Reason: "the run has not ended: it is in phase " + v.run.Phase})
		return nil
	}
	if v.report.After, err = work.Statements(ctx, v.Job, ledger.Of(target)); err != nil {
		return err
	}
	if before, err := verified(ctx, v.Job, target); err != nil || before != nil {
		v.kept = before
		return err
	}
	v.others = []*chunk.Conns{v.first} // of SQLite there may be one connection only
	if v.Writers > 1 {
		v.others = nil
		for range v.Writers {
			c, err := v.Connect(ctx)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, c.Close()) }()
			v.others = append(v.others, c)
		}
	}
	if v.sound, err = soundReferences(ctx, v); err != nil {
		return err
	}
	begin := report.Event{Kind: report.EventPhase, Phase: ledger.PhaseVerify}
	for _, t := range v.run.Tables {
		all, err := ledger.Of(target).Done(ctx, t, ledger.PhaseMint)
		if err != nil {
			return err
		}
		begin.Total += all.Read
	}
	v.Tell(begin)
	v.pages = work.PagesOf(v.others)
	return v.compare(ctx, target)
}

// compare compares all tables, and then what the tables refer to.
func (v *verifying) compare(ctx context.Context, target *chunk.Session) (err error) {
	v.sets = newMultisets(v.run)
	tables := make([]*tableCheck, len(v.run.Tables))
	for i, t := range v.run.Tables {
		if t.Changed, err = ledger.Of(target).HasChanges(ctx, t); err != nil {
			return err
		}
		if tables[i], err = v.newTableCheck(ctx, t); err != nil {
			return err
		}
	}
	if err := work.Parallel(ctx, v.others, func(ctx context.Context, c *chunk.Conns) error {
		for _, f := range tables {
			if err := v.chunks(ctx, f, c, nil); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	found, rows := make([]*findings, len(tables)), make([]report.Table, len(tables))
	if err := work.ParallelEach(ctx, v.others, len(tables), func(ctx context.Context, c *chunk.Conns, i int) (err error) {
		found[i] = tables[i].total
		rows[i], err = v.table(ctx, c, tables[i])
		return err
	}); err != nil {
		return err
	}
	for _, f := range found {
		v.addFailures(f)
	}
	v.report.Tables = rows
	if err := findMultisets(ctx, v, found); err != nil {
		return err
	}
	if err := compareCombined(ctx, v); err != nil {
		return err
	}
	if err := countTables(ctx, v, target, found); err != nil {
		return err
	}
	triggers, err := preflight.New(v.Job, v.others[0]).Running(ctx)
	if err != nil {
		return err
	}
	v.report.Open = append(v.OpenInPlan(), triggers...)
	reportReferences(v, found)
	if err := witnessReferences(ctx, v); err != nil {
		return err
	}
	for i, t := range v.run.Tables {
		left, err := v.Leftovers(ctx, v.others[0], t, found[i].seen)
		if err != nil {
			return err
		}
		v.report.Open = append(v.report.Open, left...)
	}
	renamed, err := settle.ReadRenamed(ctx, ledger.Of(target), v.Plan, v.run)
	if err != nil {
		return err
	}
	names, behind, err := settle.OldNames(ctx, v.Job, v.others[0], nil, renamed, nil)
	if err != nil {
		return err
	}
	v.report.OldNames, v.report.Open = names, work.InOrder(append(v.report.Open, behind...))
	if err := earlier.Compare(ctx, v.Job, v.run, v.others[0], v.report); err != nil {
		return err
	}
	if err := reportDecided(ctx, v, ledger.Of(target)); err != nil {
		return err
	}
	return assert(ctx, v, target)
}

func (v *verifying) newTableCheck(ctx context.Context, t *ledger.SourceTable) (*tableCheck, error) {
	all, err := ledger.Of(v.first.Target).Done(ctx, t, ledger.PhaseMint)
	return newTableCheck(t, all, v.Pace(), v.Progress(ledger.PhaseVerify, t, 0, all.Read)), err
}

// table looks at one table of one source as a whole, whose rows were compared.
func (v *verifying) table(ctx context.Context, c *chunk.Conns, f *tableCheck) (row report.Table, err error) {
	t, total := f.Table, f.total
	f.Begin()
	if t.Table.Empty {
		n, err := work.CountSource(ctx, c, t)
		f.Progress.End()
		return report.Table{Table: t.Table.Name, Source: t.Source, Rows: n, Dropped: n}, err
	}
	f.ascends()
	if err := checkSource(ctx, c, t, f.last, total); err != nil {
		return row, err
	}
	if err := checkLinked(ctx, v, ledger.Of(c.Target), t, total); err != nil {
		return row, err
	}
	if t.Key >= 0 {
		if err := checkMap(ctx, c.Target, t, total); err != nil {
			return row, err
		}
	}
	row = report.Table{
		Table: t.Table.Name, Source: t.Source, Rows: total.Read, Copied: total.Written, Rekeyed: total.Rekeyed, Merged: total.Merged,
		Dropped: total.Dropped, Renamed: total.renamed, Displacement: time.Duration(f.minted.Late) * time.Microsecond,
	}
	row.Hash, row.Found = total.want.String(), total.found.String()
	if t.Rekeys {
		row.IDs = cmp.Or(t.Ids.IDs, plan.IDsSnow)
	}
	switch {
	case t.Rekeys && t.Ids.IDs == plan.IDsOffset:
		row.Offset = &t.Ids.Offset
	case t.Rekeys && !t.Ids.IDs.AreNumbers():
		row.Worker = &t.Ids.Worker
	}
	f.Progress.EndAt(total.Read)
	return row, nil
}

// checkLinked tests whether the references that were NULL at first are set.
func checkLinked(ctx context.Context, v *verifying, l ledger.Ledger, t *ledger.SourceTable, total *findings) error {
	if !slices.ContainsFunc(v.Stages, func(st plan.Stage) bool { return st.Table == t.Table && len(st.Deferred) > 0 }) {
		return nil
	}
	open, err := l.Pending(ctx, t, ledger.PhaseLink, 0, 1)
	if err == nil && len(open) > 0 {
		total.fail(t.Failure(report.CheckComplete, open[0].Hi, "references of the rows up to this one are not set"))
	}
	return err
}
