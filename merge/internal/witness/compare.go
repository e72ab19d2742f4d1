package witness

import (
	"context"
	"slices"
	"strings"

	"github.com/shardsnow/snow/merge/plan"
)

// compare compares the tuples of the sources with the target's. Sums of tuples tell where the two differ:
// only tuples of those are compared one by one. Where the target has rows of others, all are.
func (c *comparison) compare(ctx context.Context) error {
	more, fewer := c.More(c.table), c.loses(c.table)
	was, is, err := c.sums(ctx, !more)
	if err != nil || c.read == 0 {
		return err
	}
	if more && fewer { // nothing follows for a single row
		c.tellNothing()
		return nil
	}
	passes := map[uint64]bool{} // the buckets to look at
	if !more {
		for i := range was {
			if was[i] != is[i] {
				passes[uint64(i)] = true
			}
		}
		if len(passes) == 0 {
			return nil
		}
	}
	if err := c.differences(ctx, passes, more, fewer); err != nil {
		return err
	}
	if c.forgot {
		c.tellNothing()
	}
	return nil
}

// tellNothing takes back that references were witnessed.
func (c *comparison) tellNothing() {
	for i := range c.counts {
		c.counts[i].Undetermined, c.counts[i].Witnessed = c.counts[i].Undetermined+c.counts[i].Witnessed, 0
	}
}

// A group is the rows of one tuple: how many more the sources have than the target, and one of each.
type group struct {
	tuple
	more   int64
	left   int64 // of those, without a counterpart
	source string
	row    []string // in the source
	target []string
}

// differences compares tuples one by one, in some buckets or in all. It remembers the tuples of as many buckets
// at a time as it can, and keeps the ones that differ.
func (c *comparison) differences(ctx context.Context, passes map[uint64]bool, more, fewer bool) error {
	var missing, extra []*group
	width := uint64(max(1, min(buckets, mostTuples*buckets/max(1, c.read))))
	for first := uint64(0); first < buckets && len(missing)+len(extra) < mostTuples; first += width {
		within := func(b uint64) bool { return b >= first && b < first+width && (len(passes) == 0 || passes[b]) }
		needed := false
		for b := first; b < min(buckets, first+width); b++ {
			needed = needed || within(b)
		}
		if !needed {
			continue
		}
		groups, err := c.gather(ctx, func(v tuple) bool { return within(v.digest()[0] % buckets) }, true, true)
		if err != nil {
			return err
		}
		for _, g := range groups {
			switch {
			case g.more > 0 && !fewer:
				missing = append(missing, g)
			case g.more < 0 && !more:
				extra = append(extra, g)
			}
		}
	}
	// Where one side has rows that the other need not have, a row of the same content on the other side is what it
	// may have become.
	candidates := func(of []*group, sources bool) (all []*group, err error) {
		wanted := map[string]bool{}
		for _, g := range of {
			wanted[g.content] = true
		}
		if len(wanted) == 0 {
			return nil, nil
		}
		groups, err := c.gather(ctx, func(v tuple) bool { return wanted[v.content] }, sources, !sources)
		for _, g := range groups {
			all = append(all, g)
		}
		return all, err
	}
	var err error
	switch {
	case more:
		extra, err = candidates(missing, false)
	case fewer:
		missing, err = candidates(extra, true)
	}
	if err != nil {
		return err
	}
	if fewer {
		return c.judge(ctx, extra, missing, true)
	}
	return c.judge(ctx, missing, extra, false)
}

// gather returns the tuples that want reports true for, of the sources, of the target, or of both.
func (c *comparison) gather(ctx context.Context, want func(tuple) bool, sources, target bool) (map[digest]*group, error) {
	groups := map[digest]*group{}
	add := func(db *Database, n int64) error {
		return c.each(ctx, db, c.table, c.links, c.shares, true, func(v tuple, key []string) {
			if !want(v) {
				return
			}
			d := v.digest()
			g := groups[d]
			if g == nil {
				if len(groups) >= 3*mostTuples { // a table that has much more rows than were to be remembered
					c.forgot = true
					return
				}
				g = &group{tuple: v}
				groups[d] = g
			}
			if g.more += n; n > 0 {
				g.source, g.row = db.Name, key
			} else {
				g.target = key
			}
		})
	}
	for _, s := range c.Sources {
		if sources && c.table.In(s.Name) {
			if err := add(s, 1); err != nil {
				return nil, err
			}
		}
	}
	if target {
		return groups, add(c.Target, -1)
	}
	return groups, nil
}

// A pair is rows of the sources, and rows of the target that they may have become and that lead elsewhere.
type pair struct {
	was, is *group
	n       int64
}

