// Package audit finds what makes ids go wrong in the tables of a live database, and counters that end. It
// needs no models of a program: it reads the catalogue, the smallest and the largest keys, and the latest ones.
//
//	audit.go        Run, Finding
//	catalog.go      tables, columns, keys and foreign keys, from three products
//	counters.go     how far counters are, and when they end
//	sequences.go    counters of columns and sequences, from three products
//	columns.go      columns that make up numbers, and columns that are too narrow
//	references.go   whose ids a column has, by foreign keys and by names
//	ids.go          the smallest, the largest and the latest keys of a table
//	makers.go       which namespace can have made an id
//	remedies.go     statements that change columns
//	remedies_mysql.go, remedies_sqlite.go: the same, from the statement that made the table
package audit

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/sqlsnow"
)

// A Severity says how bad a finding is.
type Severity string

// The severities.
const (
	// a counter is near its end, or the table has ids of snow, and they clash, sort wrongly or do not fit
	Error   Severity = "error"
	Warning Severity = "warning" // that will be so once the table gets such ids, or it could not be found out
)

// A Finding is one thing that is wrong with a table.
type Finding struct {
	Severity Severity `json:"severity"`
	Table    string   `json:"table"` // with its schema, if that is not the connection's
	Column   string   `json:"column,omitempty"`
	Problem  string   `json:"problem"`
	Remedy   string   `json:"remedy"`

	// that the remedy consists of, to be executed in this order on one connection
	Statements []string `json:"statements,omitempty"`
	Counter    *Counter `json:"counter,omitempty"` // of a column that the database counts up, and of a sequence
}

// rank says how near to its end the counter of a finding is. A finding without a counter has gone wrong already, or
// has no end.
func (f Finding) rank() float64 {
	switch {
	case f.Counter != nil:
		return f.Counter.Percent
	case f.Severity == Error:
		return 101
	}
	return -1
}

// A Config configures [Run]. Its zero value audits all tables with all namespaces of the database.
type Config struct {
	Namespaces []string      // whose ids the tables have; nil: all that the database has
	Layouts    []snow.Layout // more layouts of ids, for programs without a namespace in the database
	Ignore     []string      // patterns of path.Match for tables, or for columns as table.column
}

// A Report is what an audit found.
type Report struct {
	Tables     int       `json:"tables"`     // that were looked at
	Namespaces []string  `json:"namespaces"` // with which ids were compared
	Findings   []Finding `json:"findings"`   // errors first, and of those the worst, then by table
	Notes      []string  `json:"notes"`      // what was not looked at
}

// Run audits the tables that the connection's user can see: in its database on MySQL, in all schemas on PostgreSQL,
// in the file on SQLite. It only reads. Tables of snow itself are left out. A table that can't
// be read is a finding.
func Run(ctx context.Context, db *sql.DB, d sqlsnow.Dialect, cfg Config) (*Report, error) {
	return runAt(ctx, db, d, cfg, time.Now)
}

// runAt is Run with a clock.
func runAt(ctx context.Context, db *sql.DB, d sqlsnow.Dialect, cfg Config, now func() time.Time) (*Report, error) {
	a := &audit{db: db, dialect: d, cfg: cfg, now: now, report: Report{Findings: []Finding{}, Notes: []string{}, Namespaces: []string{}}}
	if err := a.run(ctx); err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	slices.SortStableFunc(a.report.Findings, func(x, y Finding) int {
		return cmp.Or(cmp.Compare(x.Severity, y.Severity), cmp.Compare(y.rank(), x.rank()), cmp.Compare(x.Table, y.Table), cmp.Compare(x.Column, y.Column))
	})
	return &a.report, nil
}

// An audit is one run.
type audit struct {
	db      *sql.DB
	dialect sqlsnow.Dialect
	cfg     Config
	now     func() time.Time
	tables  []*table
	named   map[string]*table // by schema and name
	layouts []snow.Layout
	report  Report

	defaults  []defaultOf // MariaDB
	sequences []*counter  // that no column uses
	words     map[string]*names
	maria     bool
}

func (a *audit) run(ctx context.Context) error {
	for _, pattern := range a.cfg.Ignore {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("ignore %q: %w", pattern, err)
		}
	}
	spaces, err := sqlsnow.Namespaces(ctx, a.db, a.dialect, a.cfg.Namespaces...)
	switch {
	case errors.Is(err, sqlsnow.ErrNotMigrated) && len(a.cfg.Namespaces) == 0:
	case err != nil:
		return err
	}
	for _, s := range spaces {
		a.report.Namespaces = append(a.report.Namespaces, s.Name)
		if !slices.Contains(a.layouts, s.Layout) {
			a.layouts = append(a.layouts, s.Layout)
		}
	}
	for _, l := range a.cfg.Layouts {
		if !slices.Contains(a.layouts, l) {
			a.layouts = append(a.layouts, l)
		}
	}
	if len(a.layouts) == 0 {
		a.report.Notes = append(a.report.Notes, "the largest ids were not compared with a layout, because the database has no namespace and no layout was given")
	}
	if err := a.readCatalog(ctx); err != nil {
		return fmt.Errorf("read the catalogue: %w", err)
	}
	a.report.Tables = len(a.tables)
	if err := a.readSequences(ctx); err != nil {
		return fmt.Errorf("read the counters: %w", err)
	}
	// The clock and the workers are read after the ids, so that no id is from a window that was granted in between.
	for _, t := range a.tables {
		err := a.readIDs(ctx, t)
		if err == nil {
			err = a.readCounters(ctx, t)
		}
		if err != nil {
			if ctx.Err() != nil {
				return err
			}
			a.find(t, "", Warning, "its keys can't be read: "+err.Error(), "grant the user SELECT on it, or leave it out with --ignore")
		}
	}
	now := a.now()
	if len(spaces) > 0 {
		if now, err = sqlsnow.Clock(ctx, a.db, a.dialect); err != nil {
			return err
		}
	}
	makers := make([]maker, 0, len(spaces))
	for _, s := range spaces {
		workers, err := sqlsnow.Workers(ctx, a.db, a.dialect, s.Name)
		if err != nil {
			return err
		}
		makers = append(makers, newMaker(s.Name, s.Layout, workers))
	}
	for _, t := range a.tables {
		a.bounds(t, now)
		a.makers(t, makers, now)
	}
	if err := a.rates(ctx, now); err != nil {
		return fmt.Errorf("read the statistics: %w", err)
	}
	for _, t := range a.tables {
		if err := a.columns(ctx, t, now); err != nil {
			return err
		}
	}
	a.bare(now)
	return nil
}

func (a *audit) find(t *table, column string, s Severity, problem, remedy string) {
	a.add(Finding{Severity: s, Table: t.label, Column: column, Problem: problem, Remedy: remedy})
}

func (a *audit) add(f Finding) {
	if !a.ignores(f.Table, f.Column) {
		a.report.Findings = append(a.report.Findings, f)
	}
}

// ignores reports whether a table, or a column of it, is to be left out.
func (a *audit) ignores(table, column string) bool {
	return slices.ContainsFunc(a.cfg.Ignore, func(pattern string) bool {
		whole, _ := path.Match(pattern, table)
		part, _ := path.Match(pattern, table+"."+column)
		return whole || part && column != ""
	})
}
