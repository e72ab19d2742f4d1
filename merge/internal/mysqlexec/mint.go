package mysqlexec

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/phases"
)

// mostMinted is how many rows the chunks have that a server mints, at most.
const mostMinted = 5000

// A minter is how phase mint goes through a source table whose rows need not
// be seen: none of them can clash or is left out. It cuts the table into chunks,
// and lets the server make the ids; or, where the map gets packs, it only says
// where the ids of each chunk begin, and they are made when the rows are copied.
type minter struct {
	phases.Work
	from   string // the table, as the target's session calls it
	key    string
	rows   int     // of a chunk, at most
	ids    *rowIDs // if the rows get new ids
	packed bool    // the map gets packs
}

// newMinter returns nil if rows of the table must be seen.
func newMinter(ctx context.Context, w phases.Work, source *dialect.Dialect) (*minter, error) {
	t := w.Table
	if len(t.Primary) != 1 || t.Mapped != t.Rekeys || t.Rekeys && t.Primary[0] != t.Key || t.Table.LosesRows() {
		return nil, nil
	}
	if none, err := w.Conflicts.None(ctx, t.Table, t.Source); err != nil || !none {
		return nil, err
	}
	e, target := w.Engine, w.Conns.Target
	m := &minter{Work: w, from: source.Table(t.Table.Name), key: "s." + e.Quote(t.Table.RowKey()[0])}
	from, err := readStoredTable(ctx, target, source, t.Table.Name)
	if err != nil || from == nil || !slices.Equal(from.primary, t.Table.RowKey()) || !countable(from.columns[t.Table.RowKey()[0]].typ) {
		return nil, err
	}
	tick := "NULL"
	if t.Rekeys {
		if m.ids = newRowIDs(e, w.Run, t, from); m.ids == nil {
			return nil, nil
		}
		tick = m.ids.tick
	}
	m.rows = max(1, min(mostMinted, chunk.MostBytes/max(1, from.rowBytes(ctx, target, m.from)))) // a chunk is read at once if need be
	if ok, err := readable(ctx, target, "SELECT "+m.key+", "+tick+" FROM "+m.from+" AS s FORCE INDEX (PRIMARY)"); err != nil || !ok {
		return nil, err
	}
	m.packed, err = m.packs(ctx, source)
	return m, err
}

// packs reports whether the map of a source table gets packs: the table is large,
// and the server can copy and compare its rows without rows of the map.
func (m *minter) packs(ctx context.Context, source *dialect.Dialect) (bool, error) {
	if !m.Table.Packable || m.PackRows < 0 || ledger.IsReferred(m.Plan, m.Table.Table) {
		return false, nil
	}
	if large, err := chunk.HasRows(ctx, m.Conns.Target, m.from, m.PackRows); err != nil || !large {
		return false, err
	}
	s, err := newSelection(ctx, m.Work, source)
	return s != nil && s.dense && s.texts != nil, err
}

// mint goes through the rows after the last chunk of the ledger. If it returns an
// error that is none of a lost lease or of ctx, the ledger says how far it came,
// and the other rows must be seen.
func (m *minter) mint(ctx context.Context) error {
	target, pace := m.Conns.Target, m.Pace()
	last, err := ledger.Of(target).LastChunk(ctx, m.Table)
	if err != nil {
		return err
	}
	for {
		if err := m.Pause(ctx); err != nil {
			return err
		}
		start, rows := time.Now(), 0
		var chunks []ledger.Chunk
		place := max(m.start(), last.Place)
		for size, before := pace.Size(), (ledger.Chunk{Seq: last.Seq, Hi: last.Hi, Place: place}); rows == 0 || rows+min(size, m.rows) <= size; {
			c, err := m.cut(ctx, before, min(size, m.rows))
			if err != nil {
				return err
			}
			if c.Read == 0 {
				break
			}
			chunks, rows, before = append(chunks, c), rows+int(c.Read), c
		}
		if rows == 0 {
			return nil
		}
		err := m.Lease.Transaction(ctx, target, func() error {
			if m.packed {
				if err := ledger.Of(target).BeginPacks(ctx, chunks, place); err != nil {
					return err
				}
			} else if m.Table.Rekeys {
				if err := m.fill(ctx, chunks, place); err != nil {
					return err
				}
			}
			return ledger.Of(target).InsertChunks(ctx, chunks)
		})
		if err != nil {
			return err
		}
		last = chunks[len(chunks)-1]
		took := time.Since(start)
		pace.Observe(rows, 0, took)
		m.Progress.Chunk(rows, took)
	}
}

