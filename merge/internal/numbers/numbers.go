package phases

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
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// A numbering is which numbers the new ids of a table are. Those of a source have nothing in common with those of
// another one, with rows of the target, or with rows of sources that keep their ids.
type numbering struct {
	*Job
	table *plan.Table
	typ   string // of the column in the target
	least int64
	most  int64
	keep  int64 // numbers above the new ids that stay free: for merges to come, and one for the next row that the target numbers

	order []string         // the sources whose rows get new ids
	old   map[string]idSet // of their rows
	rows  int64            // that they have
	kept  []*chunk.Session // the databases whose rows have the ids that they will have

	ranges  map[string]ledger.IDRange // by source; those of dense ids begin where mint has come to
	highest int64                     // no new id is above it
	left    *ledger.Numbers           // nil if the run leaves none but those that an earlier one has left
	last    int64                     // the last of those that an earlier run has left, if new ids are among them, or 0
}

// An idSet says which ids rows have.
type idSet struct {
	rows      int64
	low, high int64 // of no meaning without rows
}

// newNumbering chooses the numbers of a table. target is its key as the target has it, and earlier are the numbers
// that runs have left free. It returns a [*report.RoomError] or [*plan.Error] where there is no room.
func newNumbering(ctx context.Context, j *Job, c *chunk.Conns, t *plan.Table, target *plan.Column, earlier []ledger.Numbers) (*numbering, error) {
	n := &numbering{
		Job: j, table: t, typ: target.Type, least: max(1, t.Least), most: sqltype.Of(j.Engine.Kind, target.Type).Highest(),
		old: map[string]idSet{}, ranges: map[string]ledger.IDRange{}, kept: []*chunk.Session{c.Target},
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
func (n *numbering) look(ctx context.Context, s *chunk.Session) (ids idSet, err error) {
	key := n.Engine.Quote(n.table.Key().Name)
	var low, high sql.NullString // drivers have several types for those of BIGINT UNSIGNED
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

func (n *numbering) fault(reason string, args ...any) error {
	return &plan.Error{Table: n.table.Name, Column: n.table.Key().Name, Reason: fmt.Sprintf(reason, args...)}
}

// taken returns the highest id within bounds that a row has which keeps its id, or least - 1.
func (n *numbering) taken(ctx context.Context, least, most int64) (int64, error) {
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
func (n *numbering) choose(ctx context.Context, earlier []ledger.Numbers) error {
	for _, left := range earlier {
		least, most := max(n.least, left.First), min(n.most, left.Last)
		if least > most {
			continue
		}
		err := n.within(ctx, least, most, true)
		if err == nil {
			n.last = most
		}
		if err == nil || !errors.As(err, new(*report.RoomError)) {
			return err
		}
	}
	if err := n.within(ctx, n.least, n.most, false); err != nil {
		return err
	}
	if n.table.Leave > 0 {
		first := n.highest + 1
		if n.table.IDs == plan.IDsDense && len(n.order) > 0 { // fewer rows may be copied
			first = int64(n.ranges[n.order[0]].First)
		}
		n.left = &ledger.Numbers{First: first, Last: n.highest + n.table.Leave}
	}
	return nil
}

// within chooses among the numbers from least to most, which an earlier run may have left: then all new ids must
// have room, and those above them are what stays free.
func (n *numbering) within(ctx context.Context, least, most int64, left bool) error {
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

// dense makes one range of all sources: where that of one ends, and of the next one begins, mint finds out. How
// many rows are merged or left out is not known yet, so that it may turn out there that there is no room.
func (n *numbering) dense(first, last int64, left bool) error {
	n.highest = addTo(first-1, n.rows)
	if first > last && n.rows > 0 || left && n.highest > last {
		return n.room(n.highest)
	}
	n.highest = max(min(n.highest, last), first-1)
	for _, source := range n.order {
		n.ranges[source] = ledger.IDRange{IDs: plan.IDsDense, First: uint64(first), End: uint64(last) + 1}
	}
	return nil
}

// offsets makes ranges of the offsets of the plan, and chooses those that it does not have. No row that keeps its
// id has one above top, up to last.
func (n *numbering) offsets(ctx context.Context, last, top int64) error {
	clear(n.ranges)
	n.highest = top
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
			n.ranges[source] = ledger.IDRange{IDs: plan.IDsOffset, Offset: offset, First: uint64(top + 1), End: uint64(top + 1)}
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
func (n *numbering) offset(ids idSet, last, top int64) (offset int64, ok bool) {
	fits := func(offset int64) bool {
		return offset <= last-ids.high && n.overlapping(ids.low+offset, ids.high+offset) == ""
	}
	if ids.low > top && fits(0) {
		return 0, true
	}
	above := max(0, n.highest+1-ids.low)
	for _, offset := range []int64{roundUp(above), above} {
		if fits(offset) {
			return offset, true
		}
	}
	for offset = max(0, top+1-ids.low); !fits(offset); {
		other := n.overlapping(ids.low+offset, addTo(ids.high, offset))
		if other == "" || n.ranges[other].End > uint64(last) {
			return above, false
		}
		offset = int64(n.ranges[other].End) - ids.low
	}
	return offset, true
}

// given takes an offset of the plan, if new ids are not above last.
func (n *numbering) given(ctx context.Context, source string, offset, last int64) error {
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
		r := n.ranges[other]
		return n.fault("with their offsets, new ids of source %q are from %d to %d, and those of source %q from %d to %d", source, low, high, other, r.First, r.End-1)
	}
	n.add(source, offset)
	return nil
}

// meansNone returns an error if a new id may be a number that stands for no row in a column which refers to the table.
func (n *numbering) meansNone() error {
	for _, t := range n.Order {
		for _, c := range t.Columns {
			if !c.HoldsReferences() || !slices.ContainsFunc(c.Refers, func(r *plan.Reference) bool { return r.Table == n.table.Name }) {
				continue
			}
			for _, none := range c.None {
				id, ok := sqlvalue.ParseID(none)
				for _, source := range n.order {
					r := n.ranges[source]
					same := r.IDs == plan.IDsOffset && r.Offset == 0 // in the source it is no row either
					if ok && !same && n.old[source].rows > 0 && id >= int64(r.First) && id <= min(n.highest, int64(r.End-1)) {
						return n.fault("a new id may be %d, which stands for no row in column %q: set least above it or most below it, or other offsets", id, t.Name+"."+c.Name)
					}
				}
			}
		}
	}
	return nil
}

func (n *numbering) add(source string, offset int64) {
	ids := n.old[source]
	n.ranges[source] = ledger.IDRange{IDs: plan.IDsOffset, Offset: offset, First: uint64(ids.low + offset), End: uint64(ids.high+offset) + 1}
	n.highest = max(n.highest, ids.high+offset)
}

// overlapping returns a source whose range has some of the numbers from low to high, or "".
func (n *numbering) overlapping(low, high int64) string {
	for _, source := range n.order {
		if r, ok := n.ranges[source]; ok && r.First < r.End && uint64(low) < r.End && uint64(high) >= r.First {
			return source
		}
	}
	return ""
}

// room returns the error of a number that is too high.
func (n *numbering) room(highest int64) error {
	return &report.RoomError{Table: n.table.Name, Column: n.table.Key().Name, Type: n.typ, Highest: addTo(highest, n.keep), Most: n.most}
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

// standIn returns a number for a row that other rows refer to. It is other than that of any other row, if there is
// room for that.
func (n *numbering) standIn(source string, id int64) int64 {
	if r := n.ranges[source]; r.IDs == plan.IDsOffset {
		return id + r.Offset
	}
	stand := int64(-1)
	for _, other := range n.order {
		ids := n.old[other]
		if ids.rows == 0 {
			continue
		}
		if stand < 0 {
			stand = int64(n.ranges[other].First)
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

// numbered returns the tables whose new ids are numbers.
func numbered(j *Job) []*plan.Table {
	return slices.DeleteFunc(slices.Clone(j.Order), func(t *plan.Table) bool { return !t.IDs.AreNumbers() || t.Key() == nil || len(t.NewIDs) == 0 })
}
