package segments

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/dbserver"
	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/sqlsnow"
)

// The states of a row.
const (
	stateNew    = 0 // made, and not yet compared with the rows of the other databases
	stateOpen   = 1
	stateFenced = 2 // it went back; see Raise
)

// A record is a row of snow_segments.
type record struct {
	space                           string
	modulus, residue, state, nextID int64
}

// A table is the table snow_segments of one database, for one tag.
type table struct {
	db     *sql.DB    // of segments, from dbserver.Keep
	using  sync.Mutex // held while the kept connection is in use
	engine *dbserver.Engine
	tag    string
	tables []Table
	take   dbserver.Statement
}

func newTable(db *sql.DB, e *dbserver.Engine, tag string, tables []Table) *table {
	return &table{db: db, engine: e, tag: tag, tables: tables, take: e.Compile(updateTake)}
}

// place learns the schema of the table from the first connection whose schema nobody has changed. From then on all
// statements name the schema. Until it succeeds, nothing else may be asked.
func (t *table) place(ctx context.Context) error {
	return t.placeIf(ctx, func(dbserver.Info) error { return nil })
}

// placeToWrite is place, and an error unless the table is durable.
func (t *table) placeToWrite(ctx context.Context) error {
	return t.placeIf(ctx, func(info dbserver.Info) error { return info.Check(0) })
}

func (t *table) placeIf(ctx context.Context, fits func(dbserver.Info) error) error {
	if t.engine.Schema() != "" {
		return nil
	}
	info, err := t.engine.Info(ctx, t.db)
	if err == nil {
		err = fits(info)
	}
	if err == nil {
		t.engine = t.engine.In(info)
		t.take = t.engine.Compile(updateTake)
	}
	return err
}

// ask asks for numbers. Without an error they are durable, and nobody else has them.
func (t *table) ask(ctx context.Context, q request) (r reply) {
	if err := t.placeToWrite(ctx); err != nil {
		return t.failed(ctx, err)
	}
	if q.contact && len(t.tables) > 0 {
		if err := t.reach(ctx, &q); err != nil {
			return t.failed(ctx, err)
		}
	}
	r, err := t.write(ctx, q)
	if err == nil && q.contact && q.modulus > 1 && r.space == "" {
		var row record
		row, err = t.read(ctx)
		r.space = row.space
	}
	if errors.Is(err, sql.ErrNoRows) {
		return t.diagnose(ctx, q)
	}
	if err != nil {
		return t.failed(ctx, err)
	}
	return r
}

// failed returns the reply for a driver's error.
func (t *table) failed(ctx context.Context, err error) reply {
	err = databaseError(t.engine, "take numbers", err)
	// SQLite has no code of its own for a missing table.
	if t.engine.Dialect == sqldialect.SQLite && errors.As(err, new(*sqlsnow.DatabaseError)) && t.engine.Dialect.Classify(err) == sqldialect.Other {
		var n int
		if t.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM main.sqlite_master WHERE name = 'snow_segments'").Scan(&n) == nil && n == 0 {
			err = fmt.Errorf("%w (%w)", sqlsnow.ErrNotMigrated, err)
		}
	}
	return reply{err: err, busy: t.engine.IsBusy(err)}
}

// write executes the statement that takes numbers. If it changed no row, the error is sql.ErrNoRows.
func (t *table) write(ctx context.Context, q request) (r reply, err error) {
	span := q.count * q.modulus
	values := map[string]any{
		"tag": t.tag, "span": span, "modulus": q.modulus, "least": q.least, "most": q.most, "residue": q.residue, "space": q.space,
		"taker": q.mark,
	}
	none := sql.ErrNoRows
	err = t.engine.Write(ctx, t.db, dbserver.ForSegments, func(on *dbserver.Session) (changed bool, err error) {
		changed, err = on.Update(ctx, t.take, values, &r.start, &r.residue, &r.space)
		if t.engine.HasReturning() {
			r.start -= span
		} else {
			// The statement only changes a row whose next number has the row's residue.
			r.residue, r.space = r.start%q.modulus, q.space
		}
		if changed {
			none = nil
		}
		return changed, err
	})
	if err != nil {
		return reply{}, err
	}
	return r, none
}

// change executes another UPDATE and returns how many rows it changed.
func (t *table) change(ctx context.Context, s dbserver.Statement, values map[string]any) (n int64, err error) {
	err = t.engine.Write(ctx, t.db, dbserver.ForSegments, func(on *dbserver.Session) (_ bool, err error) {
		n, err = on.Exec(ctx, s, values)
		return n > 0, err
	})
	return n, err
}

