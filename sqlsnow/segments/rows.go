package segments

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/internal/dbserver"
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

// A table is the table of a database, for one tag.
type table struct {
	db     *sql.DB
	engine *dbserver.Engine
	tag    string
	tables []Table
	take   dbserver.Statement
}

func newTable(db *sql.DB, e *dbserver.Engine, tag string, tables []Table) *table {
	return &table{db: db, engine: e, tag: tag, tables: tables, take: e.Compile(updateTake)}
}

// ask asks for numbers. What it returns without an error is durable and nobody else's.
func (t *table) ask(ctx context.Context, q request) (r reply) {
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

// failed returns what a driver's error means.
func (t *table) failed(ctx context.Context, err error) reply {
	err = databaseError(t.engine, "take numbers", err)
	// SQLite has no code of its own for a missing table.
	if t.engine.Dialect == sqldialect.SQLite && errors.As(err, new(*sqlsnow.DatabaseError)) && t.engine.Dialect.Classify(err) == sqldialect.Other {
		var n int
		if t.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM sqlite_master WHERE name = 'snow_segments'").Scan(&n) == nil && n == 0 {
			err = fmt.Errorf("%w (%w)", sqlsnow.ErrNotMigrated, err)
		}
	}
	return reply{err: err, busy: t.engine.IsBusy(err)}
}

