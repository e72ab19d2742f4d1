package witness

import (
	"context"
	"errors"
	"sync"

	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// sums returns sums of the tuples of the sources and, if compared, of the target's tuples, and counts the
// references of the sources. It reads both at the same time, unless references inside of values are to be looked
// up.
func (c *comparison) sums(ctx context.Context, compared bool) (was, is [buckets]digest, err error) {
	add := func(to *[buckets]digest, v tuple) {
		d := v.digest()
		sum := &to[d[0]%buckets]
		sum[0], sum[1] = sum[0]+d[0], sum[1]+d[1]
	}
	sources := func() error {
		for _, s := range c.Sources {
			if !c.table.In(s.Name) {
				continue
			}
			if err := c.each(ctx, s, c.table, c.links, c.shares, false, func(v tuple, _ []string) {
				c.count(v)
				add(&was, v)
			}); err != nil {
				return err
			}
		}
		return nil
	}
	target := func() error {
		return c.each(ctx, c.Target, c.table, c.links, c.shares, false, func(v tuple, _ []string) { add(&is, v) })
	}
	if !compared || c.Dialect == sqlsnow.SQLite || len(columnsWithin(c.Target, c.table, c.links)) > 0 {
		if err = sources(); err == nil && compared && c.read > 0 {
			err = target()
		}
		return was, is, err
	}
	var group sync.WaitGroup
	var failed error
	group.Go(func() { failed = target() })
	err = sources()
	group.Wait()
	return was, is, errors.Join(err, failed)
}

// count counts the references of a row of a source.
func (c *comparison) count(v tuple) {
	c.read++
	for i, l := range c.links {
		switch {
		case v.parents[i] == "":
		case c.isUnique(l.parent, v.parents[i]):
			c.counts[i].Witnessed += several(v.parents[i])
		default:
			c.counts[i].Undetermined += several(v.parents[i])
		}
	}
}

// A comparison compares one table.
type comparison struct {
	*Witness
	table  *plan.Table
	links  []link
	shares int64 // one of so many of the rows is looked at
	size   int64 // rows of the table
	read   int64 // rows of sources that were looked at
	counts []Counts
	forgot bool // there were too many tuples to compare them one by one
}

// Buckets are how many sums there are of tuples. Only buckets that differ are looked at again. mostTuples is how many
// are then remembered at a time.
const (
	buckets    = 4096
	mostTuples = 100_000
)
