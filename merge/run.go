package merge

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// A run is what the ledger says of one plan.
type run struct {
	id     string
	state  string
	phase  string
	facts  facts
	scopes []*scope // of each table that is not skipped and each source that has it
}

// facts are what a run must know of the time at which it began.
type facts struct {
	Namespace  string            `json:"namespace,omitempty"`
	Datacenter uint64            `json:"datacenter,omitempty"`
	Now        int64             `json:"now_us"`               // of the target's clock: no date is later
	Rows       map[string]int64  `json:"rows"`                 // of the target's tables
	Assertions map[string]string `json:"assertions,omitempty"` // what they gave in the target
}

// scope returns that of a table of a source, or nil.
func (r *run) scope(source, table string) *scope {
	for _, s := range r.scopes {
		if s.source == source && s.table.Name == table {
			return s
		}
	}
	return nil
}

// of returns the scopes of a source, by table.
func (r *run) of(source string) map[string]*scope {
	all := map[string]*scope{}
	for _, s := range r.scopes {
		if s.source == source {
			all[s.table.Name] = s
		}
	}
	return all
}

// load reads a run from the ledger. It returns nil if there is none.
func (m *Merge) load(ctx context.Context, q queryer) (*run, error) {
	e := m.engine
	r := &run{id: m.run}
	var text string
	err := q.QueryRowContext(ctx, e.sql("SELECT state, phase, config FROM snow_merge_runs WHERE run = ?"), m.run).Scan(&r.state, &r.phase, &text)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, e.failed("read the ledger", err)
	}
	if err := json.Unmarshal([]byte(text), &r.facts); err != nil {
		return nil, fmt.Errorf("read the ledger: %w", err)
	}
	rows, err := q.QueryContext(ctx, e.sql(`SELECT scope, source, tbl, layout, datacenter, worker, first_sequence, end_sequence
		FROM snow_merge_scopes WHERE run = ? ORDER BY scope`), m.run)
	if err != nil {
		return nil, e.failed("read the ledger", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var source, name string
		var layout sql.NullString
		var datacenter, worker, first, end sql.NullInt64
		if err := rows.Scan(&id, &source, &name, &layout, &datacenter, &worker, &first, &end); err != nil {
			return nil, e.failed("read the ledger", err)
		}
		t := m.plan.Table(name)
		if t == nil {
			return nil, fmt.Errorf("%w: table %q is not in the plan", errLedger, name)
		}
		s := newScope(id, source, t)
		if layout.Valid {
			s.lane = lane{datacenter: uint64(datacenter.Int64), worker: uint64(worker.Int64), first: uint64(first.Int64), end: uint64(end.Int64)}
			if s.lane.layout, err = snow.ParseLayout(layout.String); err != nil {
				return nil, fmt.Errorf("read the ledger: %w", err)
			}
		}
		s.packs = m.packable(s)
		r.scopes = append(r.scopes, s)
	}
	if err := rows.Err(); err != nil {
		return nil, e.failed("read the ledger", err)
	}
	for _, t := range m.plan.Tables {
		for _, source := range m.plan.SourcesOf(t) {
			if !t.Skip && r.scope(source, t.Name) == nil {
				return nil, fmt.Errorf("%w: nothing of table %q of source %q", errLedger, t.Name, source)
			}
		}
	}
	return r, nil
}

// errLedger says that somebody else has written to the ledger.
var errLedger = errors.New("the ledger in the target is damaged")

// begin returns the run as an earlier process left it, or a new one.
func (m *Merge) begin(ctx context.Context, g *guard, w *worker, numbers map[string]sqlsnow.Reservation) (*run, error) {
	if err := m.clear(ctx, g, w.target); err != nil {
		return nil, err
	}
	r, err := m.load(ctx, w.target)
	if err != nil {
		return nil, err
	}
	if r == nil {
		if r, err = m.record(ctx, g, w, numbers); err != nil {
			return nil, err
		}
	}
	if r.facts.Namespace != m.config.Namespace || r.facts.Datacenter != m.config.Datacenter {
		return nil, &snow.FieldError{
			Field: "Namespace", Value: fmt.Sprintf("%q, datacenter %d", m.config.Namespace, m.config.Datacenter),
			Bound: fmt.Sprintf("the run began with %q, datacenter %d", r.facts.Namespace, r.facts.Datacenter),
		}
	}
	return r, nil
}

