package steps

import (
	"context"
	"errors"
	"fmt"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/numbers"
	"github.com/shardsnow/snow/merge/internal/preflight"
	"github.com/shardsnow/snow/merge/internal/work"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// A start makes a run, or finds it as an earlier process left it.
type start struct {
	*work.Job
	before   *preflight.Check               // what it found
	reserved map[string]sqlsnow.Reservation // worker numbers, by their holders
	keys     map[string]*plan.Column        // of the target, by table, where a new run gives numbers as ids
}

// reserve makes the ledger and reserves the worker numbers that a new run
// needs. It is done before the run takes its connections, for the registry may be
// the target, whose pool may have only one.
func (s *start) reserve(ctx context.Context) error {
	holders, err := s.holders(ctx)
	for _, holder := range holders {
		if s.reserved[holder], err = sqlsnow.Reserve(ctx, s.Registry, s.Engine.Kind, s.Namespace, holder); err != nil {
			return err
		}
	}
	return err
}

// holders returns who the worker numbers are for, after a look at the databases.
func (s *start) holders(ctx context.Context) (all []string, err error) {
	c, err := s.Connect(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	p := preflight.New(s.Job, c)
	s.before = p
	if err := p.Databases(ctx); err != nil {
		return nil, err
	}
	r, _, err := p.Run(ctx)
	if err != nil {
		return nil, err
	}
	if r == nil || r.State != ledger.StateCopied {
		stops, err := p.Stops(ctx)
		if err = errors.Join(err, errors.Join(stops...)); err != nil {
			return nil, err
		}
		for _, t := range numbers.Tables(s.Job) {
			s.keys[t.Name] = p.KeyOf(t)
		}
	}
	if err := ledger.Of(c.Target).Make(ctx); err != nil {
		return nil, err
	}
	holders, err := preflight.Holders(ctx, p)
	for _, source := range s.Plan.Sources {
		if holder, ok := holders[source]; ok {
			all = append(all, holder)
		}
	}
	return all, err
}

// begin makes the run, or finds it as an earlier process left it. It forgets those
// of other plans that have not copied anything.
func (s *start) begin(ctx context.Context, w *work.Writer) (*ledger.Run, error) {
	target := w.Conns.Target
	l := ledger.Of(target)
	// Numbers of forgotten source tables are not used again. MySQL keeps deleted rows for as long as any
	// transaction may see them, and an INSERT of an equal key locks the row that follows. In phase mint a later
	// transaction may have inserted that one, which waits in this process for the earlier one to commit: no server
	// finds that deadlock.
	next, err := l.NextSourceTable(ctx)
	if err != nil {
		return nil, err
	}
	others, err := l.Abandoned(ctx, w.ID)
	if err != nil {
		return nil, err
	}
	for _, other := range others {
		for _, text := range ledger.Forgetting() {
			err := w.Lease.Transaction(ctx, target, func() error { _, err := target.ExecContext(ctx, w.Engine.SQL(text), other); return err })
			if err != nil {
				return nil, w.Engine.Failed("forget a plan", err)
			}
		}
	}
	r, err := l.Load(ctx, w.ID, w.Plan)
	if err != nil {
		return nil, err
	}
	if r == nil {
		if r, err = s.newRun(ctx, target, next); err != nil {
			return nil, err
		}
		err := w.Lease.Transaction(ctx, target, func() error {
			if err := s.number(ctx, w.Conns, l, r); err != nil {
				return err
			}
			return l.InsertRun(ctx, r, w.Text)
		})
		if errors.As(err, new(*report.FitError)) {
			return nil, err
		}
		if err != nil {
			return nil, w.Engine.Failed("begin a run", err)
		}
	}
	if err := w.SameDatabases(r); err != nil {
		return nil, err
	}
	if facts := r.Facts; facts.Namespace != w.Namespace || facts.Datacenter != w.Datacenter {
		return nil, &snow.FieldError{
			Field: "Namespace", Value: fmt.Sprintf("%q, datacenter %d", w.Namespace, w.Datacenter),
			Bound: fmt.Sprintf("the run began with %q, datacenter %d", facts.Namespace, facts.Datacenter),
		}
	}
	return r, nil
}

// newRun returns a run whose source tables are numbered from next on.
func (s *start) newRun(ctx context.Context, target *chunk.Session, next int64) (*ledger.Run, error) {
	r := &ledger.Run{ID: s.ID, State: ledger.StateRunning, Phase: ledger.PhaseMint}
	if work.Chooses(s.Plan) {
		r.Phase = ledger.PhaseChoose
	}
	r.Facts = ledger.Facts{Namespace: s.Namespace, Datacenter: s.Datacenter, Databases: s.Target.Names, Rows: map[string]int64{}, Assertions: map[string]string{}}
	if err := target.QueryRowContext(ctx, "SELECT "+s.Engine.Now).Scan(&r.Facts.Now); err != nil {
		return nil, s.Engine.Failed("read the clock", err)
	}
	for _, t := range s.Order {
		n, err := chunk.CountRows(ctx, target.Engine, target, t.Name)
		if err != nil {
			return nil, err
		}
		r.Facts.Rows[t.Name] = n
	}
	for _, a := range s.Assertions {
		n, err := a.Measure(ctx, target)
		if err != nil {
			return nil, err
		}
		r.Facts.Assertions[a.Name] = work.PrintNumber(n)
	}
	if err := ledger.Of(target).CheckMerged(ctx, s.Plan); err != nil {
		return nil, err
	}
	for _, source := range s.Plan.Sources {
		tables, err := s.sourceTables(ctx, ledger.Of(target), source, next)
		if err != nil {
			return nil, err
		}
		r.Tables = append(r.Tables, tables...)
		next += int64(len(tables))
	}
	return r, nil
}

// number chooses the numbers of the tables whose new ids are numbers.
func (s *start) number(ctx context.Context, conns *chunk.Conns, l ledger.Ledger, r *ledger.Run) error {
	tables := numbers.Tables(s.Job)
	if len(tables) == 0 {
		return nil
	}
	earlier, err := l.Left(ctx)
	if err != nil {
		return err
	}
	r.Facts.Left = map[string]ledger.Numbers{}
	for _, t := range tables {
		key := s.keys[t.Name]
		if key == nil {
			return fmt.Errorf("another run of table %q has begun and ended: try again", t.Name)
		}
		n, err := numbers.Choose(ctx, s.Job, conns, t, key, earlier[t.Name])
		if err != nil {
			return err
		}
		for source, ids := range n.Ranges {
			r.Table(source, t.Name).Ids = ids
		}
		if n.Left != nil {
			r.Facts.Left[t.Name] = *n.Left
		}
	}
	return nil
}

// sourceTables returns the tables of a source, with the ids that their rows may get.
func (s *start) sourceTables(ctx context.Context, l ledger.Ledger, source string, next int64) ([]*ledger.SourceTable, error) {
	var all, rekeyed []*ledger.SourceTable
	for _, table := range s.Plan.Tables {
		if table.Skip || !table.In(source) {
			continue
		}
		t := ledger.NewSourceTable(next+int64(len(all)), source, table)
		t.Packable = ledger.IsPackable(s.Engine.Kind, s.Plan, t)
		all = append(all, t)
		if t.Rekeys && !table.IDs.AreNumbers() {
			rekeyed = append(rekeyed, t)
		}
	}
	if len(rekeyed) == 0 {
		return all, nil
	}
	holder, err := l.Holder(ctx, source)
	if err != nil {
		return nil, err
	}
	reserved, ok := s.reserved[holder]
	if !ok {
		return nil, fmt.Errorf("another run of source %q has begun and ended: try again", source)
	}
	if err := preflight.CheckRoom(s.Job, source, reserved); err != nil {
		return nil, err
	}
	whole := ledger.IDRange{Layout: reserved.Layout, Datacenter: s.Datacenter, Worker: reserved.Worker}
	for i, t := range rekeyed {
		t.Ids, _ = whole.Part(i, len(rekeyed))
	}
	return all, nil
}
