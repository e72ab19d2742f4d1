package plan

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/merge/internal/packed"
	"github.com/shardsnow/snow/merge/internal/sqltype"
)

// Table returns the table of a name, or nil.
func (p *Plan) Table(name string) *Table {
	return first(p.Tables, func(t *Table) bool { return t.Name == name })
}

// Column returns the column of a name, or nil.
func (t *Table) Column(name string) *Column {
	return first(t.Columns, func(c *Column) bool { return c.Name == name })
}

// Key returns the column of Role key, or nil.
func (t *Table) Key() *Column {
	return first(t.Columns, func(c *Column) bool { return c.Role == RoleKey })
}

// RowKey returns the columns that a merge tells the rows of the table apart by: the one of Role key, or else the
// primary key. None means that only all their values together tell rows apart, and that some may be equal.
func (t *Table) RowKey() []string {
	if key := t.Key(); key != nil {
		return []string{key.Name}
	}
	return t.PrimaryKey
}

// RowID returns a name for the rowid that rows of a table of SQLite have, and false if columns hide it.
func (t *Table) RowID() (string, bool) {
	for _, name := range []string{"rowid", "_rowid_", "oid"} {
		if !slices.ContainsFunc(t.Columns, func(c *Column) bool { return strings.EqualFold(c.Name, name) }) &&
			!slices.ContainsFunc(t.Without, func(column string) bool { return strings.EqualFold(column, name) }) {
			return name, true
		}
	}
	return "", false
}

// In reports whether a source has the table.
func (t *Table) In(source string) bool {
	return len(t.Sources) == 0 || slices.Contains(t.Sources, source)
}

// In reports whether a source that has the table has the column.
func (c *Column) In(source string) bool {
	return len(c.Sources) == 0 || slices.Contains(c.Sources, source)
}

// Rekeys reports whether rows of a source get new ids.
func (t *Table) Rekeys(source string) bool { return slices.Contains(t.NewIDs, source) }

// IDsOf returns the name of the table whose ids a key or reference holds, or "".
func (t *Table) IDsOf(column string) string {
	c := t.Column(column)
	switch {
	case c == nil:
	case c.Role == RoleKey:
		return t.Name
	case c.Role == RoleReference && len(c.Refers) == 1:
		return c.Refers[0].Table
	}
	return ""
}

// Merges reports whether rows of the table that come from some sources may be merged into others, by RuleKeep or
// RuleMatch.
func (t *Table) Merges(sources []string) bool {
	return slices.ContainsFunc(t.Unique, func(u *Unique) bool { return t.MergesBy(u, sources) })
}

// MergesBy reports whether a unique key may merge rows of the table that come from some sources into others. One with
// the id merges no rows that get new ids, which nobody else has.
func (t *Table) MergesBy(u *Unique, sources []string) bool {
	key := t.Key()
	return u.merges() && slices.ContainsFunc(sources, func(s string) bool {
		return t.In(s) && (key == nil || !t.Rekeys(s) || !slices.Contains(u.Columns, key.Name))
	})
}

func (u *Unique) merges() bool { return u.Rule == RuleKeep || u.Rule == RuleMatch }

// SourcesOf returns the sources that have the table, in the plan's order.
func (p *Plan) SourcesOf(t *Table) []string {
	return slices.DeleteFunc(slices.Clone(p.Sources), func(s string) bool { return !t.In(s) })
}

// HoldsReferences reports whether the column holds ids of rows.
func (c *Column) HoldsReferences() bool {
	return c.Role == RoleReference || c.Role == RoleJSON || c.Role == RoleList || c.Role == RolePolymorphic || c.Role == RolePacked
}

// In reports whether the condition is about rows of a source.
func (c *Condition) In(source string) bool {
	return len(c.Sources) == 0 || slices.Contains(c.Sources, source)
}

// LosesRows reports whether rows of the table may be left out, because of a condition or of what they refer to.
func (t *Table) LosesRows() bool {
	return t.Empty || len(t.WithoutRows) > 0 || slices.ContainsFunc(t.Columns, (*Column).DropsRows)
}

// DropsRows reports whether a row is not copied if the column refers to a row that does not exist or is left out.
func (c *Column) DropsRows() bool {
	return c.HoldsReferences() && (c.Orphans == OrphansDrop || c.Gone == OrphansDrop)
}