// write executes the statement. Where it changed nothing, the error is sql.ErrNoRows.
func (t *table) write(ctx context.Context, q request) (r reply, err error) {
	span := q.count * q.modulus
	values := map[string]any{
		"tag": t.tag, "span": span, "modulus": q.modulus, "least": q.least, "most": q.most, "residue": q.residue, "space": q.space,
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

// read returns the row, or errNoRow.
func (t *table) read(ctx context.Context) (row record, err error) {
	s := t.engine.Compile(selectRow)
	err = t.db.QueryRowContext(ctx, s.Text, s.Args(map[string]any{"tag": t.tag})...).
		Scan(&row.space, &row.modulus, &row.residue, &row.state, &row.nextID)
	if errors.Is(err, sql.ErrNoRows) {
		err = errNoRow
	}
	return row, err
}

// diagnose says why a row was not changed.
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
		if row.nextID < q.least { // this process has seen it as well
			back.Least = snow.ID(q.least)
		}
		return reply{err: back}
	case row.nextID < q.least:
		// Nobody shall take from it, be they those who have not seen more. Next time this is tried again.
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

// reach makes q refuse a row that is not beyond the ids that are in use.
func (t *table) reach(ctx context.Context, q *request) error {
	row, err := t.read(ctx)
	if errors.Is(err, errNoRow) {
		return nil // which the statement finds out
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

// highest returns the highest id in use that has a residue, or 0; highestID for all that are beyond it.
func (t *table) highest(ctx context.Context, modulus, residue int64) (highest int64, err error) {
	for _, table := range t.tables {
		id := t.quote(table.Column)
		text := "SELECT MAX(" + id + ") FROM " + t.quote(table.Name)
		args := map[string]any{}
		if modulus > 1 { // from the top until one is found
			text = "SELECT " + id + " FROM " + t.quote(table.Name) + " WHERE " + id + " % :modulus = :residue ORDER BY " + id + " DESC LIMIT 1"
			args["modulus"], args["residue"] = modulus, residue
		}
		s := t.engine.Compile(text)
		var got sql.NullInt64
		if err := table.DB.QueryRowContext(ctx, s.Text, s.Args(args)...).Scan(&got); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return 0, databaseError(t.engine, "read the highest of "+table.Name, err)
		}
		highest = max(highest, min(got.Int64, highestID)) // what follows it can be stored
	}
	return highest, nil
}

// quote quotes a name, of which dots separate the parts.
func (t *table) quote(name string) string {
	parts := strings.Split(name, ".")
	for i, part := range parts {
		parts[i] = t.engine.Dialect.Quote(part)
	}
	return strings.Join(parts, ".")
}

// prepare makes the rows that are missing, compares all and opens those that are new. It needs every database: a row that
// was not compared with all the others gives no numbers, for it could overlap with one of them.
func prepare(ctx context.Context, tables []*table) error {
	rows := make([]record, len(tables))
	var space string
	var errs []error
	for i, t := range tables {
		row, err := t.read(ctx)
		if err == nil || errors.Is(err, errNoRow) {
			var info dbserver.Info
			if info, err = t.engine.Info(ctx, t.db); err == nil {
				if err := info.Check(0); err != nil {
					return ofDatabase(i, err)
				}
			}
		}
		switch {
		case err != nil:
			errs = append(errs, ofDatabase(i, t.failed(ctx, err).err))
		case space == "":
			space = row.space
		}
		rows[i] = row
	}
	if len(errs) > 0 {
		return fmt.Errorf("the rows are yet to be made, which needs every database: %w", errors.Join(errs...))
	}
	for i, t := range tables {
		if rows[i].space != "" {
			continue
		}
		if space == "" {
			space = dbserver.NewUUID()
		}
		row, err := t.read(ctx)
		if errors.Is(err, errNoRow) {
			for j, row := range rows {
				if row.state != stateNew { // then there was one here, and its numbers may be in use
					return fmt.Errorf("database %d: %w, and that of database %d is in use", i, errNoRow, j)
				}
			}
			row, err = t.insert(ctx, space, rows)
		}
		if err != nil {
			return ofDatabase(i, err)
		}
		rows[i], space = row, row.space
	}
	if err := compare(rows); err != nil {
		return err
	}
	for i, t := range tables {
		if rows[i].state != stateNew {
			continue
		}
		s := t.engine.Compile(updateSeal)
		_, err := t.change(ctx, s, map[string]any{
			"tag": t.tag, "space": rows[i].space, "modulus": rows[i].modulus, "residue": rows[i].residue,
		})
		if err != nil {
			return ofDatabase(i, t.failed(ctx, err).err)
		}
	}
	return nil
}

// insert makes a row with a residue that no other has, and returns the row that there is then.
func (t *table) insert(ctx context.Context, space string, others []record) (record, error) {
	modulus := int64(len(others))
	taken := make([]bool, modulus)
	for _, row := range others {
		if row.space != "" && row.residue >= 0 && row.residue < modulus {
			taken[row.residue] = true
		}
	}
	residue := int64(0)
	for taken[residue] { // one at least is this row's own
		residue++
	}
	used, err := t.highest(ctx, 1, 0)
	if err != nil {
		return record{}, err
	}
	next := used + 1
	next += ((residue-next)%modulus + modulus) % modulus
	s := t.engine.Compile(insertRow)
	failed := t.engine.Insert(ctx, t.db, dbserver.ForSegments, s, map[string]any{
		"tag": t.tag, "space": space, "modulus": modulus, "residue": residue, "next": next,
	})
	if t.engine.IsInTransaction(failed) {
		return record{}, t.failed(ctx, failed).err
	}
	// Another process may have been faster: what counts is the row.
	row, err := t.read(ctx)
	if errors.Is(err, errNoRow) && failed != nil {
		err = failed
	}
	if err != nil {
		return row, t.failed(ctx, err).err
	}
	return row, nil
}

// compare says in what rows do not fit together.
func compare(rows []record) error {
	seen := map[int64]int{}
	for i, row := range rows {
		j, twice := seen[row.residue]
		switch {
		case row.modulus != int64(len(rows)) || row.residue < 0 || row.residue >= row.modulus || row.nextID < 1 || row.nextID%row.modulus != row.residue:
			return fmt.Errorf("%w: database %d has modulus %d, residue %d and next number %d, and there are %d databases",
				ErrMismatch, i, row.modulus, row.residue, row.nextID, len(rows))
		case row.space != rows[0].space:
			return fmt.Errorf("%w: database 0 is of space %q, database %d of %q", ErrMismatch, rows[0].space, i, row.space)
		case twice:
			return fmt.Errorf("%w: databases %d and %d both have residue %d modulo %d", ErrMismatch, j, i, row.residue, row.modulus)
		}
		seen[row.residue] = i
	}
	return nil
}

// Raise moves the row of a tag in one database beyond every id up to above, and lets numbers be taken from it again
// where it had gone back. Call it for a database that was restored or that lost history, with an id that is above all that
// any process was given. That is more than the tables that use them have, by what processes still hold: where none runs, the
// tables will do. It never moves a row back, and can be called again.
//
// The errors are those of [Open]; a row that is not there is [ErrMismatch].
func Raise(ctx context.Context, db *sql.DB, d sqlsnow.Dialect, tag string, above snow.ID) error {
	if err := raise(ctx, db, d, tag, above); err != nil {
		return fmt.Errorf("segments: raise tag %q: %w", tag, err)
	}
	return nil
}

func raise(ctx context.Context, db *sql.DB, d sqlsnow.Dialect, tag string, above snow.ID) error {
	e, err := dbserver.For(d)
	if err != nil {
		return err
	}
	if err := dbserver.CheckName("tag", tag); err != nil {
		return err
	}
	if above < 0 || above > highestID {
		return &snow.FieldError{Field: "above", Value: above.String(), Bound: "want 0 to " + snow.ID(highestID).String()}
	}
	t := newTable(db, e, tag, nil)
	s := e.Compile(updateRaise)
	n, err := t.change(ctx, s, map[string]any{"tag": tag, "next": int64(above) + 1})
	if err == nil && n == 0 {
		var info dbserver.Info
		if info, err = e.Info(ctx, db); err == nil {
			if err := info.Check(0); err != nil {
				return err
			}
			var row record
			if row, err = t.read(ctx); err == nil {
				return fmt.Errorf("%w: the row has modulus %d", ErrMismatch, row.modulus)
			}
		}
	}
	if err != nil {
		return t.failed(ctx, err).err
	}
	return nil
}
