package witness

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

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

	known map[*plan.Table]*contents
	led   map[where]map[int64]string // the contents of rows that references inside of values lead to; empty for no row
	seen  map[sample]bool            // whose references inside of values are known
}

// contents are what is known of the contents of a table.
type contents struct {
	shared map[string]bool // of several rows
	told   bool            // the others are each of one row
}

// Counts are the references of one kind that were looked at.
type Counts struct {
	Column    *plan.Column
	Ref       int
	Witnessed int64   // they lead to a row of the content that they led to in the source
	Untold    int64   // nothing tells the row from others, or the rows were merged or left out
	Wrong     int64   // they lead to another content
	Such      []Wrong // some of those
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
		c.shares = 1 // the rows have few contents, none of which is of the share
	}
}

// loadContents finds out which contents of a table are of several rows.
func (w *Witness) loadContents(ctx context.Context, t *plan.Table) error {
	if w.known == nil {
		w.known = map[*plan.Table]*contents{}
	}
	if w.known[t] != nil {
		return nil
	}
	shared, told, err := w.shared(ctx, t)
	w.known[t] = &contents{shared, told}
	return err
}

// isUnique reports whether a content is that of one row of a table, or of one after another.
func (w *Witness) isUnique(t *plan.Table, content string) bool {
	if !w.known[t].told {
		return false
	}
	for one := range strings.SplitSeq(content, between) {
		if one == unreadable || w.known[t].shared[one] {
			return false
		}
	}
	return true
}