// judge counts the references that lead elsewhere. Groups are of the sources and others of the target, or the other
// way round if turned.
func (c *comparison) judge(ctx context.Context, groups, others []*group, turned bool) error {
	by := map[string][]*group{}
	for _, g := range others {
		g.left = max(g.more, -g.more)
		by[g.content] = append(by[g.content], g)
	}
	var pairs []pair
	for _, g := range groups {
		for g.left = max(g.more, -g.more); g.left > 0; {
			other := c.nearest(g, by[g.content])
			// no row of this content is left: the row itself is missing, or differs, which is not for the witness
			// to say
			if other == nil {
				if !turned {
					c.undetermined(g)
				}
				break
			}
			n := min(g.left, other.left)
			g.left, other.left = g.left-n, other.left-n
			if turned {
				pairs = append(pairs, pair{other, g, n})
			} else {
				pairs = append(pairs, pair{g, other, n})
			}
		}
	}
	excused, err := c.excuses(ctx, pairs)
	if err != nil {
		return err
	}
	for _, p := range pairs {
		for i, l := range c.links {
			was, is := p.was.parents[i], p.is.parents[i]
			if was == is {
				continue
			}
			counts := &c.counts[i]
			switch {
			case was == "":
			case c.isUnique(l.parent, was):
				counts.Witnessed -= p.n * several(was)
			default:
				counts.Undetermined -= p.n * several(was)
			}
			if excused.of(l.parent, was) || l.mayClear(was, is) {
				counts.Undetermined += p.n * several(was)
				continue
			}
			counts.Wrong += p.n
			if len(counts.Such) < mostSuch {
				counts.Such = append(counts.Such, Wrong{Source: p.was.source, Row: p.was.row, Target: p.is.target, Nobody: is == ""})
			}
		}
	}
	return nil
}

// undetermined takes back that the references of rows were witnessed.
func (c *comparison) undetermined(g *group) {
	for i, l := range c.links {
		if g.parents[i] != "" && c.isUnique(l.parent, g.parents[i]) {
			c.counts[i].Witnessed -= g.left * several(g.parents[i])
			c.counts[i].Undetermined += g.left * several(g.parents[i])
		}
	}
}

// mostTried is how many rows are tried for the one that is nearest to another.
const mostTried = 1000

// nearest returns the group of rows that are left whose references differ least, or nil. That references have
// become NULL or were taken out, as the plan lets them, differs less than anything else.
func (c *comparison) nearest(g *group, among []*group) (found *group) {
	more := len(c.links) + 1 // than all that have become NULL
	least := more * more
	tried := 0
	for _, other := range among {
		if other.left == 0 {
			continue
		}
		was, is := g, other
		if g.more < 0 {
			was, is = other, g
		}
		differing := 0
		for i, l := range c.links {
			switch {
			case was.parents[i] == is.parents[i]:
			case l.mayClear(was.parents[i], is.parents[i]):
				differing++
			default:
				differing += more
			}
		}
		if differing > 0 && differing < least {
			found, least = other, differing
		}
		if tried++; least == 1 || tried == mostTried {
			break
		}
	}
	return found
}

// mayClear reports whether references to rows may have become NULL, or may have been taken out of a value, and all
// the rest is as it was.
func (l link) mayClear(was, is string) bool {
	if !l.clears {
		return false
	}
	rest := strings.Split(was, between)
	for one := range strings.SplitSeq(is, between) {
		at := slices.Index(rest, one)
		if at < 0 && is != "" {
			return false
		}
		rest = rest[at+1:]
	}
	return true
}

// An excuse is a content of a parent that no row of the target has: its row was merged into one that is written
// otherwise, or was left out.
type excuse struct {
	table   *plan.Table
	content string
}

type excuses map[excuse]bool

// of reports whether one of the contents that a value refers to is excused.
func (e excuses) of(t *plan.Table, contents string) bool {
	for one := range strings.SplitSeq(contents, between) {
		if e[excuse{t, one}] {
			return true
		}
	}
	return false
}

// mostExcuses is how many contents are looked for. The others count as excused: they are not known to be wrong.
const mostExcuses = 5000

func (c *comparison) excuses(ctx context.Context, pairs []pair) (excuses, error) {
	excused := excuses{}
	wanted := map[*plan.Table][]string{}
	for _, p := range pairs {
		for i, l := range c.links {
			if p.was.parents[i] == p.is.parents[i] || !c.loses(l.parent) {
				continue
			}
			for one := range strings.SplitSeq(p.was.parents[i], between) {
				if key := (excuse{l.parent, one}); one != "" && !excused[key] {
					excused[key] = true
					if len(wanted[l.parent]) < mostExcuses {
						wanted[l.parent] = append(wanted[l.parent], one)
					}
				}
			}
		}
	}
	for t, all := range wanted {
		if len(c.content(t)) == 0 {
			continue
		}
		found, err := c.there(ctx, t, all)
		if err != nil {
			return nil, err
		}
		for content := range found {
			delete(excused, excuse{t, content})
		}
	}
	return excused, nil
}
