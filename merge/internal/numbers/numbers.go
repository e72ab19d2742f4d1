package numbers

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/internal/work"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// A Choice is which numbers the new ids of a table are. The numbers of a source have nothing in common with the numbers
// of other sources, with ids of the target's rows, or with ids that rows of sources keep.
type Choice struct {
	*work.Job
	table *plan.Table
	typ   string // of the column in the target
	least int64
	most  int64
	// numbers above the new ids that stay free: for merges to come, and one for the next row that the target
	// numbers
	keep int64

	order []string         // the sources whose rows get new ids
	old   map[string]idSet // of their rows
	rows  int64            // that they have
	kept  []*chunk.Session // the databases whose rows have the ids that they will have

	Ranges  map[string]ledger.IDRange // by source; ranges of dense ids begin where phase mint has come to
	Highest int64                     // no new id is above it
	Left    *ledger.Numbers           // that stay free; nil if the run leaves no others than an earlier run has left
	last    int64                     // the last number that an earlier run has left, if new ids are among those, or 0
}

// An idSet says which ids rows have.
type idSet struct {
	rows      int64
	low, high int64 // of no meaning without rows
}

// Choose chooses the numbers of a table. target is its key as the target has it, and earlier are the numbers
// that runs have left free. It returns a [*report.FitError] or [*plan.Error] where there is no room.
func Choose(ctx context.Context, j *work.Job, c *chunk.Conns, t *plan.Table, target *plan.Column, earlier []ledger.Numbers) (*Choice, error) {
	n := &Choice{
		Job: j, table: t, typ: target.Type, least: max(1, t.Least), most: sqltype.Of(j.Engine.Kind, target.Type).Highest(),
		old: map[string]idSet{}, Ranges: map[string]ledger.IDRange{}, kept: []*chunk.Session{c.Target},
	}
	n.keep = t.Leave
	if t.Most > 0 && t.Most < n.most {
		n.most = t.Most
	} else if t.Key().Numbered {
		n.keep++
	}
	order, err := j.Plan.Precedence(t)
	if err != nil {
		return nil, err
	}
	for _, source := range order {
		s, err := c.Source(ctx, source)
		if err != nil {
			return nil, err
		}
		if !t.Rekeys(source) {
			n.kept = append(n.kept, s)
			continue
		}
		ids, err := n.look(ctx, s)
		if err != nil {
			return nil, dialect.OfSource(source, err)
		}
		n.order, n.old[source] = append(n.order, source), ids
		n.rows += ids.rows
	}
	if err := n.choose(ctx, earlier); err != nil {
		return nil, err
	}
	return n, n.meansNone()
}

// look returns which ids the rows of a source have.
func (n *Choice) look(ctx context.Context, s *chunk.Session) (ids idSet, err error) {
	key := n.Engine.Quote(n.table.Key().Name)
	var low, high sql.NullString // drivers have several types for values of BIGINT UNSIGNED
	err = s.QueryRowContext(ctx, "SELECT COUNT(*), MIN("+key+"), MAX("+key+") FROM "+s.Engine.Table(n.table.Name)).Scan(&ids.rows, &low, &high)
	if err != nil || ids.rows == 0 {
		return ids, n.Engine.Failed("look for the highest id of table "+strconv.Quote(n.table.Name), err)
	}
	var is, are bool
	ids.low, is = sqlvalue.ParseID(low.String)
	if ids.high, are = sqlvalue.ParseID(high.String); !is || !are {
		err = n.fault("its lowest id is %s, and its highest %s: want integers of 64 bits with a sign", low.String, high.String)
	}
	return ids, err
}

func (n *Choice) fault(reason string, args ...any) error {
	return &plan.Error{Table: n.table.Name, Column: n.table.Key().Name, Reason: fmt.Sprintf(reason, args...)}
}

// taken returns the highest id within bounds that a row has which keeps its id, or least - 1.
func (n *Choice) taken(ctx context.Context, least, most int64) (int64, error) {
	key, top := n.Engine.Quote(n.table.Key().Name), least-1
	for _, s := range n.kept {
		var high sql.NullInt64
		text := fmt.Sprintf("SELECT MAX(%[1]s) FROM %[2]s WHERE %[1]s BETWEEN %[3]d AND %[4]d", key, s.Engine.Table(n.table.Name), least, most)
		if err := s.QueryRowContext(ctx, text).Scan(&high); err != nil {
			return 0, n.Engine.Failed("look for the highest id of table "+strconv.Quote(n.table.Name), err)
		}
		if high.Valid {
			top = max(top, high.Int64)
		}
	}
	return top, nil
}

