package inspect

import (
	"context"
	"fmt"
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

// evidence is what is known of the sources.
type evidence struct {
	dialect  sqldialect.Dialect
	names    []string
	rows     map[string]Rows
	catalogs map[string]*catalog.Catalog
	plan     *plan.Plan // as far as it is made
	ranges   map[tableOf]keyRange
	samples  map[tableOf]*sample
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

// values returns the values of a column, without NULL.
func (s *sample) values(column string) (values []any) {
	at := slices.IndexFunc(s.columns, func(c *plan.Column) bool { return c.Name == column })
	if at < 0 {
		return nil
	}
	for _, row := range s.rows {
		if row[at] != nil {
			values = append(values, row[at])
		}
	}
	return values
}

// pick returns the values of a row in some columns.
func (s *sample) pick(columns []string, row []any) []any {
	picked := make([]any, len(columns))
	for n, name := range columns {
		picked[n] = row[slices.IndexFunc(s.columns, func(c *plan.Column) bool { return c.Name == name })]
	}
	return picked
}

// survey reads the ranges of keys and the samples.
func (e *evidence) survey(ctx context.Context) error {
	for _, t := range e.plan.Tables {
		for _, source := range e.plan.SourcesOf(t) {
			if err := e.sample(ctx, source, t); err != nil {
				return fmt.Errorf("source %q: table %q: %w", source, t.Name, err)
			}
		}
	}
	return nil
}

// sample reads rows from the beginning of the primary key and, if it begins
// with an integer, from evenly spread places.
func (e *evidence) sample(ctx context.Context, source string, t *plan.Table) error {
	at := tableOf{source, t.Name}
	s := &sample{}
	e.samples[at] = s
	found := e.catalogs[source].Table(t.Name)
	for _, c := range found.Columns { // with their types in this source
		// The types of SQLite say little.
		telling := c.Generated == "" && (sqltype.Of(e.dialect, c.Type).Kind != sqltype.Bytes || e.dialect == sqldialect.SQLite)
		if telling || slices.Contains(t.PrimaryKey, c.Name) {
			s.columns = append(s.columns, c)
		}
	}
	primary := slices.DeleteFunc(slices.Clone(t.PrimaryKey), func(name string) bool { return found.Column(name) == nil })
	if len(primary) == 0 || len(s.columns) == 0 {
		return nil
	}
	db := e.rows[source]
	from := &plan.Table{Name: t.Name, PrimaryKey: primary, Columns: found.Columns}
	seen := map[string]bool{}
	size := 0
	take := func(rows [][]any) {
		for _, row := range rows {
			if text := sqlvalue.FormatKey(s.pick(primary, row)); !seen[text] && size < sampleBytes {
				seen[text] = true
				size += rowSize(row)
				s.rows = append(s.rows, row)
			}
		}
	}
	const portion = 50 // rows may be large
	var last []any
	for !s.whole && len(s.rows) < wholeSample && size < sampleBytes/2 {
		rows, err := db.Range(ctx, from, s.columns, last, portion)
		if err != nil {
			return err
		}
		take(rows)
		s.whole = len(rows) < portion
		if !s.whole {
			last = s.pick(primary, rows[portion-1])
		}
	}
	first := found.Column(primary[0])
	if sqltype.Of(e.dialect, first.Type).Kind != sqltype.Integer {
		return nil
	}
	low, high, err := db.Bounds(ctx, t.Name, first.Name)
	if err != nil {
		return err
	}
	r := keyRange{any: low.Valid}
	lowest, errLow := strconv.ParseInt(low.String, 10, 64)
	highest, errHigh := strconv.ParseInt(high.String, 10, 64)
	if r.any && errLow == nil && errHigh == nil {
		r.min, r.max = lowest, highest
	} else if r.any {
		r.min, r.max = math.MinInt64, math.MaxInt64 // a text in SQLite's integers, or past 2^63
	}
	if len(primary) == 1 {
		e.ranges[at] = r
	}
	if s.whole || errLow != nil || errHigh != nil {
		return nil
	}
	from.PrimaryKey = primary[:1]
	lowest = max(lowest, 0)
	for n := range sampleSeeks {
		after := lowest + int64(float64(highest-lowest)*float64(n+1)/(sampleSeeks+1))
		rows, err := db.Range(ctx, from, s.columns, []any{after}, (sampleRows-wholeSample)/sampleSeeks)
		if err != nil {
			return err
		}
		take(rows)
	}
	return nil
}

func rowSize(row []any) (size int) {
	for _, v := range row {
		switch v := v.(type) {
		case string:
			size += len(v)
		case []byte:
			size += len(v)
		default:
			size += 8
		}
	}
	return size
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

// big returns the ids of the sources whose values are all too big to be anything
// but ids.
func (s ids) big() ids {
	big := ids{}
	for source, of := range s {
		if len(of) > 0 && slices.Min(of) >= sqlvalue.BigID {
			big[source] = of
		}
	}
	return big
}

// first returns at most n ids of each source.
func (s ids) first(n int) ids {
	some := ids{}
	for source, of := range s {
		some[source] = of[:min(n, len(of))]
	}
	return some
}

// lookUp counts how many of the ids are keys of a table in their own source.
func (e *evidence) lookUp(ctx context.Context, s ids, table *plan.Table) (total inclusion, err error) {
	key := table.Key()
	for _, source := range e.names {
		if len(s[source]) == 0 || !table.In(source) {
			continue
		}
		r := e.ranges[tableOf{source, table.Name}]
		total.of += len(s[source])
		var within []int64
		for _, id := range s[source] {
			if r.any && id >= r.min && id <= r.max {
				within = append(within, id)
			}
		}
		n, err := e.rows[source].Count(ctx, table.Name, key, within)
		if err != nil {
			return inclusion{}, fmt.Errorf("source %q: table %q: %w", source, table.Name, err)
		}
		total.hits += n
	}
	return total, nil
}

// distinct returns the different ids among values, without those that are not positive.
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