// BecomesNull reports whether an id in the column may become NULL, or the first value for no row where the column
// can't be NULL.
func (c *Column) BecomesNull() bool { return c.Orphans == OrphansNull || c.Gone == OrphansNull }

// NoneID returns the first of the values for no row that is written as an id, or nothing: what a packed value gets
// in the place of an id that becomes NULL.
func (c *Column) NoneID() string {
	for _, text := range c.None {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil && strconv.FormatInt(n, 10) == text {
			return text
		}
	}
	return ""
}

// RenameColumn returns the column that RuleSuffix or RuleRenumber changes, or nil.
func (t *Table) RenameColumn(u *Unique, d sqldialect.Dialect) (found *Column) {
	if u.Rename != "" {
		return t.Column(u.Rename)
	}
	kind := sqltype.Text
	if u.Rule == RuleRenumber {
		kind = sqltype.Integer
	}
	for _, name := range u.Columns {
		if c := t.Column(name); c != nil && c.Role == RolePlain && sqltype.Of(d, c.Type).Kind == kind {
			if found != nil {
				return nil
			}
			found = c
		}
	}
	return found
}

// SetByRenames reports whether a row gets another value in the column when it is renamed, by Set of a unique key.
func (t *Table) SetByRenames(column *Column) bool {
	return slices.ContainsFunc(t.Unique, func(u *Unique) bool { return u.Rule == RuleSuffix && u.Set[column.Name] != "" })
}

// NamePattern returns what all of a new name must match, or nil if it may be anything.
func (u *Unique) NamePattern() (*regexp.Regexp, error) {
	if u.Pattern == "" {
		return nil, nil
	}
	return regexp.Compile(`^(?:` + u.Pattern + `)$`)
}

// renames reports whether the key has a field that is for RuleSuffix.
func (u *Unique) renames() bool {
	return u.Template != "" || u.Pattern != "" || len(u.Winner) > 0 || u.Both || len(u.Set) > 0
}

// NumberBounds returns the lowest and the highest number that RuleRenumber gives in a column.
func (u *Unique) NumberBounds(d sqldialect.Dialect, c *Column) (least, most int64) {
	if u.Most != 0 {
		return u.Least, u.Most
	}
	return u.Least, sqltype.Of(d, c.Type).Highest()
}

// IsExpression reports whether it is none of the above, but an SQL expression of {a}, the value of the row, and
// {b}, the value of the row that is merged into it, such as LEAST({a} + {b}, 1000). It is evaluated in the source
// of the row, and NULL is NULL. Where several rows are merged, {a} is then what came of those before.
func (c Combine) IsExpression() bool {
	return strings.Contains(string(c), "{a}") && strings.Contains(string(c), "{b}")
}

// AreNumbers reports whether the ids are IDsOffset or IDsDense.
func (i IDs) AreNumbers() bool { return i == IDsOffset || i == IDsDense }

// Question returns the question about a column, as "table.column", or nil.
func (p *Plan) Question(column string) *Question {
	return first(p.Questions, func(q *Question) bool { return slices.Contains(q.Columns, column) })
}

// isDecided reports whether each column of a question is decided by itself, or left out.
func isDecided(p *Plan, q *Question) bool {
	for _, t := range p.Tables {
		for _, c := range t.Columns {
			if !t.Skip && !c.Decided && slices.Contains(q.Columns, t.Name+"."+c.Name) {
				return false
			}
		}
	}
	return true
}

// Best returns the most certain candidate, or nil if none is more likely than all others together: then nothing is
// proposed, and people have to choose.
func (q *Question) Best() *Candidate {
	if len(q.Candidates) == 0 {
		return nil
	}
	best := slices.MaxFunc(q.Candidates, func(a, b *Candidate) int { return cmp.Compare(a.Certainty, b.Certainty) })
	if best.Certainty < 0.5 {
		return nil
	}
	return best
}

