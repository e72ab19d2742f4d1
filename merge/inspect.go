package merge

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/shardsnow/snow/merge/internal/catalog"
	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/inspect"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// Inspect reads the schemas of sources and samples of their rows, and returns a plan to merge them. The first source has
// precedence. The plan has:
//
//   - Keys: primary keys of one integer, and unique keys of one integer beside a primary key of other columns, where a source
//     counts them up or foreign keys refer to them. Sources with small keys, as a database counts them up, get new ids; sources whose
//     keys are 2^40 or more, as snowflakes are, keep them.
//   - References: the columns of foreign keys. Inspect proposes others by their names, types and values, and so it does
//     for ids in JSON, in delimited texts and beside a column that names their table.
//   - Unique keys in which sources clash, tables that look like dictionaries, and differences between the schemas.
//
// Whatever is not certain is a suspect, for people to decide on before [plan.Plan.Check] passes. Inspect samples about a
// thousand rows of a table, so a plan without suspects is no proof: [Merge.DryRun] looks at all rows.
//
// Inspect only reads, and the sources may be in use. It returns a [*sqlsnow.DatabaseError] if it can't read a source.
func Inspect(ctx context.Context, d sqlsnow.Dialect, sources ...Source) (*plan.Plan, error) {
	p, err := inspectSources(ctx, d, sources)
	if err != nil {
		return nil, fmt.Errorf("merge: inspect: %w", err)
	}
	return p, nil
}

func inspectSources(ctx context.Context, d sqlsnow.Dialect, sources []Source) (p *plan.Plan, err error) {
	e, err := dialect.Of(d)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, s := range sources {
		names = append(names, s.Name)
	}
	if err := (&plan.Plan{Sources: names}).CheckSources(); err != nil {
		return nil, err
	}
	var databases []inspect.Database
	for _, s := range sources {
		if s.DB == nil {
			return nil, fmt.Errorf("source %q has no database", s.Name)
		}
		conn, failed := chunk.OpenSession(ctx, e, s.DB, e.Source)
		if failed != nil {
			return nil, fmt.Errorf("source %q: %w", s.Name, failed)
		}
		defer func() { err = errors.Join(err, conn.Close()) }()
		found, failed := catalog.Read(ctx, d, conn)
		if failed != nil {
			return nil, fmt.Errorf("source %q: %w", s.Name, e.Failed("inspect", failed))
		}
		databases = append(databases, inspect.Database{Name: s.Name, Catalog: found, Rows: sampler{e, conn}})
	}
	return inspect.Propose(ctx, d, databases)
}

// A sampler reads rows of a source for inspect.
type sampler struct {
	dialect *dialect.Dialect
	session *chunk.Session
}

func (s sampler) Range(ctx context.Context, t *plan.Table, columns []*plan.Column, after []any, limit int) ([][]any, error) {
	rows, err := chunk.ReadRange(ctx, s.dialect, s.session, t, columns, after, nil, limit)
	return rows, s.dialect.Failed("sample", err)
}

func (s sampler) Bounds(ctx context.Context, table, column string) (low, high sql.NullString, err error) {
	name := s.dialect.Quote(column)
	err = s.session.QueryRowContext(ctx, "SELECT MIN("+name+"), MAX("+name+") FROM "+s.dialect.Quote(table)).Scan(&low, &high)
	return low, high, s.dialect.Failed("sample", err)
}

func (s sampler) Count(ctx context.Context, table string, column *plan.Column, ids []int64) (n int, err error) {
	name := s.dialect.Quote(column.Name)
	for part := range slices.Chunk(ids, ledger.MaxIDs) {
		condition, args := chunk.AnyOf(s.dialect, name, part)
		text := "SELECT " + name + " FROM " + s.dialect.Quote(table) + " WHERE " + condition
		rows, err := chunk.ReadAll(ctx, s.dialect, s.session, text, []*plan.Column{column}, args)
		if err != nil {
			return 0, s.dialect.Failed("look up ids", err)
		}
		n += len(rows)
	}
	return n, nil
}

func (s sampler) Find(ctx context.Context, table string, columns []*plan.Column, by []string, keys [][]any) ([][]any, error) {
	rows, err := chunk.ReadKeys(ctx, s.dialect, s.session, table, columns, chunk.ColumnsOf(&plan.Table{Columns: columns}, by), keys)
	return rows, s.dialect.Failed("look for clashes", err)
}
