package inspect

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"

	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/merge/internal/catalog"
	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
)

const (
	sampleRows   = 1000
	sampleSeeks  = 10
	sampleBytes  = 4 << 20
	wholeSample  = sampleRows / 2 // a table with fewer rows is all in its sample
	surveyedKeys = 200            // values of a column that are looked up in tables that its name does not hint at
)

// Rows reads rows of a database. Values are carried as dialect.Carrier says.
type Rows interface {
	// Range returns at most limit rows of a table after a primary key, in the order of the primary key. Nil means
	// from the first.
	Range(ctx context.Context, t *plan.Table, columns []*plan.Column, after []any, limit int) ([][]any, error)

	// Bounds returns the lowest and the highest value of a column.
	Bounds(ctx context.Context, table, column string) (low, high sql.NullString, err error)

	// Count returns how many of ids a column has.
	Count(ctx context.Context, table string, column *plan.Column, ids []int64) (int, error)

	// First returns at most limit rows of a table that has no primary key, in any order.
	First(ctx context.Context, table string, columns []*plan.Column, limit int) ([][]any, error)

	// Distinct returns at most limit different values of a column.
	Distinct(ctx context.Context, table string, column *plan.Column, limit int) ([]any, error)

	// Included returns how many different positive numbers a column has, and how many of them the column key of
	// another table has.
	Included(ctx context.Context, table, column, parent, key string) (of, found int, err error)

	// Unused reports whether the database would count a column up, and has never done so.
	Unused(ctx context.Context, table, column string) (bool, error)

	// Find returns the rows that have one of keys in the columns by.
	Find(ctx context.Context, table string, columns []*plan.Column, by []string, keys [][]any) ([][]any, error)
}

// evidence is what is known of the sources.
type evidence struct {
	dialect  sqldialect.Dialect
	names    []string
	rows     map[string]Rows
	catalogs map[string]*catalog.Catalog
	plan     *plan.Plan // as far as it is made
	ranges   map[tableOf]keyRange
	samples  map[tableOf]*sample
	keyIDs   map[tableOf][]int64           // all ids, in order; without those of large tables
	kindOf   map[*plan.Column]*plan.Column // what may say whose ids a column has, although all of them are ids of one table
	err      error                         // of the first read that failed: the others are not made then
}

// tableOf is a table of a source.
type tableOf struct{ source, table string }

// A keyRange is the range of the keys of a table in one source.
type keyRange struct {
	any      bool
	min, max int64
}

// A sample is some rows of a table in one source.
type sample struct {
	columns []*plan.Column
	rows    [][]any
	whole   bool // there are no others
}

func (s *sample) index(column string) int {
	return slices.IndexFunc(s.columns, func(c *plan.Column) bool { return c.Name == column })
}

// pick returns the values of a row in some columns.
func (s *sample) pick(columns []string, row []any) []any {
	picked := make([]any, len(columns))
	for n, name := range columns {
		picked[n] = row[s.index(name)]
	}
	return picked
}

// values yields the sampled values of a column in each source, without NULL.
func (e *evidence) values(t *plan.Table, column string) iter.Seq2[string, []any] {
	return func(yield func(string, []any) bool) {
		for _, source := range e.plan.SourcesOf(t) {
			var values []any
			s := e.samples[tableOf{source, t.Name}]
			if at := s.index(column); at >= 0 {
				for _, row := range s.rows {
					if row[at] != nil {
						values = append(values, row[at])
					}
				}
			}
			if !yield(source, values) {
				return
			}
		}
	}
}

// survey reads the ranges of keys and the samples.
func (e *evidence) survey(ctx context.Context) {
	for _, t := range e.plan.Tables {
		for _, source := range e.plan.SourcesOf(t) {
			s := &sampler{evidence: e, source: source, table: t, sample: &sample{}, seen: map[string]bool{}}
			e.samples[tableOf{source, t.Name}] = s.sample
			s.read(ctx)
		}
	}
}

// fail keeps the first error of a read.
func (e *evidence) fail(source, table string, err error) {
	if e.err == nil && err != nil {
		e.err = fmt.Errorf("source %q: table %q: %w", source, table, err)
	}
}

// A sampler reads the sample of a table in one source.
type sampler struct {
	*evidence
	*sample
	source string
	table  *plan.Table
	from   *plan.Table // the table as the source has it
	key    []string    // the primary key's columns that the source has
	seen   map[string]bool
	size   int
}

// read reads rows from the beginning of the primary key and, if it begins with an integer, from evenly spread places.
func (s *sampler) read(ctx context.Context) {
	found := s.catalogs[s.source].Table(s.table.Name)
	for _, c := range found.Columns { // with their types in this source
		// The types of SQLite say little.
		telling := c.Generated == "" && (sqltype.Of(s.dialect, c.Type).Kind != sqltype.Bytes || s.dialect == sqldialect.SQLite)
		if telling || slices.Contains(s.table.RowKey(), c.Name) {
			s.columns = append(s.columns, c)
		}
	}
	s.key = slices.DeleteFunc(slices.Clone(s.table.RowKey()), func(name string) bool { return found.Column(name) == nil })
	if len(s.columns) == 0 {
		return
	}
	if len(s.key) == 0 {
		rows, err := s.evidence.rows[s.source].First(ctx, found.Name, s.columns, sampleRows)
		s.fail(s.source, found.Name, err)
		s.sample.rows, s.whole = rows, len(rows) < sampleRows
		return
	}
	s.from = &plan.Table{Name: found.Name, PrimaryKey: s.key, Columns: found.Columns}
	const portion = 50 // rows may be large
	var last []any
	for !s.whole && len(s.sample.rows) < wholeSample && s.size < sampleBytes/2 {
		rows := s.add(ctx, last, portion)
		if s.whole = len(rows) < portion; !s.whole {
			last = s.pick(s.key, rows[portion-1])
		}
	}
	first := found.Column(s.key[0])
	if s.err == nil && sqltype.Of(s.dialect, first.Type).IsNumber() {
		s.spread(ctx, first.Name)
	}
}