// clear forgets the runs of other plans that have not copied anything. One that
// has is [report.ErrUnfinished].
func (m *Merge) clear(ctx context.Context, g *guard, s *session) error {
	e := m.engine
	rows, err := s.QueryContext(ctx, e.sql("SELECT run, phase FROM snow_merge_runs WHERE state = ? AND run <> ?"), stateRunning, m.run)
	if err != nil {
		return e.failed("read the ledger", err)
	}
	defer rows.Close()
	var old []string
	for rows.Next() {
		var id, phase string
		if err := rows.Scan(&id, &phase); err != nil {
			return e.failed("read the ledger", err)
		}
		if phase != phaseMint {
			return fmt.Errorf("%w: %s", report.ErrUnfinished, id)
		}
		old = append(old, id)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return e.failed("read the ledger", err)
	}
	for _, id := range old {
		const scopes = " WHERE scope IN (SELECT scope FROM snow_merge_scopes WHERE run = ?)"
		for _, text := range []string{
			"DELETE FROM snow_merge_changes" + scopes, "DELETE FROM snow_merge_map" + scopes, "DELETE FROM snow_merge_packs" + scopes,
			"DELETE FROM snow_merge_batches" + scopes,
			"DELETE FROM snow_merge_scopes WHERE run = ?", "DELETE FROM snow_merge_runs WHERE run = ?",
		} {
			if err := g.transaction(ctx, s, func() error { _, err := s.ExecContext(ctx, e.sql(text), id); return err }); err != nil {
				return e.failed("forget a plan", err)
			}
		}
	}
	return nil
}

// record writes a new run into the ledger.
func (m *Merge) record(ctx context.Context, g *guard, w *worker, numbers map[string]sqlsnow.Reservation) (*run, error) {
	e, s := m.engine, w.target
	r := &run{id: m.run, state: stateRunning, phase: phaseMint}
	r.facts = facts{Namespace: m.config.Namespace, Datacenter: m.config.Datacenter, Rows: map[string]int64{}, Assertions: map[string]string{}}
	var next int64
	if err := s.QueryRowContext(ctx, "SELECT "+e.now+", COALESCE(MAX(scope), 0) + 1 FROM snow_merge_scopes").Scan(&r.facts.Now, &next); err != nil {
		return nil, e.failed("read the ledger", err)
	}
	for _, t := range m.minting {
		var n int64
		if err := s.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+e.quote(t.Name)).Scan(&n); err != nil {
			return nil, e.failed("count the target's rows", err)
		}
		r.facts.Rows[t.Name] = n
	}
	for _, a := range m.config.Assertions {
		n, err := a.measure(ctx, s)
		if err != nil {
			return nil, err
		}
		r.facts.Assertions[a.Name] = printNumber(n)
	}
	for _, source := range m.plan.Sources {
		scopes, err := m.newScopes(ctx, s, source, next, numbers)
		if err != nil {
			return nil, err
		}
		r.scopes = append(r.scopes, scopes...)
		next += int64(len(scopes))
	}
	text, err := json.Marshal(r.facts)
	if err != nil {
		return nil, err
	}
	err = g.transaction(ctx, s, func() error {
		if _, err := s.ExecContext(ctx, e.sql(`INSERT INTO snow_merge_runs (run, plan, config, state, phase, started_us, ended_us)
			VALUES (?, ?, ?, ?, ?, `+strconv.FormatInt(r.facts.Now, 10)+", 0)"), m.run, m.text, string(text), r.state, r.phase); err != nil {
			return err
		}
		for _, sc := range r.scopes {
			args := []any{sc.id, m.run, sc.source, sc.table.Name, nil, nil, nil, nil, nil}
			if sc.mints {
				l := sc.lane
				args = append(args[:4], l.layout.String(), int64(l.datacenter), int64(l.worker), int64(l.first), int64(l.end))
			}
			if _, err := s.ExecContext(ctx, e.sql(`INSERT INTO snow_merge_scopes (scope, run, source, tbl, layout, datacenter, worker,
				first_sequence, end_sequence) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`), args...); err != nil {
				return err
			}
		}
		return nil
	})
	return r, e.failed("begin a run", err)
}

// newScopes returns the scopes of a source, with the ids that it can mint.
func (m *Merge) newScopes(ctx context.Context, s *session, source string, next int64, numbers map[string]sqlsnow.Reservation) ([]*scope, error) {
	e := m.engine
	var all, minting []*scope
	for _, t := range m.plan.Tables {
		if t.Skip || !t.In(source) {
			continue
		}
		var n int
		if err := s.QueryRowContext(ctx, e.sql("SELECT COUNT(*) FROM snow_merge_scopes WHERE source = ? AND tbl = ?"), source, t.Name).Scan(&n); err != nil {
			return nil, e.failed("read the ledger", err)
		}
		if n > 0 {
			return nil, fmt.Errorf("%w: source %q, table %q", report.ErrMerged, source, t.Name)
		}
		sc := newScope(next+int64(len(all)), source, t)
		sc.packs = m.packable(sc)
		all = append(all, sc)
		if sc.mints {
			minting = append(minting, sc)
		}
	}
	if len(minting) == 0 {
		return all, nil
	}
	holder, err := m.holder(ctx, s, source)
	if err != nil {
		return nil, err
	}
	reserved, ok := numbers[holder]
	if !ok {
		return nil, fmt.Errorf("another run of source %q has begun and ended: try again", source)
	}
	if highest := uint64(1)<<reserved.Layout.Bits().Datacenter - 1; m.config.Datacenter > highest {
		return nil, &snow.FieldError{Field: "Datacenter", Value: strconv.FormatUint(m.config.Datacenter, 10), Bound: "the highest of the layout is " + strconv.FormatUint(highest, 10)}
	}
	whole := lane{layout: reserved.Layout, datacenter: m.config.Datacenter, worker: reserved.Worker}
	for i, sc := range minting {
		var ok bool
		if sc.lane, ok = whole.part(i, len(minting)); !ok {
			return nil, &plan.Error{Reason: fmt.Sprintf("source %q mints for %d tables, and ids of layout %v have no room for more than %d", source, len(minting), reserved.Layout, 1<<reserved.Layout.Bits().Sequence)}
		}
	}
	return all, nil
}

