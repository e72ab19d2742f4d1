package merge

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// mint decides, for each row of each source, what id it has in the target, what
// it is called there, and whether it is copied at all. It cuts tables into the
// ranges that the later phases go by.
func (m *Merge) mint(ctx context.Context, g *guard, r *run, w *worker) error {
	m.teller.tell(report.Event{Kind: report.EventPhase, Phase: phaseMint, Total: -1})
	sources := map[string]queryer{}
	for _, s := range m.sources {
		q, err := w.source(ctx, s.Name)
		if err != nil {
			return err
		}
		sources[s.Name] = q
	}
	ids := &mapped{e: m.engine, ledger: w.target, scope: func(source, table string) (int64, bool) {
		s := r.scope(source, table)
		if s == nil {
			return 0, false
		}
		return s.id, true
	}}
	clashes := newClasher(m.engine, m.plan, w.target, sources, ids)
	for _, t := range m.minting {
		order, err := m.plan.Precedence(t)
		if err != nil {
			return err
		}
		for _, source := range order {
			s := r.scope(source, t.Name)
			if err := clashes.resume(ctx, w.target, s.id, t, source); err != nil {
				return err
			}
		}
		for _, source := range order {
			w.resolver = newResolver(m.engine) // rows that were kept before may have been decided on since
			if err := m.mintScope(ctx, g, r, w, clashes, r.scope(source, t.Name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// mintScope goes through one table of one source.
func (m *Merge) mintScope(ctx context.Context, g *guard, r *run, w *worker, clashes *clasher, whole *scope) error {
	seen, err := m.rowsOf(ctx, w.target, phaseMint, whole.id)
	if err != nil {
		return err
	}
	event := report.Event{Kind: report.EventTable, Phase: phaseMint, Source: whole.source, Table: whole.table.Name, Rows: seen, Total: -1}
	m.teller.tell(event)
	byServer, err := m.mintByServer(ctx, g, r, w, clashes, whole, &event)
	if err != nil {
		return err
	}
	if byServer != nil {
		if err := m.mintRows(ctx, g, r, w, clashes, whole, &event); err != nil {
			if errors.Is(byServer, errUnlike) {
				return err
			}
			return errors.Join(m.engine.failed("mint", byServer), err) // it may be what follows from the first
		}
	}
	event.Kind, event.Batch, event.Took, event.Total = report.EventEnd, 0, 0, event.Rows
	m.teller.tell(event)
	return nil
}

// mintByServer returns why the server did not mint all of a scope, or nil if it
// did. An error is one that ends the run.
func (m *Merge) mintByServer(ctx context.Context, g *guard, r *run, w *worker, clashes *clasher, s *scope, event *report.Event) (why, err error) {
	c, err := m.cutter(ctx, g, r, w, clashes, s)
	if err != nil || c == nil {
		return errUnlike, err
	}
	for tries := 1; ; tries++ {
		last, _, err := m.engine.lastBatch(ctx, w.target, s.id)
		if err != nil {
			return nil, err
		}
		c.event = *event
		why = c.all(ctx, last)
		*event = c.event
		if ctx.Err() != nil || errors.As(why, new(*report.OvertakenError)) {
			return nil, why
		}
		if why == nil || tries == mostTries || !m.engine.isBusy(why) {
			return why, nil
		}
	}
}

// mintRows goes through the rest of a scope, row by row.
func (m *Merge) mintRows(ctx context.Context, g *guard, r *run, w *worker, clashes *clasher, whole *scope, event *report.Event) error {
	needs := clashes.needs(whole.table, whole.source)
	s := whole.only(func(c *plan.Column) bool {
		return slices.Contains(needs, c) || c.DropsRows() || whole.mints && c.Name == whole.table.Created
	})
	last, _, err := m.engine.lastBatch(ctx, w.target, s.id)
	if err != nil {
		return err
	}
	p, err := m.newPass(r, s, last)
	if err != nil {
		return err
	}
	p.clashes = clashes
	if p.rewriter, err = w.rewriter(ctx, r, s); err != nil {
		return err
	}
	pace := newThrottle(m.config.BatchRows, m.config.BatchTime)
	ahead := &ahead{worker: w, scope: s}
	defer ahead.wait()
	for {
		if err := m.brake.wait(ctx, m.teller.tell); err != nil {
			return err
		}
		start := time.Now()
		rows, more, err := ahead.take(ctx, p.after, pace.size())
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			break
		}
		if err := p.decide(ctx, rows); err != nil {
			return err
		}
		if more { // the source is not needed for what comes next
			ahead.begin(ctx, p.after, pace.size())
		}
		err = g.transaction(ctx, w.target, func() error { return p.write(ctx, w) })
		if err != nil {
			return m.engine.failed("mint", err)
		}
		took := time.Since(start)
		pace.observe(len(rows), 0, took)
		event.Kind, event.Batch, event.Took = report.EventBatch, len(rows), took
		event.Rows += int64(len(rows))
		m.teller.tell(*event)
		if !more {
			break
		}
	}
	return nil
}

// ahead reads the next rows of a scope while the last ones are written.
type ahead struct {
	worker *worker
	scope  *scope
	group  sync.WaitGroup
	begun  bool
	limit  int
	rows   [][]any
	err    error
}

func (a *ahead) begin(ctx context.Context, after []any, size int) {
	if a.limit = size; a.limit > rangeRows {
		a.limit -= a.limit % rangeRows
	}
	a.begun = true
	a.group.Go(func() { a.rows, a.err = a.worker.read(ctx, a.scope, after, nil, a.limit) })
}

func (a *ahead) wait() { a.group.Wait() }

// take returns rows, and whether there may be more.
func (a *ahead) take(ctx context.Context, after []any, size int) ([][]any, bool, error) {
	if !a.begun {
		a.begin(ctx, after, size)
	}
	a.wait()
	a.begun = false
	return a.rows, len(a.rows) == a.limit, a.err
}

// rowsOf returns how many rows of scopes a phase has dealt with.
func (m *Merge) rowsOf(ctx context.Context, q queryer, phase string, scopes ...int64) (n int64, err error) {
	condition, args := m.engine.anyOf("scope", scopes)
	text := "SELECT COALESCE(SUM(rows_read), 0) FROM snow_merge_batches WHERE phase = '" + phase + "' AND " + condition
	err = q.QueryRowContext(ctx, text, args...).Scan(&n)
	return n, m.engine.failed("read the ledger", err)
}

// A pass is the way of phase mint through one scope.
type pass struct {
	*scope
	engine   *engine
	clashes  *clasher
	rewriter *rewriter
	minter   minter
	created  int // the column that dates ids; -1 if there is none
	zone     *time.Location

	after []any // the last primary key that was decided on
	seq   int64 // of its range

	// What the rows of the next transaction become.
	entries []entry
	changes []change
	ranges  []batch
}

func (m *Merge) newPass(r *run, s *scope, last batch) (*pass, error) {
	p := &pass{scope: s, engine: m.engine, created: -1, zone: time.UTC, after: last.hi, seq: last.seq}
	if !s.mints {
		return p, nil
	}
	p.minter = minter{lane: s.lane, tick: -1}
	p.minter.now = s.lane.since(time.UnixMicro(r.facts.Now))
	if last.seq > 0 {
		p.minter.tick, p.minter.sequence = last.tick, uint64(last.sequence)
	}
	if p.created = s.position(s.table.Created); p.created < 0 {
		return p, nil
	}
	var err error
	if s.table.Zone != "" && !zoned(m.engine.dialect, s.columns[p.created]) {
		p.zone, err = time.LoadLocation(s.table.Zone)
	}
	return p, err
}

// zoned reports whether the values of a column are in UTC, in sessions of ours,
// whatever people say.
func zoned(d sqlsnow.Dialect, c *plan.Column) bool {
	return d == sqlsnow.MySQL && mysqlType(c) == "timestamp"
}

// decide says what rows become, which have a value for each column of the scope.
func (p *pass) decide(ctx context.Context, rows [][]any) error {
	p.entries, p.changes, p.ranges = p.entries[:0], p.changes[:0], p.ranges[:0]
	all := make([]row, len(rows))
	for i, values := range rows {
		all[i] = row{key: p.rowKey(values), old: values, new: slices.Clone(values), fate: kept}
	}
	if err := p.rewriter.references(ctx, p.scope, all, (*plan.Column).DropsRows); err != nil {
		return err
	}
	var alive [][]any
	for _, r := range all {
		if r.fate != dropped {
			alive = append(alive, r.old)
		}
	}
	verdicts, err := p.clashes.decide(ctx, p.table, p.source, p.columns, alive)
	if err != nil {
		return err
	}
	for n := 0; len(all) > 0; {
		b := batch{scope: p.id, phase: phaseMint, lo: p.after}
		part := all[:min(rangeRows, len(all))]
		all = all[len(part):]
		p.seq++
		p.minter.late = 0
		for _, r := range part {
			var v verdict
			if r.fate != dropped {
				v, n = verdicts[n], n+1
			}
			if err := p.settle(r, v, &b); err != nil {
				return err
			}
		}
		p.after = part[len(part)-1].key
		b.seq, b.hi, b.read = p.seq, p.after, int64(len(part))
		b.tick, b.sequence, b.late = p.minter.tick, int64(p.minter.sequence), p.minter.late.Microseconds()
		p.ranges = append(p.ranges, b)
	}
	return nil
}

// settle decides on one row.
func (p *pass) settle(r row, v verdict, b *batch) error {
	if v.failed != nil {
		return v.failed
	}
	if slices.Contains(r.key, nil) {
		return &report.RowError{Source: p.source, Table: p.table.Name, Row: keyText(r.key), Err: errNull}
	}
	left := func(kind string, after any) {
		p.changes = append(p.changes, change{row: rowText(r.key), kind: kind, seq: p.seq, before: keyText(r.key), after: after})
	}
	var old int64
	if p.maps {
		var ok bool
		if old, ok = r.old[p.key].(int64); !ok {
			return &report.RowError{Source: p.source, Table: p.table.Name, Row: keyText(r.key), Err: errKey}
		}
	}
	switch {
	case r.fate == dropped:
		b.dropped++
		if p.maps {
			p.entries = append(p.entries, entry{old: old, kind: kindDropped})
		} else {
			left(changeDropped, nil)
		}
		return nil
	case v.merged:
		b.merged++
		if p.maps {
			p.entries = append(p.entries, entry{old, v.winner.key, kindMerged})
		} else {
			left(changeMerged, keyText(v.winnerKey))
		}
		return nil
	}
	for _, name := range v.renames {
		p.changes = append(p.changes, change{row: rowText(r.key), column: name.column.Name, kind: changeRenamed, seq: p.seq, before: name.before, after: name.after})
	}
	if !p.mints {
		return nil
	}
	b.minted++
	var created time.Time
	dated := false
	if p.created >= 0 {
		created, dated = parseDate(r.old[p.created], p.zone)
	}
	id, err := p.minter.next(old, created, dated)
	if err != nil {
		return &report.RowError{Source: p.source, Table: p.table.Name, Row: keyText(r.key), Err: err}
	}
	p.entries = append(p.entries, entry{old, int64(id), kindMinted})
	return nil
}

func (p *pass) write(ctx context.Context, w *worker) error {
	if err := w.insertMap(ctx, p.id, p.entries); err != nil {
		return err
	}
	if err := p.engine.insertChanges(ctx, w.target, p.id, p.changes); err != nil {
		return err
	}
	return p.engine.insertBatches(ctx, w.target, p.ranges)
}