// add adds rows after a key to the sample.
func (s *sampler) add(ctx context.Context, after []any, limit int) [][]any {
	if s.err != nil {
		return nil
	}
	rows, err := s.evidence.rows[s.source].Range(ctx, s.from, s.columns, after, limit)
	s.fail(s.source, s.from.Name, err)
	for _, row := range rows {
		if text := sqlvalue.FormatKey(s.pick(s.key, row)); !s.seen[text] && s.size < sampleBytes {
			s.seen[text] = true
			for _, v := range row {
				s.size += max(8, len(sqlvalue.Text(v)))
			}
			s.sample.rows = append(s.sample.rows, row)
		}
	}
	return rows
}

// bounds reads the range of a column of integers.
func (e *evidence) bounds(ctx context.Context, source, table, column string) keyRange {
	low, high, err := e.rows[source].Bounds(ctx, table, column)
	e.fail(source, table, err)
	if !low.Valid {
		return keyRange{}
	}
	lowest, errLow := strconv.ParseInt(low.String, 10, 64)
	highest, errHigh := strconv.ParseInt(high.String, 10, 64)
	if errLow != nil || errHigh != nil {
		return keyRange{true, math.MinInt64, math.MaxInt64} // a text in SQLite's integers, or past 2^63
	}
	return keyRange{true, lowest, highest}
}

// spread reads the range of the first column of the key, and adds rows from within.
func (s *sampler) spread(ctx context.Context, first string) {
	r := s.bounds(ctx, s.source, s.table.Name, first)
	if len(s.key) == 1 {
		s.ranges[tableOf{s.source, s.table.Name}] = r
	}
	lowest, highest := r.min, r.max
	if s.whole || !r.any || lowest == math.MinInt64 {
		return
	}
	s.from.PrimaryKey = s.key[:1]
	lowest = max(lowest, 0)
	for n := range sampleSeeks {
		after := lowest + int64(float64(highest-lowest)*float64(n+1)/(sampleSeeks+1))
		s.add(ctx, []any{after}, (sampleRows-wholeSample)/sampleSeeks)
	}
}

// An inclusion is how many of the ids that were looked for are keys.
type inclusion struct{ hits, of int }

func (n inclusion) share() float64 {
	if n.of == 0 {
		return 0
	}
	return float64(n.hits) / float64(n.of)
}

func (n inclusion) String() string { return fmt.Sprintf("%d of %d", n.hits, n.of) }

// ids are the different ids that a column or a path has, by source.
type ids map[string][]int64

func (s ids) count() (n int) {
	for _, of := range s {
		n += len(of)
	}
	return n
}

// big returns the ids of the sources whose values are all too big to be anything but ids.
func (s ids) big() ids {
	big := ids{}
	for source, of := range s {
		if len(of) > 0 && slices.Min(of) >= sqlvalue.BigID {
			big[source] = of
		}
	}
	return big
}

// above returns the ids that are n or more.
func (s ids) above(n int64) ids {
	most := ids{}
	for source, of := range s {
		most[source] = slices.DeleteFunc(slices.Clone(of), func(id int64) bool { return id < n })
	}
	return most
}

// some returns at most n ids of each source, evenly spread over those in the order of the sample.
func (s ids) some(n int) ids {
	some := ids{}
	for source, of := range s {
		n := min(n, len(of))
		for i := range n {
			some[source] = append(some[source], of[i*len(of)/n])
		}
	}
	return some
}

// lookUp counts how many of the ids are keys of a table in their own source.
func (e *evidence) lookUp(ctx context.Context, s ids, table *plan.Table, key *plan.Column) (total inclusion) {
	for _, source := range e.names {
		if e.err != nil || len(s[source]) == 0 || !table.In(source) {
			continue
		}
		r := e.ranges[tableOf{source, table.Name}]
		within := slices.DeleteFunc(slices.Clone(s[source]), func(id int64) bool { return !r.any || id < r.min || id > r.max })
		total.of += len(s[source])
		if all, ok := e.keyIDs[tableOf{source, table.Name}]; ok && key == table.Key() {
			for _, id := range within {
				if _, ok := slices.BinarySearch(all, id); ok {
					total.hits++
				}
			}
			continue
		}
		hits, err := e.rows[source].Count(ctx, table.Name, key, within)
		e.fail(source, table.Name, err)
		total.hits += hits
	}
	return total
}

// distinct returns the different ids among values that are positive.
func distinct(values []any) []int64 {
	seen := map[int64]bool{}
	var found []int64
	for _, v := range values {
		id, ok := sqlvalue.ParseID(sqlvalue.Text(v))
		if ok && id > 0 && !seen[id] {
			seen[id] = true
			found = append(found, id)
		}
	}
	return found
}

// A clashFinder looks for rows that are equal in two sources.
type clashFinder struct{ *evidence }
