package mysqlexec

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/phases"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
)

// mostMinted is how many rows the chunks have that a server mints, at most.
const mostMinted = 5000

// A minter is how phase mint goes through a source table whose rows need not
// be seen: none of them can clash or is left out. It cuts the table into chunks,
// and lets the server make the ids.
//
// A chunk is cut with a bound of the place of its last id, so that several can be
// minted at the same time. Their transactions end in the order of their chunks.
type minter struct {
	phases.Work
	from  string // the table, as the target's session calls it
	key   string
	rows  int // of a chunk, at most
	sizes *chunk.Pace

	dates  *rowDates // if the rows get new ids
	packed bool      // the map gets packs
	sparse bool      // keys do not count up, or have large gaps
}

// newMinter returns nil if rows of the table must be seen.
func newMinter(ctx context.Context, w phases.Work, database string) (*minter, error) {
	t := w.Table
	if len(t.Primary) != 1 || t.Mapped != t.Rekeys || t.Rekeys && t.Primary[0] != t.Key || slices.ContainsFunc(t.Columns, (*plan.Column).DropsRows) {
		return nil, nil
	}
	if none, err := w.Conflicts.None(ctx, t.Table, t.Source); err != nil || !none {
		return nil, err
	}
	e, target := w.Engine, w.Conns.Target
	m := &minter{Work: w, sizes: w.Pace()}
	m.from, m.key = e.Quote(database)+"."+e.Quote(t.Table.Name), "s."+e.Quote(t.Table.PrimaryKey[0])
	from, err := readStoredTable(ctx, target, literal(database), t.Table.Name)
	if err != nil || from == nil || !slices.Equal(from.primary, t.Table.PrimaryKey) || !countable(from.columns[t.Table.PrimaryKey[0]].typ) {
		return nil, err
	}
	tick := "NULL"
	if t.Rekeys {
		if m.dates = newRowDates(e, w.Run, t, from); m.dates == nil {
			return nil, nil
		}
		tick = m.dates.rowTick()
	}
	m.rows = max(1, min(mostMinted, chunk.MostBytes/max(1, from.rowBytes(ctx, target, m.from)))) // a chunk is read at once if need be
	// The account of the target may be another one, which can't read this.
	_, err = target.ExecContext(ctx, "SELECT "+m.key+", "+tick+" FROM "+m.from+" AS s FORCE INDEX (PRIMARY) LIMIT 0")
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, nil
	}
	m.packed, err = m.packs(ctx, database)
	return m, err
}

// A mintTx is the chunks that one transaction mints.
type mintTx struct {
	number  int // from 1 on
	chunks  []ledger.Chunk
	rows    int
	from    int64         // the place of the last id before
	before  *mintTx       // nil for the first
	held    chan struct{} // closed when it has read the lease: others wait for that, lest one of a later transaction stands in the way
	done    chan struct{} // closed when it is committed
	counted chan struct{} // closed when progress was told of it
}

