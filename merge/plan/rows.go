package plan

import (
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/merge/internal/sqltype"
)

// What becomes of rows: some are left out, some are renamed, and some leave values to the row that they are merged
// into.

// A Condition says which rows of a table do not go along.
type Condition struct {
	// Where is a condition in the SQL of the sources, such as level < 10 AND last_login < '2020-01-01'. It is
	// evaluated once, in the source, before anything is decided on rows. Databases of the plan are in braces, as in
	// {auth}.account.
	Where string `json:"where" yaml:"where"`

	// Except is another one: rows for which it is true, or neither true nor false, stay.
	Except string `json:"except,omitempty" yaml:"except,omitempty"`

	// whose rows; none means all sources that have the table
	Sources []string `json:"sources,omitempty" yaml:"sources,omitempty,flow"`
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

// losing complains of conditions that can't be meant, and of foreign keys to rows that they leave out.
func (c *checker) losing(t *Table) {
	for _, condition := range t.WithoutRows {
		c.faultIf(strings.TrimSpace(condition.Where) == "", t.Name, "", "without_rows: a condition has no where; empty: true leaves out all rows")
		c.sources(t, "", "without_rows: sources", condition.Sources)
	}
	c.faultIf(t.Empty && len(t.WithoutRows) > 0, t.Name, "", "it is left empty, and has conditions on rows")
	for _, k := range t.ForeignKeys {
		parent := c.plan.Table(k.Table)
		if parent == nil || parent.Skip || t.Empty || slices.ContainsFunc(k.Refers, func(name string) bool { return parent.IDsOf(name) == parent.Name }) {
			continue
		}
		// A row that is left out for a column which the foreign key has too leaves out or clears what refers to it.
		other := func(column *Column) bool { return column.DropsRows() && !slices.Contains(k.Refers, column.Name) }
		if parent.Empty || len(parent.WithoutRows) > 0 || slices.ContainsFunc(parent.Columns, other) {
			c.fault(t.Name, "", "foreign key %q refers to table %q by something else than its key: which of the rows follow those that are left out can't be said", k.Columns, k.Table)
		}
	}
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

// anotherEachTime finds functions whose value depends on the time or on chance.
var anotherEachTime = regexp.MustCompile(`(?i)\b(rand|random|randomblob|uuid\w*|gen_random_uuid|now|sysdate|curdate|curtime|current_date|current_time|current_timestamp|` +
	`localtime\w*|utc_date|utc_time\w*|clock_timestamp|statement_timestamp|transaction_timestamp|timeofday|nextval)\b`)

var placeInTemplate = regexp.MustCompile(`\{[^{}]*\}`)

// renaming complains of how rows are to be renamed.
func (c *checker) renaming(t *Table, u *Unique, name string) {
	fault := func(is bool, format string, args ...any) { c.faultIf(is, t.Name, "", name+": "+format, args...) }
	fault(u.Template != "" && u.Suffix != "", "template and suffix are two ways to say the same")
	for _, place := range placeInTemplate.FindAllString(u.Template, -1) {
		fault(!slices.Contains([]string{"{name}", "{source}", "{n}"}, place), "template: %s: want {name}, {source} or {n}", place)
	}
	fault(u.Template != "" && strings.Count(u.Template, "{name}") != 1, "template %q: want {name} once", u.Template)
	_, err := u.NamePattern()
	fault(err != nil, "pattern: %v", err)
	fault(u.Both && len(u.Winner) > 0, "winner and both contradict each other")
	expression := func(field, text string) {
		fault(strings.TrimSpace(text) == "", "%s: an expression is empty", field)
		// A run that is continued has to come to the same answer.
		call := anotherEachTime.FindString(text)
		fault(call != "", "%s: %q gives another value each time: write a constant", field, call)
	}
	for _, text := range u.Winner {
		expression("winner", text)
	}
	for _, of := range slices.Sorted(maps.Keys(u.Set)) {
		expression("set", u.Set[of])
		column := t.Column(of)
		if column == nil {
			fault(true, "set names %q, which is no column", of)
			continue
		}
		inKey := t.declares(column) || slices.Contains(t.RowKey(), of) || slices.ContainsFunc(t.Unique, func(other *Unique) bool { return slices.Contains(other.Columns, of) })
		kind := sqltype.Of(c.dialect, column.Type).Kind
		fault(column.Role != RolePlain || column.Generated != "" || inKey || kind != sqltype.Integer && kind != sqltype.Text,
			"set: %q: want a plain integer or text that is in no unique key and no foreign key", of)
		fault(len(column.Sources) > 0, "set: %q: some sources do not have it", of)
		twice := slices.ContainsFunc(t.Unique, func(other *Unique) bool { return other != u && other.Set[of] != "" })
		fault(twice, "set: %q is set by another unique key too", of)
	}
}

// sameClash reports whether two unique keys have the same rule in every respect.
func sameClash(a, b *Unique) bool {
	return reflect.DeepEqual(a.clash(), b.clash())
}

// clash returns what an entry of unique says of the key.
func (u *Unique) clash() *Clash {
	c := &Clash{
		Rule: u.Rule, Rename: u.Rename, Suffix: u.Suffix, Prefer: u.Prefer, Proposed: !u.Decided,
		Template: u.Template, Pattern: u.Pattern, Winner: u.Winner, Both: u.Both, Set: u.Set, Least: u.Least, Most: u.Most,
	}
	if len(c.Prefer) == 0 {
		c.Prefer = nil
	}
	if len(c.Winner) == 0 {
		c.Winner = nil
	}
	if len(c.Set) == 0 {
		c.Set = nil
	}
	return c
}

// set is the inverse of clash.
func (c *Clash) set(u *Unique) {
	u.Rule, u.Rename, u.Suffix, u.Prefer, u.Decided = c.Rule, c.Rename, c.Suffix, c.Prefer, !c.Proposed
	u.Template, u.Pattern, u.Winner, u.Both, u.Set = c.Template, c.Pattern, c.Winner, c.Both, c.Set
	u.Least, u.Most = c.Least, c.Most
}

// keepRules gives the unique keys without a rule in tables the rules that they had, or fail if they are new.
func (t *Table) keepRules(was []*Unique) {
	for _, u := range t.Unique {
		if u == nil || u.Rule != "" {
			continue
		}
		at := slices.IndexFunc(was, func(o *Unique) bool { return slices.Equal(o.Columns, u.Columns) })
		if at < 0 {
			u.Rule = RuleFail
			continue
		}
		was[at].clash().set(u)
		u.Suspects = was[at].Suspects
	}
}

// Combine says what value a row gets in a column when rows of other sources are merged into it. NULL counts as no
// value.
type Combine string

// The ways to combine values.
const (
	CombineKeep  Combine = ""      // its own, even if that is NULL
	CombineSum   Combine = "sum"   // the sum of all; it is an error if that does not fit
	CombineMax   Combine = "max"   // the greatest: numbers are compared as numbers, all else as texts
	CombineMin   Combine = "min"   // the least
	CombineFirst Combine = "first" // the first that is not NULL, by the precedence of sources
	CombineLast  Combine = "last"  // the last that is not NULL
)

// IsExpression reports whether it is none of the above, but an SQL expression of {a}, the value of the row, and
// {b}, the value of the row that is merged into it, such as LEAST({a} + {b}, 1000). It is evaluated in the source
// of the row, and NULL is NULL. Where several rows are merged, {a} is then what came of those before.
func (c Combine) IsExpression() bool {
	return strings.Contains(string(c), "{a}") && strings.Contains(string(c), "{b}")
}

// combining complains of a column whose values can't be combined.
func (c *columnChecker) combining() {
	t, column := c.table, c.column
	if column.Combine == CombineKeep {
		return
	}
	c.faultIf(!column.Combine.IsExpression() && !slices.Contains([]Combine{CombineSum, CombineMax, CombineMin, CombineFirst, CombineLast}, column.Combine),
		"combine %q: want sum, max, min, first, last, an expression of {a} and {b}, or nothing", column.Combine)
	call := anotherEachTime.FindString(string(column.Combine))
	c.faultIf(call != "", "combine: %q gives another value each time: write a constant", call)
	merging := slices.DeleteFunc(slices.Clone(t.Unique), func(u *Unique) bool { return !u.merges() })
	c.faultIf(len(merging) == 0, "combine: no unique key of the table has rule keep or match")
	c.faultIf(t.Key() == nil && len(merging) > 0 && (len(merging) > 1 || len(t.PrimaryKey) == 0 || !slices.Equal(merging[0].Columns, t.PrimaryKey)),
		"combine: in a table without a key of its own, its primary key, and no other unique key, must have rule keep or match")
	inKey := t.declares(column) || slices.Contains(t.RowKey(), column.Name) || slices.ContainsFunc(t.Unique, func(u *Unique) bool { return slices.Contains(u.Columns, column.Name) })
	c.faultIf(column.Role != RolePlain || column.Generated != "" || inKey, "combine: want a plain column that is in no unique key and no foreign key")
	c.faultIf(len(column.Sources) > 0, "combine: some sources do not have it")
	s := sqltype.Of(c.dialect, column.Type)
	number := s.Kind == sqltype.Integer || slices.Contains([]string{"decimal", "numeric", "dec", "float", "double", "real"}, sqltype.Word(column.Type))
	c.faultIf(column.Combine == CombineSum && c.dialect != sqldialect.SQLite && !number, "combine is sum, but type %q is no number", column.Type)
	ordered := number || s.Kind == sqltype.Text || s.Kind == sqltype.Time || slices.Contains([]string{"boolean", "year"}, sqltype.Word(column.Type))
	c.faultIf((column.Combine == CombineMax || column.Combine == CombineMin) && c.dialect != sqldialect.SQLite && !ordered,
		"combine is %s, but values of type %q have another order than as numbers or texts: take an expression", column.Combine, column.Type)
	binary := s.Kind == sqltype.Bytes || c.dialect == sqldialect.MySQL && sqltype.IsBinary(column.Type)
	c.faultIf(binary || s.Kind == sqltype.JSON, "combine: type %q can't be combined", column.Type)
}

// NumberBounds returns the lowest and the highest number that RuleRenumber gives in a column.
func (u *Unique) NumberBounds(d sqldialect.Dialect, c *Column) (least, most int64) {
	if u.Most != 0 {
		return u.Least, u.Most
	}
	return u.Least, sqltype.Of(d, c.Type).Highest()
}

// renumbering complains of a key whose rows can't be numbered anew. A run decides on a part of the rows at a
// time: which rows have a number must be known before all of them are decided on.
func (c *checker) renumbering(t *Table, u *Unique, name string) {
	fault := func(is bool, column, format string, args ...any) {
		c.faultIf(is, t.Name, column, name+": "+format, args...)
	}
	fault(u.renames() || u.Suffix != "", "", "suffix, template, pattern, winner, both and set are for rule suffix")
	fault(len(t.RowKey()) == 0, "", "rule renumber: nothing tells the rows of a table without a primary key apart: name columns that are unique as primary_key")
	fault(t.Merges(c.plan.Sources), "", "rule renumber: rows of the table may be merged by another unique key, and then need no number: choose one of both")
	column := t.RenameColumn(u, c.dialect)
	switch {
	case column == nil:
		fault(true, "", "rename: want one of its columns that is an integer")
		return
	case column.Role != RolePlain || column.Generated != "" || !slices.Contains(u.Columns, column.Name) || sqltype.Of(c.dialect, column.Type).Kind != sqltype.Integer:
		fault(true, column.Name, "can't be numbered anew: it is no plain integer of the key")
		return
	}
	fault(len(u.Columns) == 1, column.Name, "rule renumber: want other columns in the key, such as that of an account, whose rows are numbered")
	least, most := u.NumberBounds(c.dialect, column)
	fault(least > most, column.Name, "least %d is above most %d", least, most)
	fault(most > sqltype.Of(c.dialect, column.Type).Highest(), column.Name, "most %d does not fit in %s", most, column.Type)
	fault(len(column.Sources) > 0, column.Name, "rule renumber: some sources do not have it")
	others := slices.ContainsFunc(t.Unique, func(other *Unique) bool { return other != u && slices.Contains(other.Columns, column.Name) })
	others = others || slices.Contains(t.PrimaryKey, column.Name) && !slices.Equal(t.PrimaryKey, u.Columns)
	fault(others, column.Name, "can't be numbered anew: it is in another unique key too")
	if tied := c.plan.Tied(t, column.Name); len(tied) > 0 {
		fault(true, column.Name, "can't be numbered anew: foreign keys tie %s to it, whose values would not follow", several(tied))
	}
	for _, of := range u.Columns {
		other := t.Column(of)
		if other == nil || other == column {
			continue
		}
		integer := sqltype.Of(c.dialect, other.Type).Kind == sqltype.Integer
		fault(other.Role != RoleReference && (other.Role != RolePlain || !integer), of, "rule renumber: want references and plain integers beside %q", column.Name)
		if parent := c.plan.Table(t.IDsOf(of)); other.Role == RoleReference && parent != nil {
			fault(!parent.Merges(c.plan.Sources), of, "rule renumber: rows of table %q do not become one with others, so that their numbers can't clash", parent.Name)
		}
		fault(other.BecomesNull(), of, "rule renumber: an id may become NULL, and its row then needs no number: choose drop or an error for orphans and gone")
	}
	for _, other := range t.Columns {
		fault(other.DropsRows() && !slices.Contains(u.Columns, other.Name), other.Name, "rule renumber: it leaves rows out, which then need no number: only columns of the key may do that")
	}
}
