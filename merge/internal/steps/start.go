package phases

import (
	"context"
	"errors"
	"fmt"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// A writing is a run that fills the target.
type writing struct {
	*Job
	numbers map[string]sqlsnow.Reservation // worker numbers, by their holders
	conns   *chunk.Conns
	lease   *ledger.Lease
	run     *ledger.Run
	keys    map[string]*plan.Column // of the target, by table, where a new run gives numbers as ids
	totals  map[rowsOf]int64        // of the sources, if anybody listens
}

// reserve makes the ledger and reserves the worker numbers that a new run
// needs. It is done before the run takes its connections, for the registry may be
// the target, whose pool may have only one.
func (w *writing) reserve(ctx context.Context) error {
	holders, err := w.holders(ctx)
	for _, holder := range holders {
		if w.numbers[holder], err = sqlsnow.Reserve(ctx, w.Registry, w.Engine.Kind, w.Namespace, holder); err != nil {
			return err
		}
	}
	return err
}

// holders returns who the worker numbers are for, after a look at the databases.
func (w *writing) holders(ctx context.Context) (all []string, err error) {
	c, err := w.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	p := w.newPreflight(c)
	if err := p.check(ctx); err != nil {
		return nil, err
	}
	r, _, err := p.run(ctx)
	if err != nil {
		return nil, err
	}
	if r == nil || r.State != ledger.StateCopied {
		stops, err := p.stops(ctx)
		if err = errors.Join(err, errors.Join(stops...)); err != nil {
			return nil, err
		}
		for _, t := range numbered(w.Job) {
			w.keys[t.Name] = p.keyOf(t)
		}
	}
	if err := ledger.Of(c.Target).Make(ctx); err != nil {
		return nil, err
	}
	holders, err := p.holders(ctx)
	for _, source := range w.Plan.Sources {
		if holder, ok := holders[source]; ok {
			all = append(all, holder)
		}
	}
	return all, err
}

// begin makes the run, or finds it as an earlier process left it. It forgets those
// of other plans that have not copied anything.
func (w *writing) begin(ctx context.Context) error {
	target := w.conns.Target
	l := ledger.Of(target)
	// Numbers of forgotten source tables are not used again. MySQL keeps deleted rows for as long as any
	// transaction may see them, and an INSERT of an equal key locks the row that follows. In phase mint a later
	// transaction may have inserted that one, which waits in this process for the earlier one to commit: no server
	// finds that deadlock.
	next, err := l.NextSourceTable(ctx)
	if err != nil {
		return err
	}
	others, err := l.Abandoned(ctx, w.ID)
	if err != nil {
		return err
	}
	for _, other := range others {
		for _, text := range ledger.Forgetting() {
			err := w.lease.Transaction(ctx, target, func() error { _, err := target.ExecContext(ctx, w.Engine.SQL(text), other); return err })
			if err != nil {
				return w.Engine.Failed("forget a plan", err)
			}
		}
	}
	if w.run, err = l.Load(ctx, w.ID, w.Plan); err != nil {
		return err
	}
	if w.run == nil {
		if w.run, err = w.newRun(ctx, target, next); err != nil {
			return err
		}
		err := w.lease.Transaction(ctx, target, func() error {
			if err := w.number(ctx, l); err != nil {
				return err
			}
			return l.InsertRun(ctx, w.run, w.Text)
		})
		if errors.As(err, new(*report.RoomError)) {
			return err
		}
		if err != nil {
			return w.Engine.Failed("begin a run", err)
		}
	}
	if err := w.sameDatabases(w.run); err != nil {
		return err
	}
	if facts := w.run.Facts; facts.Namespace != w.Namespace || facts.Datacenter != w.Datacenter {
		return &snow.FieldError{
			Field: "Namespace", Value: fmt.Sprintf("%q, datacenter %d", w.Namespace, w.Datacenter),
			Bound: fmt.Sprintf("the run began with %q, datacenter %d", facts.Namespace, facts.Datacenter),
		}
	}
	return nil
}

// newRun returns a run whose source tables are numbered from next on.
func (w *writing) newRun(ctx context.Context, target *chunk.Session, next int64) (*ledger.Run, error) {
	r := &ledger.Run{ID: w.ID, State: ledger.StateRunning, Phase: ledger.PhaseMint}
	if w.Plan.Chooses() {
		r.Phase = ledger.PhaseChoose
	}
	r.Facts = ledger.Facts{Namespace: w.Namespace, Datacenter: w.Datacenter, Databases: w.Target.Names, Rows: map[string]int64{}, Assertions: map[string]string{}}
	if err := target.QueryRowContext(ctx, "SELECT "+w.Engine.Now).Scan(&r.Facts.Now); err != nil {
		return nil, w.Engine.Failed("read the clock", err)
	}
	for _, t := range w.Order {
		n, err := chunk.CountRows(ctx, target.Engine, target, t.Name)
		if err != nil {
			return nil, err
		}
		r.Facts.Rows[t.Name] = n
	}
	for _, a := range w.Assertions {
		n, err := a.measure(ctx, target)
		if err != nil {
			return nil, err
		}
		r.Facts.Assertions[a.Name] = printNumber(n)
	}
	if err := ledger.Of(target).CheckMerged(ctx, w.Plan); err != nil {
		return nil, err
	}
	for _, source := range w.Plan.Sources {
		tables, err := w.sourceTables(ctx, ledger.Of(target), source, next)
		if err != nil {
			return nil, err
		}
		r.Tables = append(r.Tables, tables...)
		next += int64(len(tables))
	}
	return r, nil
}

// number chooses the numbers of the tables whose new ids are numbers.
func (w *writing) number(ctx context.Context, l ledger.Ledger) error {
	tables := numbered(w.Job)
	if len(tables) == 0 {
		return nil
	}
	earlier, err := l.Left(ctx)
	if err != nil {
		return err
	}
	w.run.Facts.Left = map[string]ledger.Numbers{}
	for _, t := range tables {
		key := w.keys[t.Name]
		if key == nil {
			return fmt.Errorf("another run of table %q has begun and ended: try again", t.Name)
		}
		n, err := newNumbering(ctx, w.Job, w.conns, t, key, earlier[t.Name])
		if err != nil {
			return err
		}
		for source, ids := range n.ranges {
			w.run.Table(source, t.Name).Ids = ids
		}
		if n.left != nil {
			w.run.Facts.Left[t.Name] = *n.left
		}
	}
	return nil
}

// sourceTables returns the tables of a source, with the ids that their rows may get.
func (w *writing) sourceTables(ctx context.Context, l ledger.Ledger, source string, next int64) ([]*ledger.SourceTable, error) {
	var all, rekeyed []*ledger.SourceTable
	for _, table := range w.Plan.Tables {
		if table.Skip || !table.In(source) {
			continue
		}
		t := ledger.NewSourceTable(next+int64(len(all)), source, table)
		t.Packable = ledger.IsPackable(w.Engine.Kind, w.Plan, t)
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
	reserved, ok := w.numbers[holder]
	if !ok {
		return nil, fmt.Errorf("another run of source %q has begun and ended: try again", source)
	}
	if err := w.room(source, reserved); err != nil {
		return nil, err
	}
	whole := ledger.IDRange{Layout: reserved.Layout, Datacenter: w.Datacenter, Worker: reserved.Worker}
	for i, t := range rekeyed {
		t.Ids, _ = whole.Part(i, len(rekeyed))
	}
	return all, nil
}
