package witness

import (
	"slices"
	"strings"

	"github.com/shardsnow/snow/merge/internal/catalog"
	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// content returns the columns that identify the rows of a table, in all databases: plain ones that are copied as
// they are and have one type everywhere. Where rows may be merged into others, it is what those have in common: the
// unique key.
func (w *Witness) content(t *plan.Table) (columns []*plan.Column) {
	var merging []*plan.Unique
	for _, u := range t.Unique {
		if t.MergesBy(u, w.Plan.Sources) {
			merging = append(merging, u)
		}
	}
	for _, c := range t.Columns {
		switch {
		case c.Role != plan.RolePlain || c.Generated != "" || len(c.Sources) > 0 || t.SetByRenames(c) || !w.isAlike(t, c):
		case slices.ContainsFunc(t.Unique, func(u *plan.Unique) bool {
			return (u.Rule == plan.RuleSuffix || u.Rule == plan.RuleRenumber) && slices.Contains(u.Columns, c.Name)
		}):
		case len(merging) > 1 || len(merging) == 1 && !slices.Contains(merging[0].Columns, c.Name):
		default:
			columns = append(columns, c)
		}
	}
	return columns
}

// isAlike reports whether the values of a column have one text in all databases.
func (w *Witness) isAlike(t *plan.Table, c *plan.Column) bool {
	var types []string
	for _, found := range w.columnsLike(t, c) {
		if found == nil {
			return false
		}
		types = append(types, strings.ToLower(found.Type))
	}
	kind := sqltype.Of(w.Dialect, types[0]).Kind
	for _, typ := range types[1:] {
		same := typ == types[0] || w.Dialect != sqlsnow.SQLite && (kind == sqltype.Integer || kind == sqltype.Text) && sqltype.Of(w.Dialect, typ).Kind == kind
		if !same {
			return false
		}
	}
	if w.Dialect != sqlsnow.MySQL {
		return true
	}
	switch word := sqltype.Word(types[0]); kind {
	case sqltype.Integer, sqltype.Text, sqltype.Time, sqltype.Bytes:
		return true
	default:
		return word == "decimal" || word == "enum" || word == "set"
	}
}

// columnsLike returns a column as the databases have it that have the table's rows, nil where one lacks it.
func (w *Witness) columnsLike(t *plan.Table, c *plan.Column) (all []*plan.Column) {
	for _, db := range append([]*Database{w.Target}, w.Sources...) {
		if db != w.Target && !t.In(db.Name) {
			continue
		}
		if found := db.Catalog.TableLike(t.Name); found != nil {
			all = append(all, catalog.ColumnLike(found.Table, c.Name))
		} else {
			all = append(all, nil)
		}
	}
	return all
}

// text returns the expression of the content of the rows of a table: a hash where the database has one. It is never
// NULL, and empty for no columns.
func (w *Witness) text(alias string, t *plan.Table) string {
	raw := w.raw(alias, t)
	switch { // MD5 is not there on new MySQL, nor where servers follow FIPS
	case raw == "":
		return "''"
	case w.Dialect == sqlsnow.Postgres:
		return "encode(sha256(convert_to(" + raw + ", 'UTF8')), 'hex')"
	case w.Dialect == sqlsnow.MySQL:
		return "SHA2(" + raw + ", 256)"
	default:
		return raw
	}
}

// raw is the content without a hash, and empty for no columns.
func (w *Witness) raw(alias string, t *plan.Table) string {
	var parts []string
	for _, c := range w.content(t) {
		value := alias + "." + w.Dialect.Quote(c.Name)
		switch w.Dialect {
		case sqlsnow.Postgres:
			value = "coalesce('=' || " + value + "::text, '')"
		case sqlsnow.SQLite:
			value = "quote(" + value + ")"
		default:
			switch s := sqltype.Of(w.Dialect, c.Type); {
			case s.Kind == sqltype.Bytes:
				value = "SHA2(" + value + ", 256)"
			// a text that is too long for a packet is NULL
			case s.Kind == sqltype.Text && (s.Length == 0 || s.Length > 1000):
				value = "SHA2(CONVERT(" + value + " USING utf8mb4), 256)"
			// those are written as they would be CAST, in a third of the time
			case s.Kind != sqltype.Integer && s.Kind != sqltype.Time:
				value = "CONVERT(" + value + " USING utf8mb4)"
			}
			if slices.ContainsFunc(w.columnsLike(t, c), func(found *plan.Column) bool { return found.Nullable }) {
				value = "IFNULL(CONCAT('=', " + value + "), '')"
			}
		}
		parts = append(parts, value)
	}
	if w.Dialect == sqlsnow.MySQL && len(parts) > 0 {
		return "CONCAT_WS('|', " + strings.Join(parts, ", ") + ", '')" // a text even of one number
	}
	return strings.Join(parts, " || '|' || ") // functions of PostgreSQL take at most 100 arguments
}

// identifies reports whether the target itself ensures that no two rows of a table have the same content.
func (w *Witness) identifies(t *plan.Table, content []*plan.Column) bool {
	found := w.Target.Catalog.TableLike(t.Name)
	if found == nil {
		return false
	}
	within := func(key []string) bool {
		return len(key) > 0 && !slices.ContainsFunc(key, func(name string) bool {
			is := found.Column(name)
			return is == nil || is.Nullable || !slices.ContainsFunc(content, func(c *plan.Column) bool { return strings.EqualFold(c.Name, name) })
		})
	}
	return within(found.PrimaryKey) || slices.ContainsFunc(found.Unique, func(u *plan.Unique) bool { return within(u.Columns) })
}
