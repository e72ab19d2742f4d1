package postgres

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/shardsnow/snow/internal/sqldialect"
)

// A querier is a pool, a session or a transaction.
type querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// query returns the rows of a query. T has fields with the names of its columns.
func query[T any](ctx context.Context, q querier, statement string) ([]T, error) {
	rows, err := q.QueryContext(ctx, "SELECT row_to_json(q)::text FROM ("+statement+") q")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		var one T
		if err := json.Unmarshal([]byte(text), &one); err != nil {
			return nil, fmt.Errorf("reply of the catalogue %q: %w", text, err)
		}
		all = append(all, one)
	}
	return all, rows.Err()
}

// one returns the text that a query returns; empty if there is no row, or it is NULL.
func one(ctx context.Context, q querier, statement string) (string, error) {
	rows, err := q.QueryContext(ctx, "SELECT x::text FROM ("+statement+") q(x)")
	if err != nil {
		return "", err
	}
	defer rows.Close()
	var text sql.NullString
	if rows.Next() {
		if err := rows.Scan(&text); err != nil {
			return "", err
		}
	}
	return text.String, rows.Err()
}

// execute sends statements one after another.
func execute(ctx context.Context, q querier, statements ...string) error {
	for _, s := range statements {
		if s == "" {
			continue
		}
		if _, err := q.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%q: %w", s, err)
		}
	}
	return nil
}

func quote(name string) string   { return sqldialect.Postgres.Quote(name) }
func literal(text string) string { return sqldialect.Postgres.Literal(text) }

// literals returns an array of texts as SQL.
func literals(texts []string) string {
	quoted := make([]string, len(texts))
	for i, t := range texts {
		quoted[i] = literal(t)
	}
	return "ARRAY[" + strings.Join(quoted, ", ") + "]::text[]"
}

// escape makes a name part of a format within a literal.
func escape(name string) string {
	return strings.NewReplacer("%", "%%", "'", "''").Replace(name)
}

// or returns the first error.
func or(err, other error) error {
	if err != nil {
		return err
	}
	return other
}
