package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// An index is an index with a column that changes, or the constraint that it belongs to.
type index struct {
	Oid, Name, Tail  string // tail is the definition from USING on
	Copy             string // the tail with the second columns
	Unique, Primary  bool
	Exclusion        bool
	Constraint       string // its name, or empty
	Deferrable       bool
	Space            string // its tablespace, or empty
	Comment          string
	ConComment       string
	Clustered, Ident bool
	Valid            bool
}

// A condition is a check constraint with a column that changes.
type condition struct {
	Name, Definition string
	Copy             string // the definition with the second columns
	Valid            bool
	Comment          string
}

// A shape is what a table has on the columns that change.
type shape struct {
	indexes []index
	checks  []condition
}

// scratchName is a table without rows that exists only until its transaction is rolled back.
const scratchName = "pg_temp._snow_scratch"

// shapeOf reads indexes and checks, and how they read with the second columns. PostgreSQL itself writes them: in an
// empty table of the same shape the columns get the other names.
func shapeOf(ctx context.Context, q beginner, t *table, pairs []pair) (*shape, error) {
	tx, err := q.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return nil, err
	}
	defer tx.Rollback() //nolint:errcheck // nothing is kept
	if err := execute(ctx, tx, settings(wait)+", set_config('search_path', '', true)"); err != nil {
		return nil, err
	}
	s, err := shapeIn(ctx, tx, t, pairs)
	if err != nil {
		return nil, fmt.Errorf("convert: indexes and checks of table %q: %w", t.Name, err)
	}
	return s, nil
}

type beginner interface {
	BeginTx(ctx context.Context, options *sql.TxOptions) (*sql.Tx, error)
}

func shapeIn(ctx context.Context, tx *sql.Tx, t *table, pairs []pair) (*shape, error) {
	indexes, err := ownIndexes(ctx, tx, t)
	if err != nil {
		return nil, err
	}
	checks, err := query[condition](ctx, tx, `SELECT c.conname AS "Name", pg_catalog.pg_get_constraintdef(c.oid) AS "Definition", c.convalidated AS "Valid",
			COALESCE(obj_description(c.oid, 'pg_constraint'), '') AS "Comment"
		FROM pg_catalog.pg_constraint c WHERE c.conrelid = `+t.oid+` AND c.contype = 'c' ORDER BY c.conname`)
	if err != nil {
		return nil, err
	}
	if err := execute(ctx, tx, "CREATE TEMP TABLE "+scratchName+" (LIKE "+t.sql+" INCLUDING CONSTRAINTS INCLUDING INDEXES)"); err != nil {
		return nil, err
	}
	// Indexes and checks of the second columns go with them.
	for _, p := range pairs {
		if err := execute(ctx, tx, "ALTER TABLE "+scratchName+" DROP COLUMN IF EXISTS "+quote(p.spare)); err != nil {
			return nil, err
		}
	}
	before, err := scratchIndexes(ctx, tx)
	if err != nil {
		return nil, err
	}
	for _, p := range pairs {
		if err := execute(ctx, tx, fmt.Sprintf("ALTER TABLE %s RENAME COLUMN %s TO %s", scratchName, quote(p.live.Name), quote(p.spare))); err != nil {
			return nil, err
		}
	}
	after, err := scratchIndexes(ctx, tx)
	if err != nil {
		return nil, err
	}
	s := &shape{}
	for _, i := range indexes {
		for oid, tail := range before {
			if tail == i.Tail {
				i.Copy = after[oid]
			}
		}
		if i.Copy != "" && i.Copy != i.Tail {
			s.indexes = append(s.indexes, i)
		}
	}
	renamed, err := query[condition](ctx, tx, `SELECT conname AS "Name", pg_catalog.pg_get_constraintdef(oid) AS "Copy"
		FROM pg_catalog.pg_constraint WHERE conrelid = '`+scratchName+`'::regclass AND contype = 'c'`)
	if err != nil {
		return nil, err
	}
	for _, c := range checks {
		for _, r := range renamed {
			if r.Name == c.Name && r.Copy != strings.TrimSuffix(c.Definition, " NOT VALID") {
				c.Copy = r.Copy
				s.checks = append(s.checks, c)
			}
		}
	}
	return s, nil
}

// ownIndexes are all valid indexes of a table, without the ones that the conversion has made.
func ownIndexes(ctx context.Context, q querier, t *table) ([]index, error) {
	return query[index](ctx, q, `SELECT i.oid::text AS "Oid", i.relname AS "Name",
			substr(definition, length(head) + strpos(substr(definition, length(head) + 1), 'USING ')) AS "Tail",
			x.indisunique AS "Unique", x.indisprimary AS "Primary", x.indisexclusion AS "Exclusion",
			COALESCE(c.conname, '') AS "Constraint", COALESCE(c.condeferrable, false) AS "Deferrable",
			COALESCE(s.spcname, '') AS "Space", COALESCE(obj_description(i.oid, 'pg_class'), '') AS "Comment",
			COALESCE(obj_description(c.oid, 'pg_constraint'), '') AS "ConComment",
			x.indisclustered AS "Clustered", x.indisreplident AS "Ident", x.indisvalid AS "Valid"
		FROM pg_catalog.pg_index x JOIN pg_catalog.pg_class i ON i.oid = x.indexrelid
			LEFT JOIN pg_catalog.pg_constraint c ON c.conindid = i.oid AND c.conrelid = x.indrelid AND c.contype IN ('p', 'u', 'x')
			LEFT JOIN pg_catalog.pg_tablespace s ON s.oid = i.reltablespace
			CROSS JOIN LATERAL (SELECT pg_catalog.pg_get_indexdef(i.oid) AS definition,
				'CREATE ' || CASE WHEN x.indisunique THEN 'UNIQUE ' ELSE '' END || 'INDEX ' || quote_ident(i.relname) || ' ON ' ||
				quote_ident(`+literal(t.schema)+`) || '.' || quote_ident(`+literal(t.name)+`) AS head) d
		WHERE x.indrelid = `+t.oid+` AND x.indisvalid ORDER BY i.oid`)
}

// scratchIndexes are the tails of the scratch table's indexes by their oids. Its names have no keyword in them.
func scratchIndexes(ctx context.Context, tx *sql.Tx) (map[string]string, error) {
	list := `SELECT i.oid::text AS "Oid", i.relname AS "Name" FROM pg_catalog.pg_index x JOIN pg_catalog.pg_class i ON i.oid = x.indexrelid
		WHERE x.indrelid = '` + scratchName + `'::regclass`
	all, err := query[index](ctx, tx, list)
	if err != nil {
		return nil, err
	}
	for _, i := range all {
		if name := "_snow_i" + i.Oid; i.Name != name {
			if err := execute(ctx, tx, "ALTER INDEX pg_temp."+quote(i.Name)+" RENAME TO "+quote(name)); err != nil {
				return nil, err
			}
		}
	}
	all, err = query[index](ctx, tx, `SELECT i.oid::text AS "Oid", substr(definition, strpos(definition, 'USING ')) AS "Tail"
		FROM pg_catalog.pg_index x JOIN pg_catalog.pg_class i ON i.oid = x.indexrelid
			CROSS JOIN LATERAL (SELECT pg_catalog.pg_get_indexdef(i.oid) AS definition) d
		WHERE x.indrelid = '`+scratchName+`'::regclass`)
	tails := map[string]string{}
	for _, i := range all {
		tails[i.Oid] = i.Tail
	}
	return tails, err
}
