package plan

import (
	"maps"
	"slices"
)

// IDs says what the new ids of rows are.
type IDs string

// The kinds of new ids. Default: IDsSnow. IDsOffset and IDsDense are numbers like the ones that the database
// counts up: columns keep their types and defaults, and the target numbers rows as the sources did.
const (
	IDsSnow   IDs = "snow"   // of 64 bits, with the time of the row and a worker number that nobody else has
	IDsOffset IDs = "offset" // the old id and a number, which is the same for all rows of a table of a source
	IDsDense  IDs = "dense"  // the next numbers that are free, in the order of the old ids
)

// AreNumbers reports whether the ids are IDsOffset or IDsDense.
func (i IDs) AreNumbers() bool { return i == IDsOffset || i == IDsDense }

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
