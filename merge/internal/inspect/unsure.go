package inspect

import "slices"

// undecided is the greatest certainty of what is not proposed: something else is as likely.
const undecided = 0.45

// Points of evidence. From structure on, joins or other columns of the table speak for a claim, and from likeOthers on
// other columns of the name. A lead of less than leastLead is none, nor one of less than leastBare where the name does
// not say that there are ids.
const (
	leastLead  = 1
	leastBare  = 2
	likeOthers = 2
	structure  = 2
)

// A name of fewer points than aPartOf has no more than a word of the table's. One of exact points or more is the name of
// the table or of its key.
const (
	aPartOf = 2.5
	exact   = 5
)

// Values that reach less than half of the ids of a table could be small numbers. They fill the ids of another table if
// they reach nearly all of them, and are enough for that to be no accident.
const (
	shortReach = 0.5
	fullReach  = 0.9
	fewestFull = 10
)

// strays reports whether hardly anything but values speaks for a claim, and not all of them: numbers of any kind are
// mostly among ids that are small and dense.
func (f *field) strays(c *claim) bool {
	return c.name < aPartOf && !f.name.ID && c.rest <= 2 && c.lent < leastLent && c.fit.known && c.fit.found.share() < 1 && c.fit.start < large
}

// tears returns a claim on a table whose ids the values fill, and which has a word of the name, if the table that the
// name says has far more ids. Nil if there is none.
func (f *field) tears() *claim {
	best := f.best()
	if best == nil || best.rest >= structure || !best.fit.known || best.fit.reach >= shortReach || f.n < fewestFull {
		return nil
	}
	for _, c := range f.claims {
		if c != best && c.name > 0 && c.fit.found.share() == 1 && c.fit.reach >= fullReach {
			return c
		}
	}
	return nil
}

// tearAll spreads what tears says of one column to all columns of its name whose values say nothing else.
func (s *solver) tearAll() {
	for _, family := range s.order {
		torn := map[*key]bool{}
		for _, f := range s.families[family] {
			if f.torn != nil {
				torn[f.torn.key] = true
			}
		}
		for _, f := range s.families[family] {
			best := f.best()
			if len(torn) == 0 || f.torn != nil || best == nil || best.rest >= structure || best.fit.reach >= shortReach {
				continue
			}
			if at := slices.IndexFunc(f.claims, func(c *claim) bool { return c != best && torn[c.key] && c.fits() }); at >= 0 {
				f.torn = f.claims[at]
			}
		}
	}
}

// isUnsure reports whether neither names nor values decide what a field holds, so that no answer comes first.
func (f *field) isUnsure() bool {
	if f.verdict.key == nil {
		return f.name.ID && (f.n == 0 || f.could || f.near != nil && f.near.fit.found.share() >= likely || slices.ContainsFunc(f.claims, (*claim).fits))
	}
	c := f.claimOf(f.verdict.key)
	if c.rest >= structure {
		return false
	}
	if f.torn != nil && f.torn != c {
		return true
	}
	if c.name >= exact && !f.name.Quantity {
		return false
	}
	// The name is more like another table's, whose ids the values are not.
	other := slices.ContainsFunc(f.claims, func(o *claim) bool { return o.name >= 4 && o.name > c.name })
	low := c.fit.start < large // as numbers of all kinds are
	tree := c.key.table == f.table && f.name.Relative()
	small := low && !tree && c.fit.found.of > 0 && c.fit.reach < shortReach && c.fam < likeOthers
	lead := c.score() - f.rival(c)
	orphans := c.name < 1 && c.fit.found.share() < 1
	return other || small || orphans || lead < leastLead || low && !f.name.ID && lead < leastBare
}

// rival returns the most points of anything but a claim.
func (f *field) rival(c *claim) float64 {
	most := f.plain
	if f.alone {
		most = f.own
	}
	for _, other := range f.claims {
		if other != c {
			most = max(most, other.score())
		}
	}
	return most
}

// rivals says which other tables could have the values as ids.
func (f *field) rivals() string {
	var tables []string
	for _, c := range f.claims {
		if c.key != f.verdict.key && c.fit.found.of > 0 && c.fit.known && c.fits() {
			tables = append(tables, c.key.table.Name)
		}
	}
	if len(tables) == 0 {
		return ""
	}
	return "they could be ids of " + list(distinctNames(tables), 3) + ", too"
}