// String returns what is asked.
func (q *Question) String() string {
	best := q.Best()
	if q.Text != "" || best == nil {
		return q.Text
	}
	count, names := map[string]int{}, []string(nil)
	for _, raw := range q.Columns {
		name := raw[strings.LastIndexByte(raw, '.')+1:]
		if count[name]++; count[name] == 1 {
			names = append(names, name)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(count[b], count[a]) })
	columns := "columns"
	if len(q.Columns) == 1 {
		columns = "column"
	}
	return fmt.Sprintf("%s in %d %s: ids of %s?", several(names), len(q.Columns), columns, best.Answer)
}

// says reports whether the column is what an answer says.
func (c *Column) says(answer string) bool {
	switch answer {
	case AnswerEach:
		return true
	case AnswerPlain, AnswerKey:
		return c.Role == Role(answer)
	}
	return slices.ContainsFunc(c.Refers, func(r *Reference) bool { return r.Table == answer })
}

// Tied returns the columns, as "table.column", whose values foreign keys tie to a column's, in either
// direction, but for tables that are skipped.
func (p *Plan) Tied(t *Table, column string) (names []string) {
	for _, child := range p.Tables {
		for _, k := range child.ForeignKeys {
			parent := p.Table(k.Table)
			if child.Skip || parent == nil || parent.Skip || len(k.Columns) != len(k.Refers) {
				continue
			}
			for i, refers := range k.Refers {
				switch {
				case parent == t && refers == column:
					names = append(names, child.Name+"."+k.Columns[i])
				case child == t && k.Columns[i] == column:
					names = append(names, parent.Name+"."+refers)
				}
			}
		}
	}
	return names
}

// Split returns the database of a table and its name there. The database is "" unless the plan is one of several: then
// names begin with it, and the rest may have dots too.
func (p *Plan) Split(table string) (database, name string) {
	if before, after, ok := strings.Cut(table, "."); ok && slices.Contains(p.Databases, before) {
		return before, after
	}
	return "", table
}

// several lists the first of some names, and how many more there are.
func several(names []string) string {
	if len(names) > 4 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:3], ", "), len(names)-3)
	}
	return strings.Join(names, ", ")
}

func first[T any](all []*T, is func(*T) bool) *T {
	if at := slices.IndexFunc(all, is); at >= 0 {
		return all[at]
	}
	return nil
}

// clone copies what Complete changes.
func clone(p *Plan) *Plan {
	copied := *p
	copied.Tables, copied.Questions = slices.Clone(p.Tables), slices.Clone(p.Questions)
	for i, t := range p.Tables {
		table := *t
		table.Columns, table.Unique = slices.Clone(t.Columns), slices.Clone(t.Unique)
		for n, c := range t.Columns {
			column := *c
			table.Columns[n] = &column
		}
		for n, u := range t.Unique {
			unique := *u
			table.Unique[n] = &unique
		}
		copied.Tables[i] = &table
	}
	return &copied
}

// Kind returns what the values of a polymorphic column are where the column By has a value, as a column of its own
// with the references of that kind, and their numbers among all. It is nil if no kind has the value. A reference
// without a table means that values are no ids.
func (c *Column) Kind(value string) (kind *Column, numbers []int) {
	for _, value := range []string{value, AnyKind} {
		for i, r := range c.Refers {
			if r.Value != value {
				continue
			}
			if kind == nil {
				kind = c.kind(r)
			}
			kind.Refers, numbers = append(kind.Refers, r), append(numbers, i)
		}
		if kind != nil {
			break
		}
	}
	return kind, numbers
}

// kind returns the column with the role and the format of a reference, and without references.
func (c *Column) kind(r *Reference) *Column {
	kind := *c
	kind.Refers, kind.By, kind.Role = nil, "", RoleReference
	word, rest, _ := strings.Cut(r.Format, " ")
	switch word {
	case "":
	case formatList:
		kind.Role, kind.Separator = RoleList, rest
	case formatJSON:
		kind.Role = RoleJSON
	case string(packed.Fields):
		kind.Role, kind.Format, kind.Separator = RolePacked, word, rest
	default:
		kind.Role, kind.Format = RolePacked, r.Format
	}
	return &kind
}

// refersTo reports whether ids in the column are of a table.
func (c *Column) refersTo(table string) bool {
	return c.HoldsReferences() && slices.ContainsFunc(c.Refers, func(r *Reference) bool { return r.Table == table })
}
