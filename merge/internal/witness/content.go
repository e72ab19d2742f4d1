package witness

import (
	"slices"
	"strings"

	"github.com/shardsnow/snow/merge/internal/catalog"
	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// content returns the columns that identify the rows of a table, in all databases: plain ones that are copied as they are and
// have one type everywhere. Where rows may be merged into others, it is what those have in common: the unique key.
func (w *Witness) content(t *plan.Table) (columns []*plan.Column) {
	var merging []*plan.Unique
	for _, u := range t.Unique {
		if u.Rule == plan.RuleKeep || u.Rule == plan.RuleMatch {
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
	for _, db := range append([]*catalog.Catalog{w.Target.Catalog}, w.catalogsOf(t)...) {
		found := db.TableLike(t.Name)
		if found == nil || found.ColumnLike(c.Name) == nil {
			return false
		}
		types = append(types, strings.ToLower(found.ColumnLike(c.Name).Type))
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

func (w *Witness) catalogsOf(t *plan.Table) (all []*catalog.Catalog) {
	for _, s := range w.Sources {
		if t.In(s.Name) {
			all = append(all, s.Catalog)
		}
	}
	return all
}

// text returns the expression of the content of the rows of an alias: a hash where the database has one. It is never NULL, and
// empty for no columns.
func (w *Witness) text(alias string, columns []*plan.Column) string {
	if len(columns) == 0 {
		return "''"
	}
	switch raw := w.raw(alias, columns); w.Dialect { // MD5 is not there on new MySQL, nor where servers follow FIPS
	case sqlsnow.Postgres:
		return "encode(sha256(convert_to(" + raw + ", 'UTF8')), 'hex')"
	case sqlsnow.MySQL:
		return "SHA2(" + raw + ", 256)"
	default:
		return raw
	}
}

// raw is the content without a hash.
func (w *Witness) raw(alias string, columns []*plan.Column) string {
	parts := make([]string, len(columns))
	for i, c := range columns {
		value := alias + "." + w.Dialect.Quote(c.Name)
		switch w.Dialect {
		case sqlsnow.Postgres:
			parts[i] = "coalesce('=' || " + value + "::text, '')"
		case sqlsnow.SQLite:
			parts[i] = "quote(" + value + ")"
		default:
			switch s := sqltype.Of(w.Dialect, c.Type); {
			case s.Kind == sqltype.Bytes:
				value = "SHA2(" + value + ", 256)"
			case s.Kind == sqltype.Text && (s.Length == 0 || s.Length > 1000): // a text that is too long for a packet is NULL
				value = "SHA2(CONVERT(" + value + " USING utf8mb4), 256)"
			case s.Kind == sqltype.Text:
				value = "CONVERT(" + value + " USING utf8mb4)"
			default:
				value = "CAST(" + value + " AS CHAR)"
			}
			parts[i] = "IFNULL(CONCAT('=', " + value + "), '')"
		}
	}
	if w.Dialect == sqlsnow.MySQL {
		return "CONCAT_WS('|', " + strings.Join(parts, ", ") + ")"
	}
	return strings.Join(parts, " || '|' || ") // functions of PostgreSQL take at most 100 arguments
}

// identifies reports whether the target itself sees to it that no two rows of a table have the same content.
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
