package convert_test

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/shardsnow/snow/sqlsnow"
)

// A table is what a writer must know of a table.
type table struct {
	name    string
	columns []*column
	key     []string     // primary key
	counted string       // the column that the database numbers, or empty
	foreign []*reference // of this table, with those that no key declares
}

// A column is a column of a table.
type column struct {
	name      string
	kind      string // the type, without its size
	length    int    // of a text; 0 without a limit
	nullable  bool
	generated bool // always; a writer gives it no value
	unique    bool // member of a unique key that is not the primary key
}

// A reference says that columns have the values of columns of another row.
type reference struct {
	columns, target []string
	table           string
	onDelete        string // CASCADE, SET NULL, NO ACTION, RESTRICT, or empty if no key declares it
}

func (t *table) column(name string) *column {
	i := slices.IndexFunc(t.columns, func(c *column) bool { return c.name == name })
	if i < 0 {
		return nil
	}
	return t.columns[i]
}

func (t *table) names() (names []string) {
	for _, c := range t.columns {
		names = append(names, c.name)
	}
	return names
}

// refers reports whether the column has values of another row.
func (t *table) refers(column string) bool {
	return slices.ContainsFunc(t.foreign, func(r *reference) bool { return slices.Contains(r.columns, column) })
}

// catalog reads the tables of the database. found are references that no key declares: table.column to table. The
// tables of a conversion are left out.
func catalog(ctx context.Context, db *sql.DB, d sqlsnow.Dialect, found map[string]string) (map[string]*table, error) {
	tables := make(map[string]*table)
	// name, column, type, length, nullable, counted, generated
	columns := `SELECT c.table_name, c.column_name, c.data_type, COALESCE(c.character_maximum_length, 0), c.is_nullable = 'YES',
	c.extra LIKE '%auto_increment%', COALESCE(c.generation_expression, '') <> ''
	FROM information_schema.columns c JOIN information_schema.tables t ON t.table_schema = c.table_schema AND t.table_name = c.table_name
	WHERE c.table_schema = DATABASE() AND t.table_type = 'BASE TABLE' ORDER BY c.table_name, c.ordinal_position`
	// name, constraint, unique or primary, column
	keys := `SELECT k.table_name, k.constraint_name, c.constraint_type = 'PRIMARY KEY', k.column_name
	FROM information_schema.key_column_usage k JOIN information_schema.table_constraints c
	ON c.constraint_schema = k.constraint_schema AND c.table_name = k.table_name AND c.constraint_name = k.constraint_name
	WHERE k.table_schema = DATABASE() AND c.constraint_type IN ('PRIMARY KEY', 'UNIQUE') ORDER BY 1, 2, k.ordinal_position`
	// name, constraint, column, its table, its column, on delete
	foreign := `SELECT k.table_name, k.constraint_name, k.column_name, k.referenced_table_name, k.referenced_column_name, r.delete_rule
	FROM information_schema.key_column_usage k JOIN information_schema.referential_constraints r
	ON r.constraint_schema = k.constraint_schema AND r.constraint_name = k.constraint_name AND r.table_name = k.table_name
	WHERE k.table_schema = DATABASE() ORDER BY 1, 2, k.ordinal_position`
	if d == sqlsnow.Postgres {
		columns = `SELECT c.table_name, c.column_name, c.data_type, COALESCE(c.character_maximum_length, 0), c.is_nullable = 'YES',
		c.is_identity = 'YES' OR COALESCE(c.column_default, '') LIKE 'nextval(%', c.is_generated = 'ALWAYS'
		FROM information_schema.columns c JOIN information_schema.tables t ON t.table_schema = c.table_schema AND t.table_name = c.table_name
		WHERE c.table_schema = 'public' AND t.table_type = 'BASE TABLE' ORDER BY c.table_name, c.ordinal_position`
		keys = `SELECT t.relname, i.indexrelid::regclass::text, i.indisprimary, a.attname
		FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = ANY (i.indkey)
		WHERE t.relnamespace = 'public'::regnamespace AND i.indisunique ORDER BY 1, 2, array_position(i.indkey::int2[], a.attnum)`
		foreign = `SELECT t.relname, c.conname, a.attname, p.relname, b.attname,
		CASE c.confdeltype WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL' ELSE 'NO ACTION' END
		FROM pg_constraint c CROSS JOIN LATERAL unnest(c.conkey, c.confkey) WITH ORDINALITY AS u(k, f, i)
		JOIN pg_class t ON t.oid = c.conrelid JOIN pg_class p ON p.oid = c.confrelid
		JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = u.k JOIN pg_attribute b ON b.attrelid = c.confrelid AND b.attnum = u.f
		WHERE c.contype = 'f' AND t.relnamespace = 'public'::regnamespace ORDER BY 1, 2, u.i`
	}
	foreigners := func(name string) bool { // tables of the conversion, and of leases
		return strings.HasPrefix(name, "_snow_") || strings.HasPrefix(name, "snow_")
	}

	rows, err := db.QueryContext(ctx, columns)
	if err != nil {
		return nil, fmt.Errorf("columns: %w", err)
	}
	err = each(rows, func() error {
		var name string
		var c column
		var counted bool
		if err := rows.Scan(&name, &c.name, &c.kind, &c.length, &c.nullable, &counted, &c.generated); err != nil {
			return err
		}
		if foreigners(name) || strings.HasPrefix(c.name, "_snow_") {
			return nil
		}
		t := tables[name]
		if t == nil {
			t = &table{name: name}
			tables[name] = t
		}
		if counted {
			t.counted = c.name
		}
		t.columns = append(t.columns, &c)
		return nil
	})
	if err != nil {
		return nil, err
	}

	if rows, err = db.QueryContext(ctx, keys); err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	err = each(rows, func() error {
		var name, constraint, column string
		var primary bool
		if err := rows.Scan(&name, &constraint, &primary, &column); err != nil {
			return err
		}
		if t := tables[name]; t != nil && primary {
			t.key = append(t.key, column)
		} else if t != nil && t.column(column) != nil {
			t.column(column).unique = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}

	if rows, err = db.QueryContext(ctx, foreign); err != nil {
		return nil, fmt.Errorf("foreign keys: %w", err)
	}
	last, at := "", (*reference)(nil)
	err = each(rows, func() error {
		var name, constraint, column, to, target, onDelete string
		if err := rows.Scan(&name, &constraint, &column, &to, &target, &onDelete); err != nil {
			return err
		}
		if tables[name] == nil {
			return nil
		}
		if last != name+"."+constraint {
			last, at = name+"."+constraint, &reference{table: to, onDelete: onDelete}
			tables[name].foreign = append(tables[name].foreign, at)
		}
		at.columns, at.target = append(at.columns, column), append(at.target, target)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for from, to := range found {
		name, column, _ := strings.Cut(from, ".")
		tables[name].foreign = append(tables[name].foreign, &reference{columns: []string{column}, target: tables[to].key, table: to})
	}
	return tables, nil
}

// each calls next for each row.
func each(rows *sql.Rows, next func() error) error {
	defer rows.Close()
	for rows.Next() {
		if err := next(); err != nil {
			return err
		}
	}
	return rows.Err()
}