// choose chooses among the numbers that earlier runs have left, and then among those above all others.
func (n *Choice) choose(ctx context.Context, earlier []ledger.Numbers) error {
	for _, left := range earlier {
		least, most := max(n.least, left.First), min(n.most, left.Last)
		if least > most {
			continue
		}
		err := n.within(ctx, least, most, true)
		if err == nil {
			n.last = most
		}
		if err == nil || !errors.As(err, new(*report.FitError)) {
			return err
		}
	}
	if err := n.within(ctx, n.least, n.most, false); err != nil {
		return err
	}
	if n.table.Leave > 0 {
		first := n.Highest + 1
		if n.table.IDs == plan.IDsDense && len(n.order) > 0 { // fewer rows may be copied
			first = int64(n.Ranges[n.order[0]].First)
		}
		n.Left = &ledger.Numbers{First: first, Last: n.Highest + n.table.Leave}
	}
	return nil
}

// within chooses among the numbers from least to most, which an earlier run may have left: then all new ids must
// have room, and those above them are what stays free.
func (n *Choice) within(ctx context.Context, least, most int64, left bool) error {
	top, err := n.taken(ctx, least, most)
	if err != nil {
		return err
	}
	keep := n.keep
	if left {
		keep = 0
	}
	if keep >= most {
		return n.room(addTo(top, n.rows))
	}
	if n.table.IDs != plan.IDsOffset {
		return n.dense(top+1, most-keep, left)
	}
	for source, offset := range n.table.Offsets {
		if ids := n.old[source]; left && ids.rows > 0 && (addTo(ids.low, offset) < least || addTo(ids.high, offset) > most) {
			return n.room(addTo(ids.high, offset))
		}
	}
	return n.offsets(ctx, most-keep, top)
}

// dense makes one range of all sources: mint finds out where one source ends and the next one begins. How
// many rows are merged or left out is not known yet, so that it may turn out there that there is no room.
func (n *Choice) dense(first, last int64, left bool) error {
	n.Highest = addTo(first-1, n.rows)
	if first > last && n.rows > 0 || left && n.Highest > last {
		return n.room(n.Highest)
	}
	n.Highest = max(min(n.Highest, last), first-1)
	for _, source := range n.order {
		n.Ranges[source] = ledger.IDRange{IDs: plan.IDsDense, First: uint64(first), End: uint64(last) + 1}
	}
	return nil
}

// offsets makes ranges of the offsets of the plan, and chooses the missing ones. No row that keeps its
// id has one above top, up to last.
func (n *Choice) offsets(ctx context.Context, last, top int64) error {
	clear(n.Ranges)
	n.Highest = top
	for _, source := range n.order {
		if offset, given := n.table.Offsets[source]; given && n.old[source].rows > 0 {
			if err := n.given(ctx, source, offset, last); err != nil {
				return err
			}
		}
	}
	for _, source := range n.order {
		ids := n.old[source]
		switch offset, given := n.table.Offsets[source]; {
		case ids.rows == 0:
			n.Ranges[source] = ledger.IDRange{IDs: plan.IDsOffset, Offset: offset, First: uint64(top + 1), End: uint64(top + 1)}
		case given:
		case ids.low < 0:
			return n.fault("source %q has the id %d: give the source an offset, or take it out of new_ids", source, ids.low)
		default:
			offset, ok := n.offset(ids, last, top)
			if !ok {
				return n.room(addTo(ids.high, offset))
			}
			n.add(source, offset)
		}
	}
	return nil
}

// offset chooses one for ids of a source: none where they are free above top; or else one above all others, round
// if there is room for that; or else the lowest above top with which they are free.
func (n *Choice) offset(ids idSet, last, top int64) (offset int64, ok bool) {
	fits := func(offset int64) bool {
		return offset <= last-ids.high && n.overlapping(ids.low+offset, ids.high+offset) == ""
	}
	if ids.low > top && fits(0) {
		return 0, true
	}
	above := max(0, n.Highest+1-ids.low)
	for _, offset := range []int64{roundUp(above), above} {
		if fits(offset) {
			return offset, true
		}
	}
	for offset = max(0, top+1-ids.low); !fits(offset); {
		other := n.overlapping(ids.low+offset, addTo(ids.high, offset))
		if other == "" || n.Ranges[other].End > uint64(last) {
			return above, false
		}
		offset = int64(n.Ranges[other].End) - ids.low
	}
	return offset, true
}

// given takes an offset of the plan, if new ids are not above last.
func (n *Choice) given(ctx context.Context, source string, offset, last int64) error {
	ids := n.old[source]
	low, high := addTo(ids.low, offset), addTo(ids.high, offset)
	if low < n.least {
		return n.fault("with the offset %d of source %q the lowest new id is %d, and %d is the least", offset, source, low, n.least)
	}
	if high > last {
		return n.room(high)
	}
	top, err := n.taken(ctx, low, high)
	if err != nil {
		return err
	}
	if top >= low {
		return n.fault("with the offset %d of source %q new ids are from %d to %d, and a row that keeps its id has %d", offset, source, low, high, top)
	}
	if other := n.overlapping(low, high); other != "" {
		r := n.Ranges[other]
		return n.fault("with their offsets, new ids of source %q are from %d to %d, and those of source %q from %d to %d", source, low, high, other, r.First, r.End-1)
	}
	n.add(source, offset)
	return nil
}

