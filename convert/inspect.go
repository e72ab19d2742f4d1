package convert

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/convert/internal/propose"
	"github.com/shardsnow/snow/convert/internal/schema"
	"github.com/shardsnow/snow/convert/plan"
	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/sqlsnow"
)

// InspectConfig configures [Inspect]. All of it may be zero.
type InspectConfig struct {
	// Layout is the layout of the new ids. Default: [snow.DefaultLayout].
	Layout snow.Layout

	// DeclaredOnly reads no rows: the plan then has the references that foreign keys declare, and no questions.
	DeclaredOnly bool
}

// Inspect reads the schema of a database and samples of its rows, and returns a plan of its conversion.
//
// It only reads, and the database may be in use. On MySQL the DSN of db names the database; on PostgreSQL the tables are
// the ones in current_schema(). Inspect returns a [*sqlsnow.DatabaseError] if it can't read the database.
func Inspect(ctx context.Context, dialect sqlsnow.Dialect, db *sql.DB, cfg InspectConfig) (*plan.Plan, error) {
	p, err := inspect(ctx, dialect, db, cfg)
	if err != nil {
		return nil, fmt.Errorf("convert: inspect: %w", err)
	}
	return p, nil
}

func inspect(ctx context.Context, dialect sqlsnow.Dialect, db *sql.DB, cfg InspectConfig) (p *plan.Plan, err error) {
	if dialect != sqlsnow.MySQL && dialect != sqlsnow.Postgres {
		return nil, &snow.FieldError{Field: "dialect", Value: dialect.String(), Bound: "want MySQL or PostgreSQL"}
	}
	if db == nil {
		return nil, errors.New("no database")
	}
	read := merge.Inspect
	if cfg.DeclaredOnly {
		read = merge.ReadSchema
	}
	found, err := read(ctx, dialect, merge.Source{Name: "database", DB: db})
	if err != nil {
		return nil, err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, unread("connect", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	s, err := schema.Read(ctx, dialect, conn)
	if err != nil {
		return nil, unread("read the schema", err)
	}
	return propose.Plan(dialect, s, found), nil
}

func unread(op string, err error) error {
	return &sqlsnow.DatabaseError{Op: op, Code: sqldialect.Code(err), Err: err}
}
