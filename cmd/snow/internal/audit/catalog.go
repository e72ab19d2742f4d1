package audit

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/shardsnow/snow/internal/idcolumn"
	"github.com/shardsnow/snow/sqlsnow"
)

// A table is what the catalogue says about a table, and the ids that were read from it.
type table struct {
	schema, name string // the schema is empty but on PostgreSQL
	label        string // for people
	columns      []idcolumn.Column
	key          []string // columns of the primary key
	references   []reference
	referrers    []referrer
	ignored      bool                // it is left out, but may have to change with others
	counters     map[string]*counter // by column
	create       string              // the statement that makes it, on MySQL and SQLite
	versioned    bool                // MariaDB: SYSTEM VERSIONED
	made         time.Time           // MySQL: or rebuilt
	inserted     float64             // PostgreSQL: rows since the statistics begin
	defaults     map[string]string   // PostgreSQL: the expressions, by column

	least   int64    // smallest value of the first column of the key, 0 if none is negative
	largest uint64   // largest one, 0 if none is greater
	latest  []uint64 // the highest keys that each layout can have made
	hasIDs  bool     // the largest key is an id of one of the layouts
}

// A reference is a column of a foreign key.
type reference struct{ column, schema, table, to, name string } // to is empty if it is the key of the table

// A referrer is a column of a foreign key to a table.
type referrer struct {
	from *table // nil if it is in another database
	reference
}

func (t *table) column(name string) (idcolumn.Column, bool) {
	i := slices.IndexFunc(t.columns, func(c idcolumn.Column) bool { return strings.EqualFold(c.Name, name) })
	if i < 0 {
		return idcolumn.Column{}, false
	}
	return t.columns[i], true
}

// catalogs has the queries of a product: columns, then keys, then references. Each row of the first begins with
// the schema, whether that is the connection's, and the table; each row of the others with the schema and the table.
var catalogs = map[sqlsnow.Dialect][3]string{
	sqlsnow.MySQL: {
		`SELECT '', 1, c.table_name, c.column_name, c.data_type, c.column_type, COALESCE(c.character_maximum_length, 0),
			COALESCE(c.numeric_precision, 0), COALESCE(c.numeric_scale, 0), c.extra, COALESCE(c.column_default, '')
		FROM information_schema.columns c JOIN information_schema.tables t ON t.table_schema = c.table_schema AND t.table_name = c.table_name
		WHERE c.table_schema = DATABASE() AND t.table_type IN ('BASE TABLE', 'SYSTEM VERSIONED')
		ORDER BY c.table_name, c.ordinal_position`,
		`SELECT '', table_name, column_name FROM information_schema.statistics
		WHERE table_schema = DATABASE() AND index_name = 'PRIMARY' ORDER BY table_name, seq_in_index`,
		`SELECT IF(table_schema = DATABASE(), '', table_schema), table_name, column_name,
			IF(referenced_table_schema = DATABASE(), '', referenced_table_schema), referenced_table_name, referenced_column_name, constraint_name
		FROM information_schema.key_column_usage
		WHERE referenced_table_name IS NOT NULL AND DATABASE() IN (table_schema, referenced_table_schema) ORDER BY table_name, column_name`,
	},
	sqlsnow.Postgres: {
		`SELECT n.nspname, COALESCE(n.nspname = current_schema(), false)::int, c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
			COALESCE(base.typname, t.typname), CASE WHEN base.oid IS NULL THEN a.atttypmod ELSE t.typtypmod END,
			a.attidentity::text, COALESCE(pg_get_expr(d.adbin, d.adrelid), '')
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
		JOIN pg_type t ON t.oid = a.atttypid
		LEFT JOIN pg_type base ON t.typtype = 'd' AND base.oid = t.typbasetype
		LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
		WHERE c.relkind IN ('r', 'p') AND c.relpersistence <> 't' AND NOT EXISTS (SELECT 1 FROM pg_inherits i WHERE i.inhrelid = c.oid)
		AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\_toast%'
		ORDER BY n.nspname, c.relname, a.attnum`,
		`SELECT s.nspname, c.relname, a.attname FROM pg_index i
		JOIN pg_class c ON c.oid = i.indrelid JOIN pg_namespace s ON s.oid = c.relnamespace
		CROSS JOIN LATERAL generate_series(0, i.indnkeyatts - 1) AS n
		JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[n]
		WHERE i.indisprimary ORDER BY s.nspname, c.relname, n`,
		`SELECT s.nspname, c.relname, a.attname, fs.nspname, fc.relname, fa.attname, k.conname FROM pg_constraint k
		JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace s ON s.oid = c.relnamespace
		JOIN pg_class fc ON fc.oid = k.confrelid JOIN pg_namespace fs ON fs.oid = fc.relnamespace
		CROSS JOIN LATERAL unnest(k.conkey, k.confkey) AS u(own, other)
		JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = u.own
		JOIN pg_attribute fa ON fa.attrelid = k.confrelid AND fa.attnum = u.other
		WHERE k.contype = 'f' AND k.conparentid = 0 ORDER BY s.nspname, c.relname, a.attnum`,
	},
	sqlsnow.SQLite: {
		`SELECT '', 1, m.name, i.name, i.type, i.pk, COALESCE(m.sql, '')
		FROM sqlite_master m JOIN pragma_table_list l ON l.schema = 'main' AND l.name = m.name AND l.type = 'table', pragma_table_info(m.name) i
		WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY m.name, i.cid`,
		`SELECT '', m.name, i.name FROM sqlite_master m, pragma_table_info(m.name) i WHERE m.type = 'table' AND i.pk > 0 ORDER BY m.name, i.pk`,
		`SELECT '', m.name, f."from", '', f."table", COALESCE(f."to", ''), '' FROM sqlite_master m, pragma_foreign_key_list(m.name) f
		WHERE m.type = 'table' ORDER BY m.name, f.id, f.seq`,
	},
}