// cut returns the chunk after another one, of at most so many rows. No rows are
// after the last one.
func (m *minter) cut(ctx context.Context, last ledger.Chunk, rows int) (ledger.Chunk, error) {
	c := ledger.Chunk{SourceTable: m.Table.ID, Phase: ledger.PhaseMint, Seq: last.Seq + 1, Lo: last.Hi}
	source, err := m.Conns.Source(ctx, m.Table.Source)
	if err != nil {
		return c, err
	}
	var hi, latest sql.NullInt64
	dated, of, name, tick := false, "NULL", "snow_tick", "s.snow_tick"
	switch {
	case m.packed && m.ids.date != "": // to make the tick of every row takes as long as to read the rows
		of, name, tick = "s."+m.ids.date, m.ids.date, m.ids.tick
	case m.packed:
		of = m.ids.tick
	}
	from := " FROM " + m.from + " AS s FORCE INDEX (PRIMARY) WHERE "
	look := func(rows string) error {
		return source.QueryRowContext(ctx, fmt.Sprintf(`SELECT s.snow_rows, s.snow_key, %[1]s, s.%[2]s IS NOT NULL FROM (
			SELECT COUNT(*) AS snow_rows, MAX(s.snow_key) AS snow_key, MAX(s.%[2]s) AS %[2]s FROM (SELECT %[3]s AS snow_key, %[4]s AS %[2]s%[5]s) AS s) AS s`,
			tick, name, m.key, of, from+rows)).Scan(&c.Read, &hi, &latest, &dated)
	}
	if last.Hi != nil && last.Hi[0].(int64) <= math.MaxInt64-int64(rows) { // keys without large gaps are cut by their values: so most packs need no list of old ids
		err = look(m.within(c.Lo, []any{last.Hi[0].(int64) + int64(rows)}))
	}
	if err == nil && c.Read <= int64(rows/2) {
		err = look(m.within(c.Lo, nil) + " ORDER BY " + m.key + " LIMIT " + strconv.Itoa(rows))
	}
	if err == nil && dated && !latest.Valid { // the latest date is none to [sqlvalue.ParseDate]
		err = source.QueryRowContext(ctx, "SELECT MAX("+tick+")"+from+m.within(c.Lo, []any{hi.Int64})).Scan(&latest)
	}
	c.Hi = []any{hi.Int64}
	if m.Table.Rekeys {
		c.Rekeyed = c.Read
	}
	if m.packed && err == nil {
		c.Place = m.ids.Bound(last.Place, c.Read, hi.Int64, latest.Int64, latest.Valid)
		_, err = m.ids.ID(c.Place, 0)
	}
	return c, err
}

// start returns the place before that of the table's first new id.
func (m *minter) start() int64 {
	if !m.Table.Rekeys {
		return 0
	}
	return m.ids.Start()
}

func (m *minter) within(lo, hi []any) string {
	text, _ := within(m.Engine, m.Table.Table.RowKey(), lo, hi)
	return text
}

// fill lets the server put the ids of chunks into the map, and looks whether it did
// so row by row. It writes down the place of the last id of each.
func (m *minter) fill(ctx context.Context, chunks []ledger.Chunk, before int64) error {
	target, last := m.Conns.Target, len(chunks)-1
	if err := setPlace(ctx, target, before); err != nil {
		return err
	}
	text := fmt.Sprintf("INSERT INTO snow_merge_map (source_table, old_id, new_id, kind) SELECT %d, %s, %s, 0 FROM %s AS s FORCE INDEX (PRIMARY) WHERE %s ORDER BY %[2]s",
		m.Table.ID, m.key, m.ids.LateExpression(m.key, m.ids.tick), m.from, m.within(chunks[0].Lo, chunks[last].Hi))
	result, err := target.ExecContext(ctx, text)
	if err != nil {
		return err
	}
	n, err := result.RowsAffected()
	if err != nil {
		return err
	}
	var place, late, rows int64
	if err := target.QueryRowContext(ctx, "SELECT @snow_merge_place, @snow_merge_late").Scan(&place, &late); err != nil {
		return err
	}
	keys := make([]int64, len(chunks))
	for i, c := range chunks {
		keys[i], rows = c.Hi[0].(int64), rows+c.Read
	}
	found, err := ledger.MapOf(target).Find(ctx, m.Table, keys)
	if err != nil {
		return err
	}
	for i := range chunks {
		c := &chunks[i]
		after, ok := found[keys[i]]
		c.Place, c.Late = m.Table.Ids.Place(after.ID), m.ids.Ahead(late).Microseconds()
		id, err := m.ids.ID(c.Place, keys[i])
		if !ok || int64(id) != after.ID || !m.Table.Ids.Has(keys[i], after.ID) || c.Place < before+c.Read || i == last && (c.Place != place || n != rows) {
			return errors.Join(errUnlike, err)
		}
		before = c.Place
	}
	return nil
}
