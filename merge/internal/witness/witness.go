package witness

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
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

// loses reports whether rows of a table of the sources may be missing in the target, as the plan says. References
// to them may be NULL.
func (w *Witness) loses(t *plan.Table) bool { return t.Merges(w.Plan.Sources) || t.LosesRows() }

// between is what is between the contents of several rows that one value refers to.
const between = "\x1f"

// several returns how many rows a value refers to.
func several(contents string) int64 { return int64(strings.Count(contents, between)) + 1 }

// unreadable stands for the contents that a value refers to if no ids can be found in it.
const unreadable = "?"

// A where is a table of a database, and a sample some rows of one.
type (
	where struct {
		db    *Database
		table *plan.Table
	}
	sample struct {
		where
		shares int64
	}
)

// joins reports whether SQL can join a column with the keys that its values refer to: each value is one id.
func (l link) joins() bool {
	return l.column.Role == plan.RoleReference || l.column.Role == plan.RolePolymorphic && l.column.Refers[l.ref].Format == ""
}

// A link is a reference to rows of one table.
type link struct {
	column *plan.Column
	ref    int // which of the column's references
	parent *plan.Table
	clears bool // an id in the column may be taken out, as its row is not there
}

// A tuple is a row: its content, and for each link the content of the row that it leads to, or "" if there is none.
type tuple struct {
	content string
	parents []string
}

// A digest tells tuples apart.
type digest [2]uint64

func (t tuple) digest() digest {
	b := make([]byte, 0, 512) // mostly on the stack
	b = append(binary.BigEndian.AppendUint64(b, uint64(len(t.content))), t.content...)
	for _, text := range t.parents {
		b = append(binary.BigEndian.AppendUint64(b, uint64(len(text))), text...)
	}
	sum := sha256.Sum256(b)
	return digest{binary.BigEndian.Uint64(sum[:]), binary.BigEndian.Uint64(sum[8:])}
}

// visit calls scan for each row that a query returns.
func visit(ctx context.Context, db *Database, query string, scan func(*sql.Rows) error) error {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
