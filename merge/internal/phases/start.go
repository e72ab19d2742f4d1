package phases

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// A start makes the run of a job, or finds it as an earlier process left it.
type start struct {
	*Job
	numbers map[string]sqlsnow.Reservation // worker numbers, by their holders
}

// reserve makes the ledger and reserves the worker numbers that a new run
// needs. It is done before the run takes its connections, for the registry may be
// the target, whose pool may have only one.
func (s *start) reserve(ctx context.Context) error {
	holders, err := s.holders(ctx)
	s.numbers = map[string]sqlsnow.Reservation{}
	for _, holder := range holders {
		if s.numbers[holder], err = sqlsnow.Reserve(ctx, s.Registry, s.Engine.Kind, s.Namespace, holder); err != nil {
			return err
		}
	}
	return err
}

func (s *start) holders(ctx context.Context) (all []string, err error) {
	c, err := s.conns(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	l := ledger.Of(c.Target)
	if err := l.Make(ctx); err != nil {
		return nil, err
	}
	if r, err := l.Load(ctx, s.ID, s.Plan); err != nil || r != nil {
		return nil, err
	}
	for _, source := range s.Plan.Sources {
		if !slices.ContainsFunc(s.Order, func(t *plan.Table) bool { return t.In(source) && t.Rekeys(source) }) {
			continue
		}
		holder, err := l.Holder(ctx, source)
		if err != nil {
			return nil, err
		}
		all = append(all, holder)
	}
	return all, nil
}

// begin returns the run. It forgets those of other plans that have not copied
// anything.
func (s *start) begin(ctx context.Context, lease *ledger.Lease, target *chunk.Session) (*ledger.Run, error) {
	l := ledger.Of(target)
	// Numbers of forgotten source tables are not used again. MySQL keeps deleted rows for as long as any transaction may see
	// them, and an INSERT of an equal key locks the row that follows. In phase mint a later transaction may have inserted
	// that one, which waits in this process for the earlier one to commit: no server finds that deadlock.
	next, err := l.NextSourceTable(ctx)
	if err != nil {
		return nil, err
	}
	others, err := l.Abandoned(ctx, s.ID)
	if err != nil {
		return nil, err
	}
	for _, other := range others {
		for _, text := range ledger.Forgetting() {
			err := lease.Transaction(ctx, target, func() error { _, err := target.ExecContext(ctx, s.Engine.SQL(text), other); return err })
			if err != nil {
				return nil, s.Engine.Failed("forget a plan", err)
			}
		}
	}
	r, err := l.Load(ctx, s.ID, s.Plan)
	if err != nil {
		return nil, err
	}
	if r == nil {
		if r, err = s.newRun(ctx, target, next); err != nil {
			return nil, err
		}
		if err := lease.Transaction(ctx, target, func() error { return l.InsertRun(ctx, r, s.Text) }); err != nil {
			return nil, s.Engine.Failed("begin a run", err)
		}
	}
	if r.Facts.Namespace != s.Namespace || r.Facts.Datacenter != s.Datacenter {
		return nil, &snow.FieldError{
			Field: "Namespace", Value: fmt.Sprintf("%q, datacenter %d", s.Namespace, s.Datacenter),
			Bound: fmt.Sprintf("the run began with %q, datacenter %d", r.Facts.Namespace, r.Facts.Datacenter),
		}
	}
	return r, nil
}

// newRun returns a run whose source tables are numbered from next on.
func (s *start) newRun(ctx context.Context, target *chunk.Session, next int64) (*ledger.Run, error) {
	r := &ledger.Run{ID: s.ID, State: ledger.StateRunning, Phase: ledger.PhaseMint}
	r.Facts = ledger.Facts{Namespace: s.Namespace, Datacenter: s.Datacenter, Rows: map[string]int64{}, Assertions: map[string]string{}}
	if err := target.QueryRowContext(ctx, "SELECT "+s.Engine.Now).Scan(&r.Facts.Now); err != nil {
		return nil, s.Engine.Failed("read the clock", err)
	}
	for _, t := range s.Order {
		n, err := chunk.CountRows(ctx, s.Engine, target, t.Name)
		if err != nil {
			return nil, err
		}
		r.Facts.Rows[t.Name] = n
	}
	for _, a := range s.Assertions {
		n, err := a.measure(ctx, target)
		if err != nil {
			return nil, err
		}
		r.Facts.Assertions[a.Name] = printNumber(n)
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

// sourceTables returns the tables of a source, with the ids that their rows may get.
func (s *start) sourceTables(ctx context.Context, l ledger.Ledger, source string, next int64) ([]*ledger.SourceTable, error) {
	var all, rekeyed []*ledger.SourceTable
	for _, table := range s.Plan.Tables {
		if table.Skip || !table.In(source) {
			continue
		}
		if other, _, err := l.Merged(ctx, source, table.Name); err != nil {
			return nil, err
		} else if other > 0 {
			return nil, fmt.Errorf("%w: source %q, table %q", report.ErrMerged, source, table.Name)
		}
		t := ledger.NewSourceTable(next+int64(len(all)), source, table)
		t.Packable = ledger.IsPackable(s.Engine.Kind, s.Plan, t)
		all = append(all, t)
		if t.Rekeys {
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
	reserved, ok := s.numbers[holder]
	if !ok {
		return nil, fmt.Errorf("another run of source %q has begun and ended: try again", source)
	}
	if highest := uint64(1)<<reserved.Layout.Bits().Datacenter - 1; s.Datacenter > highest {
		return nil, &snow.FieldError{Field: "Datacenter", Value: strconv.FormatUint(s.Datacenter, 10), Bound: "the highest of the layout is " + strconv.FormatUint(highest, 10)}
	}
	whole := ledger.IDRange{Layout: reserved.Layout, Datacenter: s.Datacenter, Worker: reserved.Worker}
	for i, t := range rekeyed {
		if t.Ids, ok = whole.Part(i, len(rekeyed)); !ok {
			return nil, &plan.Error{Reason: fmt.Sprintf("source %q mints for %d tables, and ids of layout %v have no room for more than %d", source, len(rekeyed), reserved.Layout, 1<<reserved.Layout.Bits().Sequence)}
		}
	}
	return all, nil
}