// await waits for a step of the transaction before.
func (tx *mintTx) await(ctx context.Context, step func(*mintTx) chan struct{}) error {
	if tx.before == nil {
		return nil
	}
	select {
	case <-step(tx.before):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// all goes through the rows after a chunk, to the end. If it returns an error
// that is none of a lost lease or of ctx, the ledger says how far it came, and
// the other rows must be seen.
func (m *minter) all(ctx context.Context, last ledger.Chunk) error {
	// Statements do not end with it, so that the connections can be used on.
	going, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	txs := make(chan *mintTx)
	var group sync.WaitGroup
	write := func(target *chunk.Session) {
		group.Go(func() {
			for tx := range txs {
				if err := m.write(ctx, going, target, tx); err != nil {
					stop(err) // the first one counts: the others follow from it
				}
			}
		})
	}
	write(m.Conns.Target)
	var others []*chunk.Conns
	err := m.feed(ctx, last, func(tx *mintTx) error {
		if tx.number > 1 && tx.number <= m.Writers { // small tables are done by one
			c, err := m.Writer(ctx)
			if err != nil {
				return err
			}
			others = append(others, c)
			if database, err := sourceDatabase(ctx, c, m.Table.Source); err == nil && database != "" {
				write(c.Target)
			}
		}
		select {
		case txs <- tx:
			return nil
		case <-going.Done():
			return context.Cause(going)
		}
	})
	if err != nil {
		stop(err)
	}
	close(txs)
	group.Wait()
	err = context.Cause(going)
	for _, c := range others {
		if closed := c.Close(); closed != nil && err == nil {
			err = closed
		}
	}
	return err
}

// feed cuts the rest of the table.
func (m *minter) feed(ctx context.Context, last ledger.Chunk, send func(*mintTx) error) error {
	bound := int64(0)
	if m.Table.Rekeys {
		bound = max(m.dates.Start(), last.Place)
	}
	var before *mintTx
	for number := 1; ; number++ {
		if err := m.Pause(ctx); err != nil {
			return err
		}
		tx := &mintTx{number: number, from: bound, before: before, held: make(chan struct{}), done: make(chan struct{}), counted: make(chan struct{})}
		before = tx
		size, ended := m.sizes.Size(), false
		for rows := min(size, m.rows); !ended && (tx.rows == 0 || tx.rows+rows <= size); {
			c, err := m.cut(ctx, last, rows, &bound)
			if err != nil {
				return err
			}
			if ended = c.Read == 0; !ended {
				tx.chunks, tx.rows, last = append(tx.chunks, c), tx.rows+int(c.Read), c
			}
		}
		if tx.rows > 0 {
			if err := send(tx); err != nil {
				return err
			}
		}
		if ended {
			return nil
		}
	}
}

// cut returns the next chunk, of about so many rows at most, and moves the bound
// of the last place on. No rows are after the last one.
func (m *minter) cut(ctx context.Context, last ledger.Chunk, rows int, bound *int64) (ledger.Chunk, error) {
	c := ledger.Chunk{SourceTable: m.Table.ID, Phase: ledger.PhaseMint, Seq: last.Seq + 1, Lo: last.Hi}
	source, err := m.Conns.Source(ctx, m.Table.Source)
	if err != nil {
		return c, err
	}
	date, latest := "NULL", func(string) string { return "NULL" }
	if m.Table.Rekeys {
		date, latest = m.dates.column, m.dates.latestTick
	}
	var hi, tick sql.NullInt64
	look := func(text string) error { return source.QueryRowContext(ctx, text).Scan(&c.Read, &hi, &tick) }
	from := " FROM " + m.from + " AS s FORCE INDEX (PRIMARY) WHERE "
	found := false
	if !m.sparse && last.Hi != nil && last.Hi[0].(int64) <= math.MaxInt64-int64(rows) {
		guess := []any{last.Hi[0].(int64) + int64(rows)} // to count is faster than to look for the last one
		if err := look("SELECT COUNT(*), MAX(" + m.key + "), " + latest("MAX("+date+")") + from + m.within(c.Lo, guess)); err != nil {
			return c, err
		}
		found = c.Read > int64(rows/2)
		m.sparse = !found
	}
	if !found {
		err := look("SELECT COUNT(*), MAX(k), " + latest("MAX(created)") + " FROM (SELECT " + m.key + " AS k, " + date + " AS created" + from + m.within(c.Lo, nil) +
			" ORDER BY " + m.key + " LIMIT " + strconv.Itoa(rows) + ") AS found")
		if err != nil || !hi.Valid {
			return c, err
		}
	}
	c.Hi = []any{hi.Int64}
	if !m.Table.Rekeys {
		return c, nil
	}
	*bound = m.dates.Bound(*bound, c.Read, tick.Int64, tick.Valid)
	c.Rekeyed, c.Place = c.Read, *bound
	_, err = m.dates.ID(c.Place, 0)
	return c, err
}

func (m *minter) within(lo, hi []any) string {
	text := "TRUE"
	if lo != nil {
		text += " AND " + m.key + " > " + sqlvalue.Text(lo[0])
	}
	if hi != nil {
		text += " AND " + m.key + " <= " + sqlvalue.Text(hi[0])
	}
	return text
}

// write does one transaction, and commits it as soon as that before is committed.
func (m *minter) write(ctx, going context.Context, target *chunk.Session, tx *mintTx) error {
	if going.Err() != nil {
		return context.Cause(going)
	}
	if err := tx.await(going, func(tx *mintTx) chan struct{} { return tx.held }); err != nil {
		return err
	}
	start := time.Now()
	err := m.Lease.Try(ctx, target, func() error {
		close(tx.held)
		fill := m.fillMap
		if m.packed {
			fill = m.fillPacks
		}
		if m.Table.Rekeys {
			if err := fill(ctx, target, tx); err != nil {
				return err
			}
		}
		if err := ledger.Of(target).InsertChunks(ctx, tx.chunks); err != nil {
			return err
		}
		return tx.await(going, func(tx *mintTx) chan struct{} { return tx.done })
	})
	if err != nil {
		return err
	}
	close(tx.done)
	took := time.Since(start)
	if err := tx.await(going, func(tx *mintTx) chan struct{} { return tx.counted }); err != nil {
		return err
	}
	defer close(tx.counted) // the next one may use progress then
	tx.before = nil         // or all would be kept
	m.sizes.Observe(tx.rows, 0, took)
	m.Progress.Chunk(tx.rows, took)
	return nil
}

// setPlace gives the variables that ids are made by their values.
func setPlace(ctx context.Context, target *chunk.Session, place int64) error {
	_, err := target.ExecContext(ctx, fmt.Sprintf("SET @snow_merge_place = %d, @snow_merge_tick = 0, @snow_merge_late = 0", place))
	return err
}

// fillMap lets the server fill the map, and looks whether it did so row by row.
func (m *minter) fillMap(ctx context.Context, target *chunk.Session, tx *mintTx) error {
	last := tx.chunks[len(tx.chunks)-1]
	if err := setPlace(ctx, target, tx.from); err != nil {
		return err
	}
	text := fmt.Sprintf("INSERT INTO snow_merge_map (source_table, old_id, new_id, kind) SELECT %d, %s, %s, %d FROM %s AS s FORCE INDEX (PRIMARY) WHERE %s ORDER BY %[2]s",
		m.Table.ID, m.key, m.dates.LateExpression(m.key, m.dates.rowTick()), ledger.KindNew, m.from, m.within(tx.chunks[0].Lo, last.Hi))
	result, err := target.ExecContext(ctx, text)
	if err != nil {
		return err
	}
	n, err := result.RowsAffected()
	if err != nil {
		return err
	}
	var place, late int64
	if err := target.QueryRowContext(ctx, "SELECT @snow_merge_place, @snow_merge_late").Scan(&place, &late); err != nil {
		return err
	}
	if n != int64(tx.rows) || place < tx.from+n || place > last.Place {
		return errUnlike
	}
	return m.setPlaces(ctx, target, tx, place, m.dates.Ahead(late))
}

// setPlaces puts the place of the true last id of each chunk in that of its bound.
func (m *minter) setPlaces(ctx context.Context, target *chunk.Session, tx *mintTx, place int64, late time.Duration) error {
	keys := make([]int64, len(tx.chunks))
	for i, c := range tx.chunks {
		keys[i] = c.Hi[0].(int64)
	}
	found, err := ledger.MapOf(target).Find(ctx, m.Table, keys)
	if err != nil {
		return err
	}
	for i := range tx.chunks {
		c := &tx.chunks[i]
		after, ok := found[keys[i]]
		c.Place, c.Late = m.Table.Ids.Place(after.ID), late.Microseconds()
		id, err := m.dates.ID(c.Place, keys[i])
		if !ok || c.Place > place || i == len(tx.chunks)-1 && c.Place != place || int64(id) != after.ID {
			return errors.Join(errUnlike, err)
		}
	}
	return nil
}
