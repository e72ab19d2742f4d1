package inspect

import (
	"context"
	"slices"
	"strings"

	"github.com/shardsnow/snow/internal/refname"
)

// pair looks at tables that relate two rows of one table: a field that is named after the relation, such as
// alliance_id in guild_alliance, may refer to the table that the other column of the primary key refers to.
func (s *solver) pair(ctx context.Context, f *field) {
	if len(f.name.Stem) == 0 {
		for _, c := range f.claims { // another column may say which row of that table this one belongs to
			if c.name < 5 && f.column.Name != c.key.column.Name && slices.ContainsFunc(s.fields, func(other *field) bool {
				return other.table == f.table && other != f && slices.ContainsFunc(other.claims, func(o *claim) bool { return o.key == c.key && o.name >= 5 })
			}) {
				c.name = min(c.name, 0.5)
			}
		}
	}
	best := f.best()
	if !f.name.ID || f.alone || best != nil && best.name >= 2.5 || !slices.ContainsFunc(f.name.Stem, func(w string) bool { return slices.Contains(f.thing, w) }) {
		return
	}
	for _, other := range s.fields {
		if other.table != f.table || other == f || !(other.member && f.member || other.indexed && f.indexed) {
			continue
		}
		if of := other.best(); of != nil && of.name >= 5 && !slices.ContainsFunc(f.claims, func(c *claim) bool { return c.key == of.key }) {
			c := s.claim(ctx, f, of.key)
			c.name, c.why = 2.5, "named after a relation to "+other.column.Name
			f.claims = append(f.claims, c)
		}
	}
}

// accompany lets a reference to users beside an initial, such as gid, speak for the groups of users.
func (s *solver) accompany(f *field) {
	if !f.name.Shared {
		return
	}
	for _, c := range f.claims {
		of := strings.Join(c.key.of, "")
		if slices.ContainsFunc(s.fields, func(other *field) bool {
			if other.table != f.table || other == f || other.table == c.key.table {
				return false
			}
			best := other.best()
			return best != nil && best.name >= 2 && best.key != c.key && strings.HasPrefix(of, strings.Join(best.key.of, ""))
		}) {
			c.rest += 2.5
		}
	}
}

// heed removes the claims whose names say far less than the name of the table that a field is named after, if most of
// its rows have ids of that one. Its other values are orphans, though a larger table has them as ids by chance.
func (f *field) heed() {
	if f.alone {
		return
	}
	var named *claim
	for _, c := range f.claims {
		if c.name >= 4 && c.why != refname.LikeSomebody && c.fit.known && c.fit.found.hits > 0 && c.fits() && (named == nil || c.name > named.name) {
			named = c
		}
	}
	if named == nil {
		return
	}
	f.claims = slices.DeleteFunc(f.claims, func(c *claim) bool {
		return c != f.torn && c.lent < leastLent && c.rest < 6 && (c.name <= named.name-farLess || c != named && c.why == refname.LikeSomebody && c.key != named.key)
	})
}

// end lets it speak for a table that the values end where its ids do, if they do so in each source and for no other
// table.
func (f *field) end() {
	if f.alone || f.text || f.flags || len(f.ending) != 1 || !(f.name.ID || f.name.Role() || f.name.Relative()) {
		return
	}
	c := f.ending[0]
	itself := c.key.table == f.table && !f.name.Relative() // a number of the row may end there
	if itself || f.name.Quantity || slices.ContainsFunc(f.claims, func(other *claim) bool { return other != c && other.name >= max(3, c.name+1) && other.fits() }) {
		return
	}
	c.value += 2
	if !slices.Contains(f.claims, c) {
		f.claims = append(f.claims, c)
	}
	if c.why == "" {
		c.why = "its values end where the ids do"
	}
}

// farLess is by how many points a name is no rival of another one.
const farLess = 2.5
