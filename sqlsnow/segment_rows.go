package sqlsnow

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/sqldialect"
)

// The states of a row.
const (
	segmentNew    = 0 // made, and not yet compared with the rows of the other databases
	segmentOpen   = 1
	segmentFenced = 2 // it went back; see RaiseSegments
)

// A segmentRow is a row of snow_segments.
type segmentRow struct {
	space                           string
	modulus, residue, state, nextID int64
}

// A segmentTable is the table of a database, for one tag.
type segmentTable struct {
	db     *sql.DB
	engine *engine
	tag    string
	tables []SegmentTable
}

// take asks for numbers. What it returns without an error is durable and nobody else's.
func (t *segmentTable) take(ctx context.Context, q segmentTake) (r segmentTaken) {
	if q.contact && len(t.tables) > 0 {
		if err := t.reach(ctx, &q); err != nil {
			return t.failed(ctx, err)
		}
	}
	r, err := t.write(ctx, q)
	if err == nil && q.contact && q.modulus > 1 && r.space == "" {
		var row segmentRow
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
func (t *segmentTable) failed(ctx context.Context, err error) segmentTaken {
	err = t.engine.named("take numbers", err)
	var own *DatabaseError
	if e := t.engine; e.segments != "" && errors.As(err, &own) && e.dialect.Classify(own) == sqldialect.Other {
		var n int
		if t.db.QueryRowContext(ctx, e.segments).Scan(&n) == nil && n == 0 {
			err = fmt.Errorf("%w (%w)", ErrNotMigrated, err)
		}
	}
	return segmentTaken{err: err, busy: t.engine.isBusy(err)}
}

// write executes the statement. Where it changed nothing, the error is sql.ErrNoRows.
func (t *segmentTable) write(ctx context.Context, q segmentTake) (r segmentTaken, err error) {
	span := q.count * q.modulus
	values := map[string]any{
		"tag": t.tag, "span": span, "modulus": q.modulus, "least": q.least, "most": q.most, "residue": q.residue, "space": q.space,
	}
	none := sql.ErrNoRows
	err = t.engine.alone(ctx, t.db, toNumber, func(on *session) (changed bool, err error) {
		if t.engine.told != "" {
			changed, err = on.query(ctx, t.engine.take, values, &r.start, &r.residue, &r.space)
			r.start -= span
		} else {
			var n int64
			n, r.start, err = on.exec(ctx, t.engine.take, values)
			// The statement holds for rows only whose next number has the row's residue.
			changed, r.residue, r.space = n > 0, r.start%q.modulus, q.space
		}
		if changed {
			none = nil
		}
		return changed, err
	})
	if err != nil {
		return segmentTaken{}, err
	}
	return r, none
}

// change executes another UPDATE and returns how many rows it changed.
func (t *segmentTable) change(ctx context.Context, s statement, values map[string]any) (n int64, err error) {
	err = t.engine.alone(ctx, t.db, toNumber, func(on *session) (_ bool, err error) {
		n, _, err = on.exec(ctx, s, values)
		return n > 0, err
	})
	return n, err
}

// read returns the row, or errNoRow.
func (t *segmentTable) read(ctx context.Context) (row segmentRow, err error) {
	s := t.engine.compile(selectSegment)
	err = t.db.QueryRowContext(ctx, s.text, s.arguments(map[string]any{"tag": t.tag})...).
		Scan(&row.space, &row.modulus, &row.residue, &row.state, &row.nextID)
	if errors.Is(err, sql.ErrNoRows) {
		err = errNoRow
	}
	return row, err
}

// diagnose says why a row was not changed.
func (t *segmentTable) diagnose(ctx context.Context, q segmentTake) segmentTaken {
	row, err := t.read(ctx)
	if err != nil {
		return t.failed(ctx, err)
	}
	back := &RegressedError{Next: snow.ID(row.nextID)}
	switch {
	case row.modulus != q.modulus || row.nextID%row.modulus != row.residue:
		return segmentTaken{err: fmt.Errorf("%w: the row has modulus %d, residue %d and next number %d, and there are %d databases",
			ErrSegmentsMismatch, row.modulus, row.residue, row.nextID, q.modulus)}
	case !q.contact && (q.space != "" && row.space != q.space || row.residue != q.residue):
		return segmentTaken{err: fmt.Errorf("%w: the row is now of space %q and residue %d, no longer %q and %d",
			ErrSegmentsMismatch, row.space, row.residue, q.space, q.residue)}
	case row.state == segmentNew:
		return segmentTaken{err: errNotSealed}
	case row.state != segmentOpen:
		if row.nextID < q.least { // this process has seen it as well
			back.Least = snow.ID(q.least)
		}
		return segmentTaken{err: back}
	case row.nextID < q.least:
		// Nobody shall take from it, be they those who have not seen more. Next time this is tried again.
		s := t.engine.compile(updateSegmentFence)
		_, _ = t.change(ctx, s, map[string]any{"tag": t.tag, "space": row.space, "least": q.least})
		back.Least = snow.ID(q.least)
		return segmentTaken{err: back}
	case row.nextID > q.most:
		r := segmentTaken{err: ErrSegmentsExhausted}
		if row.nextID <= q.last {
			r.room = min((q.last-row.nextID)/q.modulus+1, q.count)
		}
		return r
	}
	f, err := t.engine.askFacts(ctx, t.db)
	if err != nil {
		return t.failed(ctx, err)
	}
	if err := f.check(0); err != nil {
		return segmentTaken{err: err}
	}
	return segmentTaken{err: errMoved, busy: true}
}

// reach makes q refuse a row that is not beyond the ids that are in use.
func (t *segmentTable) reach(ctx context.Context, q *segmentTake) error {
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

// highest returns the highest id in use that has a residue, or 0; highestSegmentID for all that are beyond it.
func (t *segmentTable) highest(ctx context.Context, modulus, residue int64) (highest int64, err error) {
	for _, table := range t.tables {
		id := t.engine.quote(table.Column)
		text := "SELECT MAX(" + id + ") FROM " + t.engine.quote(table.Name)
		args := map[string]any{}
		if modulus > 1 { // from the top until one is found
			text = "SELECT " + id + " FROM " + t.engine.quote(table.Name) + " WHERE " + id + " % :modulus = :residue ORDER BY " + id + " DESC LIMIT 1"
			args["modulus"], args["residue"] = modulus, residue
		}
		s := t.engine.compile(text)
		var got sql.NullInt64
		if err := table.DB.QueryRowContext(ctx, s.text, s.arguments(args)...).Scan(&got); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return 0, t.engine.database("read the highest of "+table.Name, err)
		}
		highest = max(highest, min(got.Int64, highestSegmentID)) // what follows it can be stored
	}
	return highest, nil
}

// quote quotes a name, of which dots separate the parts.
func (e *engine) quote(name string) string {
	parts := strings.Split(name, ".")
	for i, part := range parts {
		parts[i] = e.dialect.Quote(part)
	}
	return strings.Join(parts, ".")
}

// prepare makes the rows that are missing, compares all and opens those that are new. It needs every database: a row that
// was not compared with all the others gives no numbers, for it could overlap with one of them.
func prepareSegments(ctx context.Context, tables []*segmentTable) error {
	rows := make([]segmentRow, len(tables))
	var space string
	var errs []error
	for i, t := range tables {
		row, err := t.read(ctx)
		if err == nil || errors.Is(err, errNoRow) {
			var f facts
			if f, err = t.engine.askFacts(ctx, t.db); err == nil {
				if err := f.check(0); err != nil {
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
			space = newUUID()
		}
		row, err := t.read(ctx)
		if errors.Is(err, errNoRow) {
			for j, row := range rows {
				if row.state != segmentNew { // then there was one here, and its numbers may be in use
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
	if err := compareSegments(rows); err != nil {
		return err
	}
	for i, t := range tables {
		if rows[i].state != segmentNew {
			continue
		}
		s := t.engine.compile(updateSegmentSeal)
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
func (t *segmentTable) insert(ctx context.Context, space string, others []segmentRow) (segmentRow, error) {
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
		return segmentRow{}, err
	}
	next := used + 1
	next += ((residue-next)%modulus + modulus) % modulus
	s := t.engine.compile(insertSegment)
	failed := t.engine.insert(ctx, t.db, toNumber, s, map[string]any{
		"tag": t.tag, "space": space, "modulus": modulus, "residue": residue, "next": next,
	})
	if errors.Is(failed, ErrInTransaction) {
		return segmentRow{}, failed
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

// compareSegments says in what rows do not fit together.
func compareSegments(rows []segmentRow) error {
	seen := map[int64]int{}
	for i, row := range rows {
		j, twice := seen[row.residue]
		switch {
		case row.modulus != int64(len(rows)) || row.residue < 0 || row.residue >= row.modulus || row.nextID < 1 || row.nextID%row.modulus != row.residue:
			return fmt.Errorf("%w: database %d has modulus %d, residue %d and next number %d, and there are %d databases",
				ErrSegmentsMismatch, i, row.modulus, row.residue, row.nextID, len(rows))
		case row.space != rows[0].space:
			return fmt.Errorf("%w: database 0 is of space %q, database %d of %q", ErrSegmentsMismatch, rows[0].space, i, row.space)
		case twice:
			return fmt.Errorf("%w: databases %d and %d both have residue %d modulo %d", ErrSegmentsMismatch, j, i, row.residue, row.modulus)
		}
		seen[row.residue] = i
	}
	return nil
}

// RaiseSegments moves the row of a tag in one database beyond every id up to above, and lets numbers be taken from it again
// where it had gone back. Call it for a database that was restored or that lost history, with an id that is above all that
// any process was given. That is more than the tables that use them have, by what processes still hold: where none runs, the
// tables will do. It never moves a row back, and can be called again.
//
// The errors are those of [OpenSegments]; a row that is not there is [ErrSegmentsMismatch].
func RaiseSegments(ctx context.Context, db *sql.DB, d Dialect, tag string, above snow.ID) error {
	if err := raiseSegments(ctx, db, d, tag, above); err != nil {
		return fmt.Errorf("sqlsnow: raise segments of tag %q: %w", tag, err)
	}
	return nil
}

func raiseSegments(ctx context.Context, db *sql.DB, d Dialect, tag string, above snow.ID) error {
	e, err := engineOf(d)
	if err != nil {
		return err
	}
	if err := checkName("tag", tag); err != nil {
		return err
	}
	if above < 0 || above > highestSegmentID {
		return &snow.FieldError{Field: "above", Value: above.String(), Bound: "want 0 to " + snow.ID(highestSegmentID).String()}
	}
	t := &segmentTable{db: db, engine: e, tag: tag}
	s := e.compile(updateSegmentRaise)
	n, err := t.change(ctx, s, map[string]any{"tag": tag, "next": int64(above) + 1})
	if err == nil && n == 0 {
		var f facts
		if f, err = e.askFacts(ctx, db); err == nil {
			if err := f.check(0); err != nil {
				return err
			}
			var row segmentRow
			if row, err = t.read(ctx); err == nil {
				return fmt.Errorf("%w: the row has modulus %d", ErrSegmentsMismatch, row.modulus)
			}
		}
	}
	if err != nil {
		return t.failed(ctx, err).err
	}
	return nil
}
