package merge

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/shardsnow/snow/merge/internal/catalog"
	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/inspect"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// Inspect reads the schemas of sources and samples of their rows, and returns a plan to merge them. The first
// source has precedence. The plan has:
//
//   - Keys: primary keys of one integer, and unique keys of one integer beside a primary key of other columns, where a
//     source counts them up or foreign keys refer to them. Sources with small keys, as a database counts them up, get
//     new ids; sources whose keys are 2^40 or more, as snowflakes are, keep them.
//   - References: the columns of foreign keys. Inspect finds others for the schema as a whole: by names, by how many
//     values are ids of a table and how likely that is by chance, by types, indexes, and joins in views, triggers and
//     routines. A primary key may be one, in a table with more about the same rows. Others are ids in JSON, in
//     delimited texts and beside a column that names their table.
//   - Unique keys whose rows clash between sources, and texts with the names of rows that would be renamed then.
//   - Tables that look like dictionaries, tables whose rows are the same in all sources, and differences between the
//     schemas.
//
// References that the schema does not declare, keys that no source counts up, and numbers that could be ids are in
// [plan.Plan.Questions], one for all columns of one meaning. Where names and values do not decide, nothing is
// proposed, and the columns have Role undecided. Whatever else is not certain is a suspect. People answer both before
// [plan.Plan.Check] passes. Inspect samples about a thousand rows of a table, and looks up all rows of what it
// proposes, so a plan without questions is no proof: [Merge.DryRun] looks at all rows.
//
// Inspect only reads, and the sources may be in use. It returns a [*sqlsnow.DatabaseError] if it can't read a source.
func Inspect(ctx context.Context, d sqlsnow.Dialect, sources ...Source) (*plan.Plan, error) {
	p, err := inspectSources(ctx, d, sources)
	if err != nil {
		return nil, fmt.Errorf("merge: inspect: %w", err)
	}
	return p, nil
}

