//go:build unix

package roomtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql" // of the databases

	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/merge/internal/catalog"
	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/inspect"
	"github.com/shardsnow/snow/merge/internal/work"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// A Fixture is some sources of one schema on MariaDB, a target without tables, and the plan that the schema says. Change
// the plan before the first call of Job.
type Fixture struct {
	*testing.T
	Target  *sql.DB
	Sources map[string]*sql.DB
	Plan    *plan.Plan
	Engine  *dialect.Dialect

	job *work.Job
}

// New makes a source of each list of statements, after the statements of the schema. Their names are s1, s2 and so on.
// Keys are keys, columns of foreign keys are references, and all rows get dense numbers as new ids.
func New(t *testing.T, schema []string, sources ...[]string) *Fixture {
	t.Helper()
	server := dbtest.SharedMariaDB(t)
	f := &Fixture{T: t, Sources: map[string]*sql.DB{}}
	open := func() *sql.DB {
		db, err := sql.Open("mysql", server.DSN(server.CreateDatabase(t)))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		return db
	}
	var err error
	if f.Engine, err = dialect.Of(sqlsnow.MySQL); err != nil {
		t.Fatal(err)
	}
	f.Target = open()
	var databases []inspect.Database
	for i, statements := range sources {
		name := fmt.Sprintf("s%d", i+1)
		f.Sources[name] = open()
		f.Exec(f.Sources[name], append(slices.Clone(schema), statements...)...)
		found, err := catalog.Read(t.Context(), sqlsnow.MySQL, f.Sources[name], nil)
		if err != nil {
			t.Fatal(err)
		}
		databases = append(databases, inspect.Database{Name: name, Catalog: found})
	}
	f.Plan = inspect.Schema(sqlsnow.MySQL, databases)
	for _, t := range f.Plan.Tables {
		for _, c := range t.Columns {
			if c.Decided = true; c.Role == plan.RoleKey {
				t.NewIDs, t.IDs = f.Plan.Sources, plan.IDsDense
			}
		}
		for _, u := range t.Unique {
			u.Decided = true
		}
	}
	return f
}

// Job returns the job of the plan. The first call makes the tables of the target.
func (f *Fixture) Job() *work.Job {
	f.Helper()
	if f.job != nil {
		return f.job
	}
	if err := f.Plan.Check(); err != nil {
		f.Fatal(err)
	}
	j := &work.Job{
		Engine: f.Engine, Target: chunk.Database{DB: f.Target}, Sources: map[string]chunk.Database{}, Plan: f.Plan, ID: "a run", Text: "{}",
		Registry: f.Target, Holder: "a test", LeaseTime: time.Hour, Writers: 1, ChunkTime: time.Minute, ChunkRows: 1000, PackRows: -1,
	}
	j.Codecs.Dialect = f.Engine.Kind
	for name, db := range f.Sources {
		j.Sources[name] = chunk.Database{DB: db}
	}
	order, err := f.Plan.MintOrder()
	stages, failed := f.Plan.Stages(false)
	statements, wrong := f.Plan.Schema()
	if err := errors.Join(err, failed, wrong); err != nil {
		f.Fatal(err)
	}
	j.Order, j.Stages = order, stages
	f.Exec(f.Target, statements...)
	f.job = j
	return j
}

// Conns returns sessions of the databases, which the test closes at its end.
func (f *Fixture) Conns() *chunk.Conns {
	f.Helper()
	c, err := f.Job().Connect(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { c.Close() })
	return c
}

// Exec executes statements.
func (f *Fixture) Exec(db *sql.DB, statements ...string) {
	f.Helper()
	for _, text := range statements {
		if _, err := db.ExecContext(context.WithoutCancel(f.Context()), dbtest.Sequences(text)); err != nil {
			f.Fatalf("%s: %v", text, err)
		}
	}
}

// Rows returns what a query returns: values with spaces, and rows with slashes, between them. NULL is -.
func (f *Fixture) Rows(db *sql.DB, query string) string {
	f.Helper()
	rows, err := db.QueryContext(f.Context(), query)
	if err != nil {
		f.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		f.Fatal(err)
	}
	var lines []string
	for rows.Next() {
		values, into := make([]sql.NullString, len(names)), make([]any, len(names))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			f.Fatal(err)
		}
		cells := make([]string, len(names))
		for i, v := range values {
			if cells[i] = "-"; v.Valid {
				cells[i] = v.String
			}
		}
		lines = append(lines, strings.Join(cells, " "))
	}
	if err := rows.Err(); err != nil {
		f.Fatal(err)
	}
	return strings.Join(lines, " / ")
}
