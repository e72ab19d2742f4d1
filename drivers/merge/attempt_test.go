//go:build unix

package merge_test

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// An attempt is a merge into a target without tables, by what the schemas of the sources say: all keys are numbered
// densely.
type attempt struct {
	*testing.T
	dialect sqlsnow.Dialect
	target  *sql.DB
	sources []merge.Source
	plan    *plan.Plan
}

// newAttempt names the sources s1, s2 and so on.
func newAttempt(t *testing.T, d sqlsnow.Dialect, target *sql.DB, sources ...*sql.DB) *attempt {
	t.Helper()
	a := &attempt{T: t, dialect: d, target: target}
	for i, db := range sources {
		a.sources = append(a.sources, merge.Source{Name: fmt.Sprint("s", i+1), DB: db})
	}
	var err error
	if a.plan, err = merge.ReadSchema(t.Context(), d, a.sources...); err != nil {
		t.Fatal(err)
	}
	for _, table := range a.plan.Tables {
		for _, c := range table.Columns {
			c.Decided = true
		}
		for _, u := range table.Unique {
			u.Decided = true
		}
		table.IDs = plan.IDsDense
		if table.Key() != nil {
			table.NewIDs = a.plan.Sources
		}
	}
	return a
}

// onPostgres runs tests on one server. Each call of open makes a database.
func onPostgres(t *testing.T, tests map[string]func(t *testing.T, open func() *sql.DB)) {
	server := dbtest.Postgres(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test(t, func() *sql.DB { return opened(t, "pgx", server.DSN(server.CreateDatabase(t))) })
		})
	}
}

// column returns a column of the plan, as table.column.
func (a *attempt) column(name string) *plan.Column {
	a.Helper()
	table, column, _ := strings.Cut(name, ".")
	if t := a.plan.Table(table); t != nil && t.Column(column) != nil {
		return t.Column(column)
	}
	a.Fatalf("the plan has no column %s", name)
	return nil
}

// refer makes columns references.
func (a *attempt) refer(to string, columns ...string) {
	a.Helper()
	for _, name := range columns {
		c := a.column(name)
		c.Role, c.Refers = plan.RoleReference, []*plan.Reference{{Table: to}}
	}
}

// schema makes the tables of the target.
func (a *attempt) schema() {
	a.Helper()
	statements, err := a.plan.Schema()
	if err != nil {
		a.Fatal(err)
	}
	for _, text := range statements {
		exec(a.T, a.target, text)
	}
}

// run returns what a dry run and a run say of it.
func (a *attempt) run() (dry, run error) {
	a.Helper()
	m, err := merge.New(a.dialect, a.target, a.sources, a.plan, merge.Config{})
	if err != nil {
		a.Fatal(err)
	}
	f, dry := m.DryRun(a.Context())
	if dry == nil {
		dry = f.Err()
	}
	_, run = m.Run(a.Context())
	return dry, run
}

// succeeds makes the tables, and merges.
func (a *attempt) succeeds() {
	a.Helper()
	a.schema()
	if dry, run := a.run(); dry != nil || run != nil {
		a.Fatalf("dry run: %v\nrun: %v", dry, run)
	}
}

// fails makes the tables, and expects that both a dry run and a run say some text, and that nothing is copied.
func (a *attempt) fails(want string) {
	a.Helper()
	a.schema()
	dry, run := a.run()
	for name, err := range map[string]error{"dry run": dry, "run": run} {
		if err == nil || !strings.Contains(err.Error(), want) {
			a.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
	for _, table := range a.plan.Tables {
		if got := lines(a.T, a.target, "SELECT COUNT(*) FROM "+table.Name); got != "0" {
			a.Errorf("table %s has %s rows", table.Name, got)
		}
	}
}

// wants compares what a query of the target returns.
func (a *attempt) wants(query, want string) {
	a.Helper()
	if got := strings.ReplaceAll(lines(a.T, a.target, query), "\n", "; "); got != want {
		a.Errorf("%s: got %q, want %q", query, got, want)
	}
}

// notes returns all notes of the plan.
func (a *attempt) notes() string {
	all := strings.Join(a.plan.Notes, "\n")
	for _, t := range a.plan.Tables {
		for _, note := range t.Notes {
			all += "\n" + t.Name + ": " + note
		}
	}
	return all
}