// reserve makes the ledger and reserves the worker numbers that a new run
// needs, by their holders. It is done before the run takes its connections, for
// the registry may be the target, whose pool may have only one.
func (m *Merge) reserve(ctx context.Context) (map[string]sqlsnow.Reservation, error) {
	holders, err := m.holders(ctx)
	if err != nil {
		return nil, err
	}
	numbers := map[string]sqlsnow.Reservation{}
	for _, holder := range holders {
		if numbers[holder], err = sqlsnow.Reserve(ctx, m.config.Registry, m.engine.dialect, m.config.Namespace, holder); err != nil {
			return nil, err
		}
	}
	return numbers, nil
}

func (m *Merge) holders(ctx context.Context) (all []string, err error) {
	s, err := m.engine.openSession(ctx, m.target, m.engine.target)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := m.engine.makeLedger(ctx, s); err != nil {
		return nil, err
	}
	if r, err := m.load(ctx, s); err != nil || r != nil {
		return nil, err
	}
	for _, source := range m.plan.Sources {
		if !slices.ContainsFunc(m.minting, func(t *plan.Table) bool { return t.In(source) && t.Mints(source) }) {
			continue
		}
		holder, err := m.holder(ctx, s, source)
		if err != nil {
			return nil, err
		}
		all = append(all, holder)
	}
	return all, nil
}

// holder is who a worker number is reserved for. It is one run's on one target
// alone, for another one would begin at the same ticks.
func (m *Merge) holder(ctx context.Context, q queryer, source string) (string, error) {
	var target string
	var before int
	err := q.QueryRowContext(ctx, m.engine.sql(`SELECT target, (SELECT COUNT(DISTINCT run) FROM snow_merge_scopes WHERE source = ? AND worker IS NOT NULL
		AND run IN (SELECT run FROM snow_merge_runs WHERE state = ?)) FROM snow_merge_lease WHERE id = 1`), source, stateCopied).Scan(&target, &before)
	if err != nil {
		return "", m.engine.failed("read the ledger", err)
	}
	return "merge " + source + " #" + strconv.Itoa(before+1) + " into " + target, nil
}

// enter writes down that the run has come to a phase.
func (m *Merge) enter(ctx context.Context, g *guard, s *session, r *run, state, phase string) error {
	err := g.transaction(ctx, s, func() error {
		ended := "0"
		if state == stateCopied {
			ended = m.engine.now
		}
		_, err := s.ExecContext(ctx, m.engine.sql("UPDATE snow_merge_runs SET state = ?, phase = ?, ended_us = "+ended+" WHERE run = ?"), state, phase, m.run)
		return err
	})
	if err != nil {
		return m.engine.failed("begin a phase", err)
	}
	r.state, r.phase = state, phase
	return nil
}

// fits returns a [*plan.Error] if a table or a column of the plan is missing in
// a source or in the target.
func (m *Merge) fits(ctx context.Context, w *worker) error {
	var errs []error
	for _, t := range m.minting {
		look := func(q queryer, where string, columns []*plan.Column) {
			text := "SELECT " + m.engine.selectList(columns) + " FROM " + m.engine.quote(t.Name) + " WHERE 1 = 0"
			_, err := m.engine.readAll(ctx, q, text, columns, nil)
			if err != nil && m.engine.absent(sqldialect.Code(err)) {
				err = &plan.Error{Table: t.Name, Reason: where + " does not have it as the plan says: " + err.Error()}
			}
			if err = m.engine.failed("look at table "+strconv.Quote(t.Name)+" of "+where, err); err != nil {
				errs = append(errs, err)
			}
		}
		look(w.target, "the target", slices.DeleteFunc(slices.Clone(t.Columns), func(c *plan.Column) bool { return c.Generated != "" }))
		for _, source := range m.plan.SourcesOf(t) {
			q, err := w.source(ctx, source)
			if err != nil {
				return err
			}
			look(q, "source "+strconv.Quote(source), newScope(0, source, t).columns)
		}
	}
	return errors.Join(errs...)
}
