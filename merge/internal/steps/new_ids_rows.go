package steps

import (
	"context"
	"errors"
	"slices"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/clash"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/internal/work"
	"github.com/shardsnow/snow/merge/plan"
)

var errNull = errors.New("its primary key has a NULL, as SQLite allows: no row can be found by that")

// A minter decides what becomes of the rows of a source table.
type minter struct {
	*work.Writer
	table     *ledger.SourceTable
	conflicts *clash.Finder
	rewriter  *rekey.Rewriter
	writer    *chunk.Inserter     // of the map
	part      *ledger.SourceTable // the same table with the columns that decide
	ids       rekey.NewIDs        // where the rows get new ids
	dates     *rekey.Dates        // of the rows of part, there

	packed bool  // the map gets packs, where all rows of a chunk have new ids
	after  []any // the last primary key that was decided on
	seq    int64 // of its chunk

	// What the rows of the next transaction become.
	entries [][]any // of the map
	packs   [][]any
	changes []ledger.Change
	chunks  []ledger.Chunk
}

// newMinter returns one that begins after the last chunk of the ledger.
func newMinter(ctx context.Context, w *work.Writer, t *ledger.SourceTable, conflicts *clash.Finder) (*minter, error) {
	rewriter, err := work.NewRewriter(ctx, w.Job, w.Run, w.Conns, t, nil)
	if err != nil {
		return nil, err
	}
	m := &minter{Writer: w, table: t, conflicts: conflicts, rewriter: rewriter, writer: ledger.NewMapWriter(w.Conns.Target)}
	return m, m.begin(ctx)
}

// mint goes through the rows.
func (m *minter) mint(ctx context.Context, progress *work.Progress) error {
	rows := work.Rows{Table: m.part, Conns: m.Conns, Pace: m.PaceOf(m.table), After: m.after, Progress: progress, Multiple: chunk.Rows}
	return rows.Each(ctx, m.Job, func(ctx context.Context, rows [][]any) (bytes int, err error) {
		if err := m.decide(ctx, rows); err != nil {
			return 0, err
		}
		if m.table.Content != nil {
			bytes = chunk.SizeOf(rows...)
		}
		return bytes, m.Transaction(ctx, "mint", func() error { return m.write(ctx) })
	})
}

func (m *minter) begin(ctx context.Context) error {
	t := m.table
	needs := m.conflicts.Needs(t.Table, t.Source)
	// without a primary key each read goes through the whole table: chunks are large, and their bytes are counted
	m.part = t
	if t.Content == nil {
		m.part = t.Only(func(c *plan.Column) bool {
			return slices.Contains(needs, c) || c.DropsRows() || t.Rekeys && c.Name == t.Created()
		})
	}
	last, err := ledger.Of(m.Conns.Target).LastChunk(ctx, t)
	if err != nil {
		return err
	}
	m.after, m.seq = last.Hi, last.Seq
	if t.Rekeys {
		f := rekey.NewFormula(t.Ids, m.Run.Facts.Now)
		m.ids = rekey.NewIDs{Formula: f, Place: max(last.Place, f.Start())}
		if m.dates, err = rekey.NewDates(m.Engine.Kind, m.part); err != nil {
			return err
		}
	}
	source, err := m.Conns.Source(ctx, t.Source)
	if err != nil {
		return err
	}
	m.packed, err = ledger.MakesPacks(ctx, m.Plan, t, source, m.PackRows)
	return err
}

