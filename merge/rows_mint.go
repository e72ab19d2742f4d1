package merge

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
)

var errNull = errors.New("its primary key has a NULL, as SQLite allows: no row can be found by that")

// A rowMinter decides what becomes of the rows of a source table.
type rowMinter struct {
	work
	rewriter *rewriter
	writer   mapWriter
	part     *SourceTable // the same table with the columns that decide
	ids      newIDs       // where the rows get new ids
	created  int          // the column of part that dates them; -1 if there is none
	zone     *time.Location

	after []any // the last primary key that was decided on
	seq   int64 // of its chunk

	// What the rows of the next transaction become.
	entries []entry
	changes []change
	chunks  []Chunk
}

// Mint goes through the rows after the last chunk of the ledger.
func (m *rowMinter) Mint(ctx context.Context) error {
	if err := m.begin(ctx); err != nil {
		return err
	}
	pace := m.pace()
	ahead := &readAhead{conns: m.conns, table: m.part}
	defer ahead.wait()
	for {
		if err := m.pause(ctx); err != nil {
			return err
		}
		start := time.Now()
		rows, more, err := ahead.next(ctx, m.after, pace.Size())
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			return nil
		}
		if err := m.decide(ctx, rows); err != nil {
			return err
		}
		if more { // the source is not needed for what comes next
			ahead.begin(ctx, m.after, pace.Size())
		}
		err = m.lease.transaction(ctx, m.conns.Target, func() error { return m.write(ctx) })
		if err != nil {
			return m.engine.Failed("mint", err)
		}
		took := time.Since(start)
		pace.Observe(len(rows), 0, took)
		m.progress.chunk(len(rows), took)
		if !more {
			return nil
		}
	}
}

func (m *rowMinter) begin(ctx context.Context) error {
	t := m.table
	needs := m.conflicts.needs(t.table, t.source)
	m.part = t.only(func(c *plan.Column) bool {
		return slices.Contains(needs, c) || c.DropsRows() || t.rekeys && c.Name == t.table.Created
	})
	last, err := ledgerOf(m.conns.Target).lastChunk(ctx, t)
	if err != nil {
		return err
	}
	m.after, m.seq, m.created = last.hi, last.seq, -1
	if !t.rekeys {
		return nil
	}
	f := newFormula(t.ids, m.run.facts.Now)
	m.ids = newIDs{formula: f, place: max(last.place, f.start())}
	m.created, m.zone = m.part.position(t.table.Created), time.UTC
	if m.created >= 0 && t.table.Zone != "" && !zoned(m.engine.Kind, m.part.columns[m.created]) {
		m.zone, err = time.LoadLocation(t.table.Zone)
	}
	return err
}

// decide says what rows become, which have a value for each column of part.
func (m *rowMinter) decide(ctx context.Context, rows [][]any) error {
	m.entries, m.changes, m.chunks = m.entries[:0], m.changes[:0], m.chunks[:0]
	all := make([]row, len(rows))
	for i, values := range rows {
		all[i] = row{key: m.part.primaryKey(values), old: values, new: slices.Clone(values), fate: kept}
	}
	if err := m.rewriter.references(ctx, m.part, all, (*plan.Column).DropsRows); err != nil {
		return err
	}
	var alive [][]any
	for _, r := range all {
		if r.fate != dropped {
			alive = append(alive, r.old)
		}
	}
	verdicts, err := m.conflicts.decide(ctx, m.table.table, m.table.source, m.part.columns, alive)
	if err != nil {
		return err
	}
	n := 0
	for part := range slices.Chunk(all, chunk.Rows) {
		m.seq++
		c := Chunk{sourceTable: m.table.id, phase: phaseMint, seq: m.seq, lo: m.after, read: int64(len(part))}
		m.ids.late = 0
		for _, r := range part {
			var v verdict
			if r.fate != dropped {
				v, n = verdicts[n], n+1
			}
			if err := m.enter(r, v, &c); err != nil {
				return err
			}
		}
		m.after = part[len(part)-1].key
		c.hi, c.place, c.late = m.after, m.ids.place, m.ids.late.Microseconds()
		m.chunks = append(m.chunks, c)
	}
	return nil
}

// enter adds what becomes of one row to what is written.
func (m *rowMinter) enter(r row, v verdict, c *Chunk) error {
	if v.failed != nil {
		return v.failed
	}
	if slices.Contains(r.key, nil) {
		return m.table.rowError(r.key, errNull)
	}
	left := func(kind string, after any) {
		m.changes = append(m.changes, change{row: sqlvalue.FormatRow(r.key), kind: kind, seq: m.seq, before: sqlvalue.FormatKey(r.key), after: after})
	}
	var old int64
	if m.table.mapped {
		var ok bool
		if old, ok = r.old[m.part.key].(int64); !ok {
			return m.table.rowError(r.key, errKey)
		}
	}
	switch {
	case r.fate == dropped:
		c.dropped++
		if m.table.mapped {
			m.entries = append(m.entries, entry{old: old, kind: kindDropped})
		} else {
			left(changeDropped, nil)
		}
		return nil
	case v.merged:
		c.merged++
		if m.table.mapped {
			m.entries = append(m.entries, entry{old, v.winner.key, kindMerged})
		} else {
			left(changeMerged, sqlvalue.FormatKey(v.winnerKey))
		}
		return nil
	}
	for _, name := range v.renames {
		m.changes = append(m.changes, change{row: sqlvalue.FormatRow(r.key), column: name.column.Name, kind: changeRenamed, seq: m.seq, before: name.before, after: name.after})
	}
	if !m.table.rekeys {
		return nil
	}
	c.rekeyed++
	var created time.Time
	dated := false
	if m.created >= 0 {
		created, dated = parseDate(r.old[m.created], m.zone)
	}
	id, err := m.ids.make(old, created, dated)
	if err != nil {
		return m.table.rowError(r.key, err)
	}
	m.entries = append(m.entries, entry{old, int64(id), kindNew})
	return nil
}

func (m *rowMinter) write(ctx context.Context) error {
	if err := m.writer.write(ctx, m.table, m.entries); err != nil {
		return err
	}
	ledger := ledgerOf(m.conns.Target)
	if err := ledger.insertChanges(ctx, m.table, m.changes); err != nil {
		return err
	}
	return ledger.insertChunks(ctx, m.chunks)
}

// A readAhead reads the next rows of a source table while the last ones are
// written.
type readAhead struct {
	conns *chunk.Conns
	table *SourceTable
	group sync.WaitGroup
	begun bool
	limit int
	rows  [][]any
	err   error
}

func (a *readAhead) begin(ctx context.Context, after []any, size int) {
	if a.limit = size; a.limit > chunk.Rows {
		a.limit -= a.limit % chunk.Rows
	}
	a.begun = true
	a.group.Go(func() { a.rows, a.err = a.table.read(ctx, a.conns, after, nil, a.limit) })
}

func (a *readAhead) wait() { a.group.Wait() }

// next returns rows, and whether there may be more.
func (a *readAhead) next(ctx context.Context, after []any, size int) ([][]any, bool, error) {
	if !a.begun {
		a.begin(ctx, after, size)
	}
	a.wait()
	a.begun = false
	return a.rows, len(a.rows) == a.limit, a.err
}
