package witness

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"

	"github.com/shardsnow/snow/merge/internal/catalog"
	"github.com/shardsnow/snow/merge/internal/packed"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// A Database is one that the witness reads.
type Database struct {
	Name    string // of the source; empty for the target
	Catalog *catalog.Catalog

	SQL          func(table string) string // what it calls a table of the plan
	QueryContext func(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// A Witness compares where the references of sources and target lead. One goroutine uses it at a time.
type Witness struct {
	Dialect sqlsnow.Dialect
	Plan    *plan.Plan
	Sources []*Database // in the plan's order
	Target  *Database

	// More says whether a table of the target has rows that come from none of the sources.
	More func(*plan.Table) bool

	// Codec returns what finds the ids in a column of RolePacked, and its format.
	Codec func(t *plan.Table, c *plan.Column) (packed.Codec, packed.Format, error)

	// Rows is about how many rows of each table are looked at. 0 means all.
	Rows int64

	Known *Contents

	led  map[where]map[int64]string // the contents of rows that references inside of values lead to; empty for no row
	seen map[sample]bool            // whose references inside of values are known
}

// Contents are what is known of the contents of tables. They are safe for concurrent use, and several witnesses of
// the same databases share them. The zero value is ready for use.
type Contents struct {
	mu sync.Mutex
	of map[*plan.Table]*contents
}

// contents are what is known of the contents of a table.
type contents struct {
	once   sync.Once
	shared map[string]bool // of several rows
	told   bool            // the others are each of one row
	err    error
}

func (c *Contents) table(t *plan.Table) *contents {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of = map[*plan.Table]*contents{}
	}
	if c.of[t] == nil {
		c.of[t] = &contents{}
	}
	return c.of[t]
}

// Counts are the references of one kind that were looked at.
type Counts struct {
	Column       *plan.Column
	Ref          int
	Witnessed    int64   // they lead to a row of the content that they led to in the source
	Undetermined int64   // nothing tells the row from others, or the rows were merged or left out
	Wrong        int64   // they lead to another content
	Such         []Wrong // some of those
}

// A Wrong is a reference that leads to another content than in its source.
type Wrong struct {
	Source string
	Row    []string // the key in the source; without one, the values of the columns that hold references
	Target []string // the same in the target, of a row that it may have become
	Nobody bool     // it leads to no row
}

// mostSuch is how many wrong references of one kind are returned.
const mostSuch = 20

// Table compares the references of one table, of as many rows as it has: it returns the counts of each reference.
func (w *Witness) Table(ctx context.Context, t *plan.Table, rows int64) ([]Counts, error) {
	links := w.links(t)
	if len(links) == 0 || rows == 0 {
		return nil, nil
	}
	if w.led == nil {
		w.led, w.seen = map[where]map[int64]string{}, map[sample]bool{}
	}
	c := &comparison{Witness: w, table: t, links: links, shares: 1, size: rows, counts: make([]Counts, len(links))}
	for i, l := range links {
		c.counts[i].Column, c.counts[i].Ref = l.column, l.ref
		if err := w.loadContents(ctx, l.parent); err != nil {
			return nil, fmt.Errorf("contents of table %q: %w", l.parent.Name, err)
		}
	}
	if w.Rows > 0 && rows > w.Rows {
		c.shares = rows / w.Rows
	}
	for {
		if err := c.compare(ctx); err != nil {
			return nil, fmt.Errorf("references of table %q: %w", t.Name, err)
		}
		if c.read > 0 || c.shares == 1 {
			return c.counts, nil
		}
		c.shares = 1 // the rows have few contents, and none has the share
	}
}

// loadContents finds out which contents of a table are of several rows.
func (w *Witness) loadContents(ctx context.Context, t *plan.Table) error {
	known := w.Known.table(t)
	known.once.Do(func() { known.shared, known.told, known.err = w.shared(ctx, t) })
	return known.err
}

// isUnique reports whether a content belongs to one row of a table, or to one after another.
func (w *Witness) isUnique(t *plan.Table, content string) bool {
	known := w.Known.table(t)
	if !known.told {
		return false
	}
	for one := range strings.SplitSeq(content, between) {
		if one == unreadable || known.shared[one] {
			return false
		}
	}
	return true
}