// ReadSchema reads the schemas of sources, and returns the plan without any decision: primary keys of one
// integer are keys, columns of foreign keys are references, and all other columns are plain. It is what
// [plan.Decisions] are completed with. The sources are in the order of their precedence, as in the decisions.
//
// It returns a [*sqlsnow.DatabaseError] if it can't read a source.
func ReadSchema(ctx context.Context, d sqlsnow.Dialect, sources ...Source) (p *plan.Plan, err error) {
	err = readSources(ctx, d, sources, func(databases []inspect.Database) error {
		p = inspect.Schema(d, databases)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("merge: read schema: %w", err)
	}
	return p, nil
}

func inspectSources(ctx context.Context, d sqlsnow.Dialect, sources []Source) (p *plan.Plan, err error) {
	err = readSources(ctx, d, sources, func(databases []inspect.Database) error {
		p, err = inspect.Propose(ctx, d, databases)
		return err
	})
	return p, err
}

// readSources reads the catalogs of sources, and calls do while their sessions are open.
func readSources(ctx context.Context, d sqlsnow.Dialect, sources []Source, do func([]inspect.Database) error) (err error) {
	e, err := dialect.Of(d)
	if err != nil {
		return err
	}
	var names []string
	for _, s := range sources {
		names = append(names, s.Name)
	}
	if err := (&plan.Plan{Sources: names}).CheckSources(); err != nil {
		return err
	}
	var databases []inspect.Database
	var sessions []*chunk.Session
	for _, s := range sources {
		if s.DB == nil {
			return fmt.Errorf("source %q has no database", s.Name)
		}
		like := &plan.Plan{Dialect: d.String(), Databases: slices.Sorted(maps.Keys(sources[0].Databases))}
		if err := like.CheckDatabases(fmt.Sprintf("source %q", s.Name), s.Databases); err != nil {
			return err
		}
		conn, failed := chunk.Database{DB: s.DB, Names: s.Databases}.Open(ctx, e, e.Source)
		if failed != nil {
			return fmt.Errorf("source %q: %w", s.Name, failed)
		}
		defer func() { err = errors.Join(err, conn.Close()) }()
		found, failed := catalog.Read(ctx, d, conn, s.Databases)
		if failed != nil {
			return fmt.Errorf("source %q: %w", s.Name, e.Failed("inspect", failed))
		}
		for i, other := range sessions {
			if len(s.Databases) == 0 { // the run says so
				break
			}
			if err := chunk.CheckDistinct(ctx, conn, other, fmt.Sprintf("source %q", s.Name), fmt.Sprintf("source %q", sources[i].Name)); err != nil {
				return err
			}
		}
		sessions = append(sessions, conn)
		databases = append(databases, inspect.Database{Name: s.Name, Catalog: found, Rows: sampler{conn.Engine, conn}})
	}
	return do(databases)
}

// A sampler reads rows of a source for inspect.
type sampler struct {
	dialect *dialect.Dialect
	session *chunk.Session
}

func (s sampler) Range(ctx context.Context, t *plan.Table, columns []*plan.Column, after []any, limit int) ([][]any, error) {
	rows, err := chunk.ReadRange(ctx, s.dialect, s.session, t, columns, "", after, nil, limit)
	return rows, s.dialect.Failed("sample", err)
}

func (s sampler) Bounds(ctx context.Context, table, column string) (low, high sql.NullString, err error) {
	name := s.dialect.Quote(column)
	err = s.session.QueryRowContext(ctx, "SELECT MIN("+name+"), MAX("+name+") FROM "+s.dialect.Table(table)).Scan(&low, &high)
	return low, high, s.dialect.Failed("sample", err)
}

func (s sampler) Count(ctx context.Context, table string, column *plan.Column, ids []int64) (n int, err error) {
	name := s.dialect.Quote(column.Name)
	for part := range slices.Chunk(ids, chunk.MaxIDs) {
		condition, args := chunk.AnyOf(s.dialect, name, part)
		text := "SELECT " + name + " FROM " + s.dialect.Table(table) + " WHERE " + condition
		rows, err := chunk.ReadAll(ctx, s.dialect, s.session, text, []*plan.Column{column}, args)
		if err != nil {
			return 0, s.dialect.Failed("look up ids", err)
		}
		n += len(rows)
	}
	return n, nil
}

func (s sampler) First(ctx context.Context, table string, columns []*plan.Column, limit int) ([][]any, error) {
	text := fmt.Sprintf("SELECT %s FROM %s LIMIT %d", s.dialect.SelectList(columns), s.dialect.Table(table), limit)
	rows, err := chunk.ReadAll(ctx, s.dialect, s.session, text, columns, nil)
	return rows, s.dialect.Failed("sample", err)
}

func (s sampler) Distinct(ctx context.Context, table string, column *plan.Column, limit int) ([]any, error) {
	columns := []*plan.Column{column}
	text := fmt.Sprintf("SELECT DISTINCT %s FROM %s LIMIT %d", s.dialect.SelectList(columns), s.dialect.Table(table), limit)
	rows, err := chunk.ReadAll(ctx, s.dialect, s.session, text, columns, nil)
	values := make([]any, len(rows))
	for i, row := range rows {
		values[i] = row[0]
	}
	return values, s.dialect.Failed("sample", err)
}

func (s sampler) Included(ctx context.Context, table, column, parent, key string) (of, found int, err error) {
	q := s.dialect.Quote
	err = s.session.QueryRowContext(ctx, "SELECT COUNT(*), COUNT(p."+q(key)+") FROM (SELECT DISTINCT "+q(column)+" AS id FROM "+s.dialect.Table(table)+" WHERE "+q(column)+" > 0) c LEFT JOIN "+
		s.dialect.Table(parent)+" p ON p."+q(key)+" = c.id").Scan(&of, &found)
	return of, found, s.dialect.Failed("look up ids", err)
}

func (s sampler) Unused(ctx context.Context, table, column string) (unused bool, err error) {
	if s.dialect.Kind != sqlsnow.Postgres { // others count above whatever is inserted
		return false, nil
	}
	err = s.session.QueryRowContext(ctx, "SELECT COALESCE(CASE WHEN has_sequence_privilege(s, 'SELECT, USAGE') THEN pg_sequence_last_value(s::regclass) IS NULL END, false) "+
		"FROM (SELECT pg_get_serial_sequence($1, $2) AS s) q", s.dialect.Table(table), column).Scan(&unused)
	return unused, s.dialect.Failed("look for a sequence", err)
}

func (s sampler) Find(ctx context.Context, table string, columns []*plan.Column, by []string, keys [][]any) ([][]any, error) {
	rows, err := chunk.ReadKeys(ctx, s.dialect, s.session, table, columns, chunk.ColumnsOf(&plan.Table{Columns: columns}, by), keys)
	return rows, s.dialect.Failed("look for clashes", err)
}
