package inspect

import (
	"context"
	"math"
	"slices"

	"github.com/shardsnow/snow/internal/refname"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
)

// A claim is how much speaks for a field to hold the ids of a key. Scores are sums of points of evidence; about
// three points more than for anything else make a claim likely, see certainty.
type claim struct {
	key   *key
	name  float64 // points of the names
	value float64 // points of the values
	rest  float64 // points of types, indexes and joins
	fam   float64 // points of the columns of the same name
	fit   fit
	why   string    // what the names say
	all   inclusion // of all different values; zero if the sample is all, or all rows were not looked at
}

func (c *claim) score() float64 { return c.name + c.value + c.rest + c.fam }

// fits reports whether the values of the field may be ids of the key.
func (c *claim) fits() bool {
	return c.fit.found.of == 0 || !c.fit.known || c.fit.found.share() >= likely
}

// A verdict is what a field is taken for.
type verdict struct {
	key       *key // whose ids it has; nil for a plain column
	isOwn     bool // it is the key of its table
	certainty float64
}

// certainty turns a lead in points into a probability.
func certainty(lead float64) float64 { return 1 / (1 + math.Exp(-lead/1.5)) }

// most returns how certain a claim can be at most: names, values and structure have to agree for it to be near certain.
func (c *claim) most() float64 {
	switch {
	case c.fit.found.share() < likely && c.fit.found.of > 0 && c.fit.known:
		return 0.6
	case c.fit.found.of == 0 || !c.fit.known:
		return 0.75
	case !c.direct():
		return 0.85
	case c.fit.found.share() < 0.97:
		return 0.9
	}
	return 0.99
}

// direct reports whether the name of the field is the name of the table or of its key.
func (c *claim) direct() bool { return c.name >= 3 && c.why != refname.LikeSomebody }

// claim compares a field and a key.
func (s *solver) claim(ctx context.Context, f *field, k *key) *claim {
	c := &claim{key: k}
	c.name, c.why = s.likeness(f, k)
	if c.name > 0 || f.joined(k) != "" || s.mayFit(f, k) {
		c.fit = s.fit(ctx, f, k)
	} else {
		c.fit = fit{found: inclusion{of: 1}, known: true}
	}
	c.value = c.fit.points(f.n)
	if f.bits > 0 && k.bits > f.bits && f.bits < 32 {
		c.rest--
	} else if f.column.Type == k.column.Type {
		c.rest += 0.5
	}
	if where := f.joined(k); where != "" {
		c.rest += 6
	}
	if f.text {
		c.rest -= 2
	}
	return c
}

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
	case share < likely:
		return -2.5
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

// plainPoints weighs what speaks for a number that is no id.
func (f *field) plainPoints() float64 {
	points := 3.0
	if !f.name.ID {
		points += 0.5
	} else {
		points -= 1.5
	}
	if f.name.Quantity {
		points += 2
	}
	if f.flags {
		points += 2
	}
	if f.text {
		points += 1
	}
	if f.indexed {
		points -= 0.5
	}
	return points
}

// ownPoints weighs what speaks for a primary key to number the rows of its table.
func (s *solver) ownPoints(k *key) float64 {
	points := 3.0
	if k.counted {
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
	return points
}

// belongs reports whether the name of a table begins with the name of another one, as the names of parts do.
func (s *solver) belongs(k *key) bool {
	return slices.ContainsFunc(s.keys, func(other *key) bool {
		return len(other.of) < len(k.of) && slices.EqualFunc(k.of[:len(other.of)], other.of, refname.Abbreviates)
	})
}
