package schema

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"

	"github.com/shardsnow/snow/internal/sqldialect"
)

// A Querier is a *sql.DB, *sql.Conn or *sql.Tx.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Read reads the database that a session is in. Its errors are the driver's.
func Read(ctx context.Context, d sqldialect.Dialect, q Querier) (*Schema, error) {
	r := &reader{Schema: &Schema{}, q: q}
	switch d {
	case sqldialect.MySQL:
		r.readMySQL(ctx)
	case sqldialect.Postgres:
		r.readPostgres(ctx)
	default:
		r.err = fmt.Errorf("dialect %q: want MySQL or PostgreSQL", d)
	}
	return r.Schema, r.err
}

// A reader fills a schema. After an error it asks nothing more.
type reader struct {
	*Schema
	q   Querier
	err error
}

// A row is a row of a query, as texts.
type row []sql.NullString

func (v row) text(i int) string { return v[i].String }

func (v row) is(i int) bool { return v[i].String == "1" || v[i].String == "true" }

// number returns 0 for NULL, and the greatest number for one that is greater.
func (v row) number(i int) int64 {
	n, err := strconv.ParseInt(v[i].String, 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0
	}
	return n
}

// each calls do with each row of a query. do must not keep the row.
func (r *reader) each(ctx context.Context, query string, do func(v row)) {
	if r.err == nil {
		r.err = r.try(ctx, query, do)
	}
}

// try is each for a query that may fail.
func (r *reader) try(ctx context.Context, query string, do func(v row)) (err error) {
	rows, err := r.q.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	v := make(row, len(columns))
	targets := make([]any, len(v))
	for i := range v {
		targets[i] = &v[i]
	}
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		do(v)
	}
	return rows.Err()
}

// ofTables calls do with the table that the first column of a row names, if it is one that was read.
func (r *reader) ofTables(ctx context.Context, query string, do func(t *Table, v row)) {
	r.each(ctx, query, func(v row) {
		if t := r.Table(v.text(0)); t != nil {
			do(t, v)
		}
	})
}