// meansNone returns an error if a new id may be a number that stands for no row in a column which refers to the table.
func (n *Choice) meansNone() error {
	for _, t := range n.Order {
		for _, c := range t.Columns {
			if !c.HoldsReferences() || !slices.ContainsFunc(c.Refers, func(r *plan.Reference) bool { return r.Table == n.table.Name }) {
				continue
			}
			for _, none := range c.None {
				id, ok := sqlvalue.ParseID(none)
				for _, source := range n.order {
					r := n.Ranges[source]
					same := r.IDs == plan.IDsOffset && r.Offset == 0 // in the source it is no row either
					if ok && !same && n.old[source].rows > 0 && id >= int64(r.First) && id <= min(n.Highest, int64(r.End-1)) {
						return n.fault("a new id may be %d, which stands for no row in column %q: set least above it or most below it, or other offsets", id, t.Name+"."+c.Name)
					}
				}
			}
		}
	}
	return nil
}

func (n *Choice) add(source string, offset int64) {
	ids := n.old[source]
	n.Ranges[source] = ledger.IDRange{IDs: plan.IDsOffset, Offset: offset, First: uint64(ids.low + offset), End: uint64(ids.high+offset) + 1}
	n.Highest = max(n.Highest, ids.high+offset)
}

// overlapping returns a source whose range has some of the numbers from low to high, or "".
func (n *Choice) overlapping(low, high int64) string {
	for _, source := range n.order {
		if r, ok := n.Ranges[source]; ok && r.First < r.End && uint64(low) < r.End && uint64(high) >= r.First {
			return source
		}
	}
	return ""
}

// room returns the error of a number that is too high.
func (n *Choice) room(highest int64) error {
	return &report.FitError{
		Table: n.table.Name, Column: n.table.Key().Name, Type: n.typ,
		ID: strconv.FormatInt(addTo(highest, n.keep), 10), Most: strconv.FormatInt(n.most, 10),
	}
}

// addTo adds two numbers that are not below 0, but for the first one, or returns the highest one.
func addTo(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// roundUp returns a number that is easy to remember: of two digits and zeros, not below another one and not much
// above it.
func roundUp(n int64) int64 {
	unit := int64(1)
	for n/unit >= 100 {
		unit *= 10
	}
	if rest := n % unit; rest > 0 {
		return addTo(n, unit-rest)
	}
	return n
}

// StandIn returns a number for a row that other rows refer to. It differs from any other row's, if there is
// room for that.
func (n *Choice) StandIn(source string, id int64) int64 {
	if r := n.Ranges[source]; r.IDs == plan.IDsOffset {
		return id + r.Offset
	}
	stand := int64(-1)
	for _, other := range n.order {
		ids := n.old[other]
		if ids.rows == 0 {
			continue
		}
		if stand < 0 {
			stand = int64(n.Ranges[other].First)
		}
		if other == source {
			stand = addTo(stand, max(0, id-ids.low))
			break
		}
		stand = addTo(stand, max(0, ids.high-ids.low)+1)
	}
	if stand < 1 || stand > n.most {
		return id
	}
	return stand
}

// Forecast returns how far the numbers go if so many rows get new ids, and an error if there is no room for them.
func (n *Choice) Forecast(rows int64) (row report.NumberForecast, err error) {
	t := n.table
	row = report.NumberForecast{Table: t.Name, Column: t.Key().Name, Type: n.typ, IDs: t.IDs, Most: n.most, Left: t.Leave, Highest: n.Highest}
	if t.IDs == plan.IDsOffset {
		row.Offsets = map[string]int64{}
	}
	for _, source := range n.order {
		ids := n.Ranges[source]
		if row.Offsets != nil {
			row.Offsets[source] = ids.Offset
		}
		if n.old[source].rows > 0 && (row.First == 0 || int64(ids.First) < row.First) {
			row.First = int64(ids.First)
		}
	}
	if t.IDs == plan.IDsDense {
		row.First = int64(n.Ranges[n.order[0]].First)
		row.Highest = addTo(row.First-1, rows)
		if last := int64(n.Ranges[n.order[0]].End - 1); row.Highest > last {
			err = n.room(row.Highest)
		}
	}
	if n.last > 0 {
		row.Left = max(0, n.last-row.Highest)
	}
	return row, err
}

// Tables returns the tables whose new ids are numbers.
func Tables(j *work.Job) []*plan.Table {
	return slices.DeleteFunc(slices.Clone(j.Order), func(t *plan.Table) bool { return !t.IDs.AreNumbers() || t.Key() == nil || len(t.NewIDs) == 0 })
}
