package catalog

import (
	"context"
	"database/sql"
	"strings"

	"github.com/shardsnow/snow/merge/plan"
)

// A postgresReader reads the catalog of a PostgreSQL server, from pg_catalog.
type postgresReader struct{ *Catalog }

func (c *postgresReader) load(ctx context.Context, r Querier) error {
	for _, load := range []func(context.Context, Querier) error{
		c.readTables, c.readHeirs, c.readTypes, c.readColumns, c.readIndexes, c.readForeignKeys, c.readRest,
	} {
		if err := load(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

func (c *postgresReader) readTables(ctx context.Context, r Querier) error {
	const query = `SELECT relname::text, relkind::text, relispartition, relrowsecurity, COALESCE(obj_description(oid, 'pg_class'), '') FROM pg_class
		WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f') ORDER BY relname COLLATE "C"`
	return each(ctx, r, query, nil, func(scan func(...any) error) error {
		var name, kind, comment string
		var partition, security bool
		if err := scan(&name, &kind, &partition, &security, &comment); err != nil {
			return err
		}
		switch {
		case partition || ours(name):
			return nil
		case kind == "v":
			c.Notes = append(c.Notes, "view "+name)
			return nil
		case kind == "m":
			c.Notes = append(c.Notes, "materialized view "+name)
			return nil
		case kind == "f":
			c.Notes = append(c.Notes, "foreign table "+name+", which is not copied")
			return nil
		}
		t := &Table{Table: &plan.Table{Name: name, Comment: comment}}
		if kind == "p" {
			t.AddNote("partitioned: Schema makes a table without partitions")
		}
		if security {
			t.AddNote("row level security: the source's account must be one that it lets see all rows")
		}
		c.Tables = append(c.Tables, t)
		return nil
	})
}

// readHeirs finds the tables that inherit from others, which are no partitions.
func (c *postgresReader) readHeirs(ctx context.Context, r Querier) error {
	const query = `WITH RECURSIVE heirs(elder, heir) AS (
			SELECT inhparent, inhrelid FROM pg_inherits UNION SELECT h.elder, i.inhrelid FROM heirs h JOIN pg_inherits i ON i.inhparent = h.heir
		)
		SELECT e.relname::text, k.relname::text FROM heirs h JOIN pg_class e ON e.oid = h.elder JOIN pg_class k ON k.oid = h.heir
		WHERE e.relnamespace = current_schema()::regnamespace AND k.relnamespace = e.relnamespace AND e.relkind = 'r' AND k.relkind = 'r' ORDER BY 1, 2`
	return each(ctx, r, query, nil, func(scan func(...any) error) error {
		var elder, heir string
		if err := scan(&elder, &heir); err != nil {
			return err
		}
		if t := c.Table(elder); t != nil && c.Table(heir) != nil {
			t.Heirs = append(t.Heirs, heir)
		}
		return nil
	})
}

func (c *postgresReader) readTypes(ctx context.Context, r Querier) error {
	const query = `SELECT format_type(t.oid, NULL), t.typtype::text,
			COALESCE((SELECT string_agg(quote_literal(enumlabel), ', ' ORDER BY enumsortorder) FROM pg_enum WHERE enumtypid = t.oid), '')
		FROM pg_type t WHERE t.typnamespace = current_schema()::regnamespace AND t.typtype IN ('e', 'd', 'r', 'c')
			AND NOT EXISTS (SELECT FROM pg_class k WHERE k.oid = t.typrelid AND k.relkind <> 'c') ORDER BY 1`
	return each(ctx, r, query, nil, func(scan func(...any) error) error {
		var name, kind, labels string
		if err := scan(&name, &kind, &labels); err != nil {
			return err
		}
		if kind == "e" {
			c.Types = append(c.Types, "CREATE TYPE "+name+" AS ENUM ("+labels+")")
		} else {
			c.Notes = append(c.Notes, "type "+name)
		}
		return nil
	})
}

func (c *postgresReader) readColumns(ctx context.Context, r Querier) error {
	const query = `SELECT k.relname::text, a.attname::text, format_type(a.atttypid, a.atttypmod), NOT a.attnotnull,
			pg_get_expr(d.adbin, d.adrelid), a.attidentity::text, a.attgenerated::text,
			COALESCE((SELECT quote_ident(l.collname) FROM pg_collation l WHERE l.oid = a.attcollation AND a.attcollation <> t.typcollation), ''),
			COALESCE(col_description(k.oid, a.attnum), ''), concat_ws(' and ', CASE WHEN a.attstorage <> t.typstorage THEN 'storage ' || a.attstorage::text END,
				'compression ' || NULLIF(to_jsonb(a) ->> 'attcompression', ''), 'options ' || a.attoptions::text)
		FROM pg_class k JOIN pg_attribute a ON a.attrelid = k.oid JOIN pg_type t ON t.oid = a.atttypid
			LEFT JOIN pg_attrdef d ON d.adrelid = k.oid AND d.adnum = a.attnum
		WHERE k.relnamespace = current_schema()::regnamespace AND k.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped
		ORDER BY k.relname, a.attnum`
	return each(ctx, r, query, nil, func(scan func(...any) error) error {
		var table, identity, generated, rest string
		var value sql.NullString
		column := &plan.Column{Role: plan.RolePlain}
		if err := scan(&table, &column.Name, &column.Type, &column.Nullable, &value, &identity, &generated, &column.Collation, &column.Comment, &rest); err != nil {
			return err
		}
		t := c.Table(table)
		if t == nil {
			return nil
		}
		if rest != "" {
			t.AddNote("column %s: Schema leaves out its %s", column.Name, rest)
		}
		switch {
		case generated == "v":
			column.Generated = "(" + value.String + ") VIRTUAL"
		case generated != "":
			column.Generated = "(" + value.String + ") STORED"
		case identity != "" || strings.HasPrefix(value.String, "nextval("):
			t.Numbered = append(t.Numbered, column.Name)
		case value.Valid:
			column.Default = &value.String
		}
		t.Columns = append(t.Columns, column)
		return nil
	})
}

func (c *postgresReader) readIndexes(ctx context.Context, r Querier) error {
	// Whatever columns do not say comes after their list, or instead of it.
	const query = `SELECT k.relname::text, i.relname::text, x.indisunique, x.indisprimary, x.indisexclusion, x.indisvalid,
			pg_get_indexdef(x.indexrelid, 0, true),
			'USING btree (' || (SELECT string_agg(COALESCE(quote_ident(a.attname), '?'), ', ' ORDER BY u.n)
				FROM unnest(x.indkey) WITH ORDINALITY u(num, n) LEFT JOIN pg_attribute a ON a.attrelid = k.oid AND a.attnum = u.num AND u.num > 0) || ')',
			(SELECT json_agg(a.attname ORDER BY u.n) FROM unnest(x.indkey) WITH ORDINALITY u(num, n)
				JOIN pg_attribute a ON a.attrelid = k.oid AND a.attnum = u.num AND u.num > 0 WHERE u.n <= x.indnkeyatts)::text
		FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class k ON k.oid = x.indrelid
		WHERE k.relnamespace = current_schema()::regnamespace AND k.relkind IN ('r', 'p') AND NOT i.relispartition
		ORDER BY k.relname, i.relname`
	return each(ctx, r, query, nil, func(scan func(...any) error) error {
		var table, name, statement, simple string
		var unique, primary, exclusion, valid bool
		var columns names
		if err := scan(&table, &name, &unique, &primary, &exclusion, &valid, &statement, &simple, &columns); err != nil {
			return err
		}
		t := c.Table(table)
		isSimple := strings.HasSuffix(statement, simple)
		switch {
		case t == nil || !valid:
		case primary:
			t.PrimaryKey = columns
		case exclusion:
			t.AddNote("exclusion constraint %s: %s", name, statement)
		case !isSimple:
			t.Indexes = append(t.Indexes, &plan.Index{Name: name, Statement: statement})
			if unique {
				t.AddNote("unique index %s is not on columns alone: a clash is found when the database refuses the row", name)
			}
		case unique:
			t.Unique = append(t.Unique, &plan.Unique{Name: name, Columns: columns, Rule: plan.RuleFail})
		default:
			t.Indexes = append(t.Indexes, &plan.Index{Name: name, Columns: columns})
		}
		return nil
	})
}

func (c *postgresReader) readForeignKeys(ctx context.Context, r Querier) error {
	const columns = `(SELECT json_agg(a.attname ORDER BY u.n) FROM unnest(%) WITH ORDINALITY u(num, n)
				JOIN pg_attribute a ON a.attrelid = @ AND a.attnum = u.num)::text`
	query := `SELECT k.relname::text, f.conname::text, p.relname::text, p.relnamespace = k.relnamespace, f.confdeltype::text, f.confupdtype::text,
			f.condeferrable OR f.confmatchtype <> 's' OR NOT f.convalidated OR COALESCE(to_jsonb(f) ->> 'confdelsetcols', '') <> '',
			COALESCE(to_jsonb(f) ->> 'conperiod', '') = 'true' OR COALESCE(to_jsonb(f) ->> 'conenforced', '') = 'false', pg_get_constraintdef(f.oid),
			` + strings.NewReplacer("%", "f.conkey", "@", "f.conrelid").Replace(columns) + `,
			` + strings.NewReplacer("%", "f.confkey", "@", "f.confrelid").Replace(columns) + `
		FROM pg_constraint f JOIN pg_class k ON k.oid = f.conrelid JOIN pg_class p ON p.oid = f.confrelid
		WHERE f.contype = 'f' AND f.conparentid = 0 AND k.relnamespace = current_schema()::regnamespace ORDER BY k.relname, f.conname`
	actions := map[string]string{"c": "CASCADE", "n": "SET NULL", "d": "SET DEFAULT", "r": "RESTRICT"}
	return each(ctx, r, query, nil, func(scan func(...any) error) error {
		var table, onDelete, onUpdate, definition string
		var here, isMore, isOther bool
		var local, remote names
		k := &plan.ForeignKey{}
		if err := scan(&table, &k.Name, &k.Table, &here, &onDelete, &onUpdate, &isMore, &isOther, &definition, &local, &remote); err != nil {
			return err
		}
		t := c.Table(table)
		switch {
		case t == nil:
		case !here:
			t.AddNote("foreign key %s refers to %s in another schema", k.Name, k.Table)
		case isOther:
			t.AddNote("foreign key %s: Schema leaves it out: %s", k.Name, definition)
		default:
			if isMore {
				t.AddNote("foreign key %s: Schema makes an ordinary one of %s", k.Name, definition)
			}
			k.Columns, k.Refers, k.OnDelete, k.OnUpdate = local, remote, actions[onDelete], actions[onUpdate]
			t.ForeignKeys = append(t.ForeignKeys, k)
		}
		return nil
	})
}

// readRest notes what Schema leaves out.
func (c *postgresReader) readRest(ctx context.Context, r Querier) error {
	const onTables = `SELECT k.relname::text, CASE f.contype WHEN 'c' THEN 'check ' || f.conname || ' '
				ELSE 'key ' || f.conname || ': Schema makes an ordinary one of ' END || pg_get_constraintdef(f.oid)
		FROM pg_constraint f JOIN pg_class k ON k.oid = f.conrelid
		WHERE (f.contype = 'c' OR f.contype IN ('p', 'u') AND (f.condeferrable OR COALESCE(to_jsonb(f) ->> 'conperiod', '') = 'true'))
			AND k.relnamespace = current_schema()::regnamespace
		UNION ALL SELECT k.relname::text, 'trigger ' || g.tgname FROM pg_trigger g JOIN pg_class k ON k.oid = g.tgrelid
		WHERE NOT g.tgisinternal AND k.relnamespace = current_schema()::regnamespace ORDER BY 1, 2`
	err := each(ctx, r, onTables, nil, func(scan func(...any) error) error {
		var table, note string
		if err := scan(&table, &note); err != nil {
			return err
		}
		if t := c.Table(table); t != nil {
			t.AddNote("%s", note)
		}
		return nil
	})
	if err != nil {
		return err
	}
	const routines = `SELECT oid::regprocedure::text FROM pg_proc p WHERE pronamespace = current_schema()::regnamespace
		AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e') ORDER BY 1`
	return each(ctx, r, routines, nil, func(scan func(...any) error) error {
		var name string
		if err := scan(&name); err != nil {
			return err
		}
		c.Notes = append(c.Notes, "routine "+name)
		return nil
	})
}