// isOwn reports whether a table is one of snow's.
func isOwn(name string) bool {
	own := []string{"snow_migrations", "snow_namespaces", "snow_workers", "snow_segments", "snow_numbers", "snow_id_holders"}
	return slices.Contains(own, name) || strings.HasPrefix(name, "snow_merge_") || strings.HasPrefix(name, "snow_id_words_") || strings.HasPrefix(name, "snow_id_servers_")
}

// nameOf returns how a table is found. SQLite's names have no case.
func (a *audit) nameOf(schema, name string) string {
	if a.dialect == sqlsnow.SQLite {
		name = strings.ToLower(name)
	}
	return schema + "\x00" + name
}

func (a *audit) readCatalog(ctx context.Context) error {
	queries, ok := catalogs[a.dialect]
	if !ok {
		return errors.New("the dialect is unknown")
	}
	if a.dialect == sqlsnow.MySQL {
		var name sql.NullString
		if err := a.db.QueryRowContext(ctx, "SELECT DATABASE()").Scan(&name); err != nil {
			return err
		}
		if !name.Valid {
			return errors.New("the DSN names no database")
		}
	}
	a.named = make(map[string]*table)
	if err := a.each(ctx, queries[0], a.readColumn); err != nil {
		return err
	}
	err := a.each(ctx, queries[1], func(rows *sql.Rows) error {
		var schema, name, column string
		if err := rows.Scan(&schema, &name, &column); err != nil {
			return err
		}
		if t := a.named[a.nameOf(schema, name)]; t != nil {
			t.key = append(t.key, column)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return a.each(ctx, queries[2], func(rows *sql.Rows) error {
		var schema, name string
		var r reference
		if err := rows.Scan(&schema, &name, &r.column, &r.schema, &r.table, &r.to, &r.name); err != nil {
			return err
		}
		t, to := a.named[a.nameOf(schema, name)], a.named[a.nameOf(r.schema, r.table)]
		if t != nil && !slices.Contains(t.references, r) {
			t.references = append(t.references, r)
		}
		if to != nil {
			to.referrers = append(to.referrers, referrer{t, r})
		}
		return nil
	})
}

// readColumn reads a column, and makes its table if it is the first one.
func (a *audit) readColumn(rows *sql.Rows) error {
	var schema, name, column, typ, value, create string
	var current, modifier, precision, scale int64
	var c idcolumn.Column
	var err error
	label := func() string {
		if current != 0 {
			return name
		}
		return schema + "." + name
	}
	switch a.dialect {
	case sqlsnow.MySQL:
		var data, extra string
		err = rows.Scan(&schema, &current, &name, &column, &data, &typ, &modifier, &precision, &scale, &extra, &value)
		c = idcolumn.MySQL(label(), column, data, typ, modifier, precision, scale, extra, value)
	case sqlsnow.Postgres:
		var base, identity string
		err = rows.Scan(&schema, &current, &name, &column, &typ, &base, &modifier, &identity, &value)
		c = idcolumn.Postgres(label(), column, typ, base, modifier, identity, value)
	case sqlsnow.SQLite:
		var place int
		err = rows.Scan(&schema, &current, &name, &column, &typ, &place, &create)
		c = idcolumn.SQLite(column, typ, place > 0 && idcolumn.Counts(create))
	}
	if err != nil {
		return err
	}
	if isOwn(name) {
		return nil
	}
	at := a.nameOf(schema, name)
	t := a.named[at]
	if t == nil {
		t = &table{schema: schema, name: name, label: label(), create: create, counters: map[string]*counter{}, defaults: map[string]string{}}
		a.named[at] = t
		if t.ignored = a.ignores(t.label, ""); !t.ignored {
			a.tables = append(a.tables, t)
		}
	}
	t.columns = append(t.columns, c)
	if value != "" {
		t.defaults[c.Name] = value
	}
	if match := nextval.FindStringSubmatch(value); a.dialect == sqlsnow.MySQL && match != nil {
		a.defaults = append(a.defaults, defaultOf{t, c, match[1]})
	}
	return nil
}

// each calls scan for each row.
func (a *audit) each(ctx context.Context, query string, scan func(*sql.Rows) error) error {
	rows, err := a.db.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
