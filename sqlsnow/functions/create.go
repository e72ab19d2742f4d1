package functions

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/sqldialect"
)

// call makes an id. What the function itself refuses is not an error here: it says so to those who call it.
func (i installer) call(ctx context.Context, schema string) error {
	var id int64
	err := i.db.QueryRowContext(ctx, "SELECT "+i.engine.Dialect.Quote(schema)+".snow_next_id()").Scan(&id)
	if code := sqldialect.Code(err); code == "1644" || strings.HasPrefix(code, "SN") {
		return nil
	}
	return err
}

// stale returns the functions that are missing or of another version, or all.
func (i installer) stale(ctx context.Context, conn *sql.Conn, m maker, next function, all bool) (stale []function, err error) {
	found, err := pairs(ctx, conn, i.server.functions)
	if err != nil {
		return nil, err
	}
	for _, f := range append(m.readers(), next) {
		comment, exists := found[f.name]
		switch {
		case exists && !strings.HasPrefix(comment, "snow "):
			return nil, &snow.FieldError{Field: "function", Value: f.name, Bound: "it exists, and is not of this package"}
		case exists && layoutIn(comment) != m.layout.String():
			return nil, &snow.FieldError{Field: "function", Value: f.name, Bound: fmt.Sprintf("it exists for another layout, %q", comment)}
		case all || comment != f.comment:
			stale = append(stale, f)
		}
	}
	return stale, nil
}

// create creates the functions that are stale.
func (i installer) create(ctx context.Context, conn *sql.Conn, m maker, all bool) (schema string, created bool, err error) {
	var database string
	if err := conn.QueryRowContext(ctx, i.server.schema).Scan(&database, &schema); err != nil {
		return "", false, err
	}
	counters, next := m.next(schema)
	stale, err := i.stale(ctx, conn, m, next, all)
	if err != nil {
		return "", false, err
	}
	statements := counters
	for _, f := range stale {
		statements = append(statements, f.statements...)
	}
	for _, statement := range statements {
		if i.replace && strings.HasPrefix(statement, "DROP FUNCTION") {
			continue
		}
		if i.replace {
			statement = strings.Replace(statement, "CREATE FUNCTION", "CREATE OR REPLACE FUNCTION", 1)
		}
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return "", false, err
		}
	}
	return cmp.Or(schema, database), len(stale) > 0, nil
}

// try returns the error that create would return, and changes nothing.
func (i installer) try(ctx context.Context, conn *sql.Conn, m maker) error {
	var statements []string
	if i.engine.Dialect == sqldialect.Postgres {
		if _, err := conn.ExecContext(ctx, "SAVEPOINT snow_id_trial"); err != nil {
			return err
		}
		if _, _, err := i.create(ctx, conn, m, false); err != nil {
			return err
		}
		statements = []string{"ROLLBACK TO SAVEPOINT snow_id_trial"}
	} else {
		_, next := m.next("")
		stale, err := i.stale(ctx, conn, m, next, false)
		if err != nil || len(stale) == 0 {
			return err
		}
		const drop = "DROP FUNCTION IF EXISTS snow_id_trial"
		statements = []string{drop, strings.Replace(next.statements[1], "snow_next_id", "snow_id_trial", 1), drop}
	}
	for _, statement := range statements {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// layoutIn returns the layout in a function's comment.
func layoutIn(comment string) string {
	_, rest, _ := strings.Cut(comment, ": ")
	layout, _, _ := strings.Cut(rest, ",")
	return layout
}
