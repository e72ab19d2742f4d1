package dbserver

import (
	"strconv"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/sqldialect"
)

// For returns the engine of a dialect, or a *snow.FieldError if there is no such dialect.
func For(d sqldialect.Dialect) (*Engine, error) {
	switch d {
	case sqldialect.MySQL:
		return mysqlEngine(), nil
	case sqldialect.Postgres:
		return postgresEngine(), nil
	case sqldialect.SQLite:
		return sqliteEngine(), nil
	}
	return nil, &snow.FieldError{Field: "dialect", Value: strconv.Itoa(int(d)), Bound: "want MySQL, Postgres or SQLite"}
}
