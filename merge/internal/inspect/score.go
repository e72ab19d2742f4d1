package inspect

import (
	"context"
	"slices"

	"github.com/shardsnow/snow/internal/refname"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
)

// claim compares a field and a key.
func (s *solver) claim(ctx context.Context, f *field, k *key) *claim {
	c := &claim{key: k}
	c.name, c.why = s.likeness(f, k)
	if c.name > 0 || f.joined(k) != "" || s.mayFit(f, k) {
		c.fit = s.fit(ctx, f, k)
	} else {
		c.fit = fit{found: inclusion{of: 1}, known: true}
	}
	if c.value = c.fit.points(f.n); c.fit.rows.share() >= mostRows && c.name >= 3 {
		c.value = max(c.value, -0.5)
	}
	if c.fit.found.share() < likely && f.name.Quantity {
		c.value = min(c.value, 0) // small numbers are ids of some table, and others beside them
	}
	if f.bits > 0 && k.bits > f.bits && f.bits < 32 {
		c.rest--
	} else if f.column.Type == k.column.Type {
		c.rest += 0.5
	}
	if where := f.joined(k); where != "" {
		c.rest += 6
	}
	if f.bits > 0 && f.bits < 16 && !f.name.ID && !f.alone {
		c.rest -= 2 // most bytes are flags and levels, whatever they are named after
	}
	if f.text {
		c.rest -= 2
	}
	if c.fit.found.share() < likely && f.table == k.table && c.name < 3 {
		c.rest -= 2 // any small numbers are among those that count the rows
	}
	return c
}

// mostRows is the share of the sampled rows whose values are ids of the table that a column is named after, from which
// on the others may be orphans, however many different ones.
const mostRows = 0.75

// likeness returns how much the names of a column and of a key have in common, and in words what.
func (s *solver) likeness(f *field, k *key) (points float64, why string) {
	return refname.Likeness(f.as(), k.as, s.only[f.name.Family()] == k)
}

// points weighs how values compare with ids.
func (t fit) points(n int) (points float64) {
	share := t.found.share()
	switch {
	case n == 0 || t.found.of == 0:
		return 0
	case !t.known:
		return -1 // the table is empty
	case share < 0.5:
		return -9
	case share < likely && !t.fits():
		return -2.5
	case share < 0.75:
		return -0.5 + min(2, t.info/2)
	case share < likely:
		points = -0.5
	case share < 0.97:
		points = 0.2
	default:
		points = 0.7
	}
	points += max(-4, min(4, t.info/2))
	if n >= 8 {
		switch {
		case t.reach >= 0.75:
			points += 1
		case t.reach < 0.25:
			points--
		}
	}
	if t.start > 1000 {
		points += 2
	}
	if t.start >= sqlvalue.BigID {
		points += 4
	}
	return points
}

// ownPoints weighs what speaks for a primary key to number the rows of its table.
func (s *solver) ownPoints(k *key) float64 {
	points := 3.0
	lent := slices.ContainsFunc(k.claims, func(c *claim) bool { return c.lent >= leastLent })
	switch {
	case k.counted && lent: // the database would count, but the numbers come from elsewhere
		points++
	case k.counted:
		points += 4
	}
	if s.declared(k) {
		points += 4
	}
	switch own := max(refname.Alike(k.name.Stem, k.thing), 0); {
	case own >= 3.5:
		points += 3
	case len(k.name.Stem) == 0 && len(k.thing) == 1:
		points += 2
	case !k.counted && s.belongs(k):
		points -= 1.5
	case k.name.Family() == "id":
		points++
	}
	points += min(3, float64(k.named)*0.75)
	if k.as.People { // others have more about them, rather than they about others
		points++
	}
	return points
}

// belongs reports whether the name of a table begins with the name of another one, as the names of parts do.
func (s *solver) belongs(k *key) bool {
	return slices.ContainsFunc(s.keys, func(other *key) bool {
		return len(other.of) < len(k.of) && slices.EqualFunc(k.of[:len(other.of)], other.of, refname.Abbreviates)
	})
}