// decide says what rows become, which have a value for each column of part.
func (m *minter) decide(ctx context.Context, rows [][]any) error {
	m.entries, m.packs, m.changes, m.chunks = m.entries[:0], m.packs[:0], m.changes[:0], m.chunks[:0]
	all := make([]rekey.Row, len(rows))
	for i, values := range rows {
		all[i] = rekey.NewRow(m.part, values)
	}
	if err := m.rewriter.Leave(ctx, m.part, all); err != nil {
		return err
	}
	verdicts, err := rekey.Decide(ctx, m.conflicts, m.part, all)
	if err != nil {
		return err
	}
	size := chunk.Rows
	if m.table.Content != nil {
		size = len(all)
	}
	for part := range slices.Chunk(all, size) {
		m.seq++
		c := ledger.Chunk{SourceTable: m.table.ID, Phase: ledger.PhaseMint, Seq: m.seq, Lo: m.after, Counts: ledger.Counts{Read: int64(len(part))}}
		m.ids.Late = 0
		begin := len(m.entries)
		for i, r := range part {
			if err := m.enter(r, verdicts[i], &c); err != nil {
				return err
			}
		}
		verdicts = verdicts[len(part):]
		if m.packed && c.Rekeyed == c.Read {
			m.packs, m.entries = append(m.packs, ledger.PackRow(c, m.entries[begin:])), m.entries[:begin]
		}
		m.after = part[len(part)-1].Key
		c.Hi, c.Place, c.Late = m.after, m.ids.Place, m.ids.Late.Microseconds()
		m.chunks = append(m.chunks, c)
	}
	return nil
}

// enter adds what becomes of one row to what is written.
func (m *minter) enter(r rekey.Row, v clash.Verdict, c *ledger.Chunk) error {
	if v.Failed != nil {
		return v.Failed
	}
	if err := r.Refused(m.part); err != nil {
		return err
	}
	if slices.Contains(r.Key, nil) {
		return m.table.RowError(r.Key, errNull)
	}
	var old int64
	if m.table.Mapped {
		var ok bool
		if old, ok = r.Old[m.part.Key].(int64); !ok {
			return m.table.RowError(r.Key, rekey.ErrKey)
		}
	}
	left := func(after ledger.Successor) {
		if m.table.Mapped {
			m.entries = append(m.entries, ledger.MapRow(m.table, old, after))
		}
	}
	change := func(kind string, why any) {
		m.changes = append(m.changes, ledger.Change{Row: sqlvalue.FormatRow(r.Key), Kind: kind, Seq: m.seq, Before: sqlvalue.FormatKey(r.Key), After: why})
	}
	c.Take(r.Fate)
	switch r.Fate {
	case ledger.Dropped:
		left(ledger.Successor{Fate: ledger.Dropped})
		if r.Why != "" { // otherwise phase choose has written it down
			change(ledger.ChangeDropped, r.Why)
		}
		return nil
	case ledger.Merged:
		left(ledger.Successor{ID: v.Winner.Key, Fate: ledger.Merged})
		switch _, key := v.Into(m.table.Table); {
		case v.IntoTarget:
			change(ledger.ChangeIntoTarget, sqlvalue.FormatKey(key))
		case !m.table.Mapped:
			change(ledger.ChangeMerged, sqlvalue.FormatKey(v.WinnerKey))
		}
		return nil
	}
	for _, name := range v.Renames {
		kind := ledger.ChangeRenamed
		if name.Set {
			kind = ledger.ChangeSet
		}
		m.changes = append(m.changes, ledger.Change{Row: sqlvalue.FormatRow(r.Key), Column: name.Column.Name, Kind: kind, Seq: m.seq, Before: name.Before, After: name.After})
	}
	if !m.table.Rekeys {
		return nil
	}
	created, dated := m.dates.Of(r.Old)
	id, err := m.ids.Make(old, created, dated)
	if err != nil {
		return m.table.RowError(r.Key, err)
	}
	m.entries = append(m.entries, ledger.MapRow(m.table, old, ledger.Successor{ID: int64(id), Fate: ledger.Rekeyed}))
	return nil
}

func (m *minter) write(ctx context.Context) error {
	if err := m.writer.Write(ctx, m.entries); err != nil {
		return err
	}
	l := ledger.Of(m.Conns.Target)
	if err := ledger.InsertPacks(ctx, l, m.packs); err != nil {
		return err
	}
	if err := l.InsertChanges(ctx, m.table, m.changes); err != nil {
		return err
	}
	return l.InsertChunks(ctx, m.chunks)
}