// read returns the row as it is committed now, or errNoRow.
func (t *table) read(ctx context.Context) (row record, err error) {
	s := t.engine.Compile(selectRow)
	missing := errNoRow
	err = t.engine.Read(ctx, t.db, func(on *dbserver.Session) (found bool, err error) {
		found, err = on.Query(ctx, s, map[string]any{"tag": t.tag}, &row.space, &row.modulus, &row.residue, &row.state, &row.nextID)
		if found {
			missing = nil
		}
		return found, err
	})
	if err == nil {
		err = missing
	}
	return row, err
}

// diagnose says why the statement that takes numbers changed no row.
func (t *table) diagnose(ctx context.Context, q request) reply {
	row, err := t.read(ctx)
	if err != nil {
		return t.failed(ctx, err)
	}
	back := &RegressedError{Next: snow.ID(row.nextID)}
	switch {
	case row.modulus != q.modulus || row.nextID%row.modulus != row.residue:
		return reply{err: fmt.Errorf("%w: the row has modulus %d, residue %d and next number %d, and there are %d databases",
			ErrMismatch, row.modulus, row.residue, row.nextID, q.modulus)}
	case !q.contact && (q.space != "" && row.space != q.space || row.residue != q.residue):
		return reply{err: fmt.Errorf("%w: the row is now of space %q and residue %d, no longer %q and %d",
			ErrMismatch, row.space, row.residue, q.space, q.residue)}
	case row.state == stateNew:
		return reply{err: errNotSealed}
	case row.state != stateOpen:
		if row.nextID < q.least { // this process finds the regression as well
			back.Least = snow.ID(q.least)
		}
		return reply{err: back}
	case row.nextID < q.least:
		// Stop all processes, also any that has not seen a higher number. If that fails, the next take tries it
		// again.
		s := t.engine.Compile(updateFence)
		_, _ = t.change(ctx, s, map[string]any{"tag": t.tag, "space": row.space, "least": q.least})
		back.Least = snow.ID(q.least)
		return reply{err: back}
	case row.nextID > q.most:
		r := reply{err: ErrExhausted}
		if row.nextID <= q.last {
			r.room = min((q.last-row.nextID)/q.modulus+1, q.count)
		}
		return r
	}
	info, err := t.engine.Info(ctx, t.db)
	if err != nil {
		return t.failed(ctx, err)
	}
	if err := info.Check(0); err != nil {
		return reply{err: err}
	}
	return reply{err: errMoved, busy: true}
}

// reach raises q.least above the ids in use, so that the statement refuses a row that is not above them.
func (t *table) reach(ctx context.Context, q *request) error {
	row, err := t.read(ctx)
	if errors.Is(err, errNoRow) {
		return nil // the statement will find that there is no row
	}
	if err != nil {
		return err
	}
	used, err := t.highest(ctx, row.modulus, row.residue)
	if err != nil {
		return err
	}
	q.least = max(q.least, used+1)
	return nil
}

// highest returns the highest id in use with a residue, at most highestID, or 0 if there is none.
func (t *table) highest(ctx context.Context, modulus, residue int64) (highest int64, err error) {
	for _, table := range t.tables {
		id := t.quote(table.Column)
		text := "SELECT MAX(" + id + ") FROM " + t.quote(table.Name)
		args := map[string]any{}
		if modulus > 1 { // search from the top of the index
			text = "SELECT " + id + " FROM " + t.quote(table.Name) + " WHERE " + id + " % :modulus = :residue ORDER BY " + id + " DESC LIMIT 1"
			args["modulus"], args["residue"] = modulus, residue
		}
		s := t.engine.Compile(text)
		var got sql.NullInt64
		if err := table.DB.QueryRowContext(ctx, s.Text, s.Args(args)...).Scan(&got); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return 0, databaseError(t.engine, "read the highest of "+table.Name, err)
		}
		highest = max(highest, min(got.Int64, highestID)) // so that the next number can be stored
	}
	return highest, nil
}

// quote quotes a name whose parts are separated by dots.
func (t *table) quote(name string) string {
	parts := strings.Split(name, ".")
	for i, part := range parts {
		parts[i] = t.engine.Dialect.Quote(part)
	}
	return strings.Join(parts, ".")
}
