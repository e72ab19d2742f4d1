package plan

import (
	"maps"
	"math"
	"slices"

	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/merge/internal/sqltype"
)

// IDs says what the new ids of rows are.
type IDs string

// The kinds of new ids. Nothing means IDsSnow. IDsOffset and IDsDense are numbers like those that the database counts up: columns
// keep their types and defaults, and the target numbers rows as the sources did.
const (
	IDsSnow   IDs = "snow"   // of 64 bits, with the time of the row and a worker number that nobody else has
	IDsOffset IDs = "offset" // the old id and a number, which is the same for all rows of a table of a source
	IDsDense  IDs = "dense"  // the next numbers that are free, in the order of the old ids
)

// AreNumbers reports whether the ids are IDsOffset or IDsDense.
func (i IDs) AreNumbers() bool { return i == IDsOffset || i == IDsDense }

// HighestID returns the highest id that a column of a type can hold, at most 2^63 - 1.
func HighestID(d sqldialect.Dialect, typ string) int64 {
	switch s := sqltype.Of(d, typ); {
	case d == sqldialect.SQLite || s.Kind != sqltype.Integer || s.Bits >= 64:
		return math.MaxInt64
	case s.Unsigned:
		return 1<<s.Bits - 1
	default:
		return 1<<(s.Bits-1) - 1
	}
}

// numbers complains of fields that are not for the table's IDs, or out of their bounds.
func (c *checker) numbers(t *Table) {
	c.faultIf(t.IDs != "" && t.IDs != IDsSnow && !t.IDs.AreNumbers(), t.Name, "", "ids %q: want snow, offset or dense", t.IDs)
	c.faultIf(!t.IDs.AreNumbers() && (t.Least != 0 || t.Most != 0 || t.Leave != 0), t.Name, "", "least, most and leave are for ids that are offset or dense")
	c.faultIf(t.IDs != IDsOffset && len(t.Offsets) > 0, t.Name, "", "offsets are for ids that are offset")
	c.faultIf(t.Least < 0 || t.Most < 0 || t.Leave < 0, t.Name, "", "least, most and leave: want numbers from 0 on")
	c.faultIf(t.Most > 0 && t.Least > t.Most, t.Name, "", "least is %d, and most %d", t.Least, t.Most)
	for _, source := range slices.Sorted(maps.Keys(t.Offsets)) {
		c.sources(t, "", "offsets", []string{source})
		c.faultIf(t.Offsets[source] < 0, t.Name, "", "the offset of %q is %d: want a number from 0 on", source, t.Offsets[source])
	}
}

// numbersOnly reports whether a column holds ids of tables alone whose new ids are numbers, so that its type need not change.
func (p *Plan) numbersOnly(t *Table, c *Column) (only bool) {
	if c.Role == RoleKey {
		return t.IDs.AreNumbers()
	}
	if !c.HoldsReferences() {
		return false
	}
	for _, r := range c.Refers {
		if r.Table == "" {
			continue
		}
		parent := p.Table(r.Table)
		if parent == nil || !parent.IDs.AreNumbers() {
			return false
		}
		only = true
	}
	return only
}

// usualIDs returns what most tables have.
func (p *Plan) usualIDs() (usual IDs, leave int64, offsets map[string]int64) {
	kinds, left := map[IDs]int{}, map[int64]int{}
	offsets = map[string]int64{}
	for _, t := range p.Tables {
		if t.Skip {
			continue
		}
		if kinds[t.IDs]++; kinds[t.IDs] > kinds[usual] {
			usual = t.IDs
		}
		if !t.IDs.AreNumbers() {
			continue
		}
		if left[t.Leave]++; left[t.Leave] > left[leave] {
			leave = t.Leave
		}
		for source, offset := range t.Offsets {
			if _, ok := offsets[source]; !ok {
				offsets[source] = offset
			}
		}
	}
	if len(offsets) == 0 {
		offsets = nil
	}
	return usual, leave, offsets
}

// offsetsOf returns the offsets of the sources that have the table.
func (t *Table) offsetsOf(offsets map[string]int64) map[string]int64 {
	have := map[string]int64{}
	for source, offset := range offsets {
		if t.In(source) {
			have[source] = offset
		}
	}
	if len(have) == 0 {
		return nil
	}
	return have
}

// kinds sets what new ids are. A template without ids says nothing of them.
func (c *completer) kinds() {
	for _, t := range c.Plan.Tables {
		if t.Skip || c.template && c.Decisions.IDs == "" {
			continue
		}
		if !c.changed(t, "ids") {
			t.IDs = c.Decisions.IDs
		}
		if t.IDs.AreNumbers() && !c.changed(t, "leave") {
			t.Leave = c.Decisions.Leave
		}
		if t.IDs == IDsOffset && !c.changed(t, "offsets") {
			t.Offsets = t.offsetsOf(c.Decisions.Offsets)
			if c.template { // of other sources
				maps.DeleteFunc(t.Offsets, func(source string, _ int64) bool { return !slices.Contains(c.Plan.Sources, source) })
			}
		}
	}
}
