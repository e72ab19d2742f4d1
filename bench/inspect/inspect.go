// Package inspect measures what merge.Inspect proposes for schemas that declare no foreign key, against the truth.
package inspect

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	_ "github.com/go-sql-driver/mysql" // MariaDB

	"github.com/shardsnow/snow/bench/rows"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// A Score is how a plan is right and wrong about the columns of a schema.
type Score struct {
	Schema    string
	Tables    int
	True      int // references that there are
	Right     int // proposed, whether a question asks about it or not
	Asked     int // asked about, without the right proposal
	Plain     int // taken as plain, without a question
	Key       int // the same, and numbers that are no ids, taken as keys without a question
	False     int // other columns that are references without a question
	Extra     int // other columns that are proposed as references by a question
	Questions int

	Columns []string // that are wrong without a question
	Wrong   []string // whose first answer is wrong
}

// Silent is how many columns are wrong without a question.
func (s Score) Silent() int { return s.Plain + s.Key + s.False }

// Options say how to fill the schemas.
type Options struct {
	Rows int // of a table, about
	Seed uint64
}

// Measure inspects two sources of each schema on a MariaDB server beside it.
func Measure(ctx context.Context, o Options) (scores []Score, err error) {
	err = rows.Hosted(func(tb testing.TB) error {
		server := dbtest.MariaDB(tb)
		for _, name := range slices.Sorted(maps.Keys(schemas)) {
			s, err := measure(ctx, tb, server, name, o)
			if err != nil {
				return fmt.Errorf("schema %s: %w", name, err)
			}
			scores = append(scores, s)
		}
		return nil
	})
	return scores, err
}

func measure(ctx context.Context, tb testing.TB, server *dbtest.Server, name string, o Options) (Score, error) {
	tables, err := parse(schemas[name])
	if err != nil {
		return Score{}, err
	}
	var sources []merge.Source
	for n, source := range []string{"a", "b"} {
		db, err := sql.Open("mysql", server.DSN(server.CreateDatabase(tb)))
		if err != nil {
			return Score{}, err
		}
		defer db.Close()
		f := &filler{random: rand.New(rand.NewPCG(o.Seed, uint64(n))), tables: tables, rows: o.Rows}
		var statements []string
		for _, t := range tables {
			statements = append(statements, t.create())
		}
		for _, text := range append(statements, f.statements()...) {
			if _, err := db.ExecContext(ctx, text); err != nil {
				return Score{}, err
			}
		}
		sources = append(sources, merge.Source{Name: source, DB: db})
	}
	p, err := merge.Inspect(ctx, sqlsnow.MySQL, sources...)
	if err != nil {
		return Score{}, err
	}
	schema, err := merge.ReadSchema(ctx, sqlsnow.MySQL, sources...)
	if err != nil {
		return Score{}, err
	}
	if _, err := plan.Shorten(p, schema); err != nil { // what inspect writes must be a plan
		return Score{}, fmt.Errorf("schema %s: %w", name, err)
	}
	s := Score{Schema: name, Tables: len(tables), Questions: len(p.Questions)}
	for _, t := range tables {
		for _, c := range t.columns {
			s.add(p, t, c)
		}
	}
	return s, nil
}

// add counts what a plan says of a column.
func (s *Score) add(p *plan.Plan, t *table, c *column) {
	got := p.Table(t.name).Column(c.name)
	asked := p.Question(t.name+"."+c.name) != nil || len(got.Suspects) > 0
	isReference := got.HoldsReferences()
	if c.refers != nil {
		s.True++
	}
	switch {
	case c.refers != nil && slices.EqualFunc(c.refers, got.Refers, func(table string, r *plan.Reference) bool { return r.Table == table }):
		s.Right++
	case c.refers != nil && asked:
		s.Asked++
		s.Wrong = append(s.Wrong, t.name+"."+c.name)
	case got.Role == plan.RoleKey && c != t.key() && !asked:
		s.Key++
		s.Columns = append(s.Columns, t.name+"."+c.name)
	case c.refers != nil && got.Role == plan.RolePlain:
		s.Plain++
		s.Columns = append(s.Columns, t.name+"."+c.name)
	case isReference && asked:
		s.Extra++
		s.Wrong = append(s.Wrong, t.name+"."+c.name)
	case isReference:
		s.False++
		s.Columns = append(s.Columns, t.name+"."+c.name)
	}
}
