package audit

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/shardsnow/snow/internal/idcolumn"
	"github.com/shardsnow/snow/sqlsnow"
)

// A change is what a remedy does to a column.
type change struct {
	table  *table
	column idcolumn.Column
	counts bool     // the database goes on making up its numbers
	widens bool     // it gets 64 bits
	ends   *counter // it is near its end

	namesakes []member // that refer to it by their names, and get 64 bits, too
}

// stops reports whether the database is to make up no more numbers.
func (c change) stops() bool { return c.column.Auto != "" && !c.counts }

// isNarrow reports whether a column needs another type for ids.
func isNarrow(c idcolumn.Column) bool {
	problem, _ := c.Refuse(idcolumn.Number)
	return problem != ""
}

// remedy returns what to do in words, and as statements. If something is in the way, the words say what, and there are
// no statements.
func (a *audit) remedy(ctx context.Context, c change) (text string, statements []string, err error) {
	c.widens = c.widens || isNarrow(c.column)
	full := c.ends != nil && !c.widens && !c.ends.own
	switch {
	case c.stops():
		text = "let programs make its ids; then turn the counter off"
		if c.widens {
			text = "let programs make its ids; then turn the counter off, and widen the column"
		}
	case full:
		from, name := a.from(c.table), a.dialect.Quote(c.column.Name)
		return "nobody counts that far: find the rows whose numbers are too large, and give them others",
			[]string{fmt.Sprintf("SELECT %s FROM %s ORDER BY %[1]s DESC LIMIT 10", name, from)}, nil
	case c.ends != nil && !c.widens:
		text = "let it go on to the end of its type"
	default:
		text = "change its type to " + c.column.Wide()
	}
	var obstacle string
	switch a.dialect {
	case sqlsnow.MySQL:
		statements, obstacle, err = a.mysqlStatements(ctx, c)
	case sqlsnow.Postgres:
		statements, obstacle, err = a.postgresStatements(ctx, c)
	case sqlsnow.SQLite:
		statements, obstacle, err = a.sqliteStatements(ctx, c)
	}
	if err != nil && ctx.Err() == nil {
		obstacle, err = err.Error(), nil
	}
	if obstacle != "" {
		return text + "; there are no statements for that: " + obstacle, nil, err
	}
	if c.widens && len(statements) > 1 {
		text += ", with the columns that refer to it"
	}
	return text, statements, err
}

// A member is a column that changes together with others, because foreign keys join them.
type member struct {
	table  *table
	column idcolumn.Column
}

// A foreignKey is a constraint of a table.
type foreignKey struct {
	table *table
	name  string
}

func (m member) String() string { return m.table.label + "." + m.column.Name }

// family returns the column, all columns that foreign keys join with it, and these keys. outside says which key
// leads out of the database.
func (a *audit) family(c change) (members []member, keys []foreignKey, outside string) {
	members = append([]member{{c.table, c.column}}, c.namesakes...)
	join := func(child *table, r reference, other *table, column string) {
		if child == nil || other == nil {
			outside = "the foreign key " + r.name + " leads to another database"
			return
		}
		if k := (foreignKey{child, r.name}); !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
		c, ok := other.column(column)
		if ok && !slices.ContainsFunc(members, func(m member) bool { return m.table == other && m.column.Name == c.Name }) {
			members = append(members, member{other, c})
		}
	}
	for i := 0; i < len(members); i++ {
		m := members[i]
		for _, r := range m.table.references {
			if strings.EqualFold(r.column, m.column.Name) {
				join(m.table, r, a.named[a.nameOf(r.schema, r.table)], r.to)
			}
		}
		for _, r := range m.table.referrers {
			if strings.EqualFold(r.to, m.column.Name) {
				join(r.from, r.reference, r.from, r.column)
			}
		}
	}
	return members, keys, outside
}

// unbound returns the statement that lets a sequence go on to the end of its type.
func (c *counter) unbound(d sqlsnow.Dialect) string {
	switch {
	case d == sqlsnow.Postgres && c.down:
		return "ALTER SEQUENCE " + c.sequence + " AS bigint NO MINVALUE"
	case d == sqlsnow.Postgres:
		return "ALTER SEQUENCE " + c.sequence + " AS bigint NO MAXVALUE"
	case c.down:
		return "ALTER SEQUENCE " + c.sequence + " MINVALUE -9223372036854775807"
	}
	return "ALTER SEQUENCE " + c.sequence + " MAXVALUE 9223372036854775806"
}

// postgresStatements changes types in each table, for PostgreSQL lets the types of a foreign key differ.
func (a *audit) postgresStatements(ctx context.Context, c change) (statements []string, obstacle string, err error) {
	alter := func(t *table, column, what string) {
		statements = append(statements, "ALTER TABLE "+a.from(t)+" ALTER COLUMN "+a.dialect.Quote(column)+" "+what)
	}
	if c.stops() {
		what := "DROP DEFAULT"
		if c.column.Auto == "an identity column" {
			what = "DROP IDENTITY"
		}
		alter(c.table, c.column.Name, what)
	}
	if c.widens {
		members, _, _ := a.family(c)
		for _, m := range members {
			if !isNarrow(m.column) {
				continue
			}
			if obstacle, err = a.usedBy(ctx, m); err != nil || obstacle != "" {
				return nil, obstacle, err
			}
			name, what := a.dialect.Quote(m.column.Name), "TYPE bigint"
			if m.column.Kind != idcolumn.Integer {
				what += " USING " + name + "::bigint"
				if value := m.table.defaults[m.column.Name]; value != "" { // its type is not changed along
					what = "DROP DEFAULT, ALTER COLUMN " + name + " " + what + ", ALTER COLUMN " + name + " SET DEFAULT CAST(" + value + " AS bigint)"
				}
			}
			alter(m.table, m.column.Name, what)
		}
	}
	if counter := c.table.counters[c.column.Name]; c.ends != nil && !c.stops() && counter != nil && counter.sequence != "" {
		statements = append(statements, counter.unbound(a.dialect))
	}
	return statements, "", nil
}

// usedBy returns what keeps PostgreSQL from changing the type of a column.
func (a *audit) usedBy(ctx context.Context, m member) (what string, err error) {
	err = a.db.QueryRowContext(ctx, `WITH col AS (
			SELECT a.attrelid, a.attnum FROM pg_attribute a WHERE a.attrelid = to_regclass($1) AND a.attname = $2
		), dep AS (
			SELECT d.classid, d.objid FROM pg_depend d, col WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = col.attrelid AND d.refobjsubid = col.attnum
		)
		SELECT 'the view ' || v.relname || ' uses the column' FROM dep JOIN pg_rewrite r ON dep.classid = 'pg_rewrite'::regclass AND r.oid = dep.objid
			JOIN pg_class v ON v.oid = r.ev_class
		UNION ALL SELECT 'the generated column ' || g.attname || ' uses it' FROM dep JOIN pg_attrdef f ON dep.classid = 'pg_attrdef'::regclass AND f.oid = dep.objid
			JOIN pg_attribute g ON g.attrelid = f.adrelid AND g.attnum = f.adnum AND g.attgenerated <> ''
		UNION ALL SELECT 'the table is partitioned by ' || $2 FROM col JOIN pg_partitioned_table p ON p.partrelid = col.attrelid
			WHERE col.attnum = ANY (p.partattrs::int2[])
		LIMIT 1`, a.from(m.table), m.column.Name).Scan(&what)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	if what != "" {
		what = m.table.label + "." + m.column.Name + ": " + what
	}
	return what, err
}
