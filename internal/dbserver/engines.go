package dbserver

import (
	"strconv"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/sqldialect"
)

// For returns the engine of a dialect for leases, or a *snow.FieldError if the dialect is unknown.
func For(d sqldialect.Dialect) (*Engine, error) {
	return engineFor(d, "snow_namespaces", "snow_workers")
}

// MigrationsFor is For, with an Info that lists the tables of leases, segments, numbers and migrations.
func MigrationsFor(d sqldialect.Dialect) (*Engine, error) {
	e, err := For(d)
	if err == nil {
		e.listed = tables[:]
	}
	return e, err
}

// SegmentsFor is For, for segments.
func SegmentsFor(d sqldialect.Dialect) (*Engine, error) { return engineFor(d, "snow_segments") }

// NumbersFor is For, for numbers for people.
func NumbersFor(d sqldialect.Dialect) (*Engine, error) { return engineFor(d, "snow_numbers") }

func engineFor(d sqldialect.Dialect, tables ...string) (*Engine, error) {
	var e *Engine
	switch d {
	case sqldialect.MySQL:
		e = mysqlEngine()
	case sqldialect.Postgres:
		e = postgresEngine()
	case sqldialect.SQLite:
		e = sqliteEngine()
	default:
		return nil, &snow.FieldError{Field: "dialect", Value: strconv.Itoa(int(d)), Bound: "want MySQL, Postgres or SQLite"}
	}
	e.tables, e.listed = tables, tables
	return e, nil
}
