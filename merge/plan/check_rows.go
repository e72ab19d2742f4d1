package plan

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/merge/internal/sqltype"
)

func (c *checker) created(t *Table) {
	if t.Zone != "" {
		if _, err := time.LoadLocation(t.Zone); err != nil {
			c.fault(t.Name, "", "zone %q: %v", t.Zone, err)
		}
	}
	if t.Created == "" {
		return
	}
	column := t.Column(t.Created)
	if column == nil {
		c.fault(t.Name, "", "created names %q, which is no column", t.Created)
		return
	}
	if s := sqltype.Of(c.dialect, column.Type); c.dialect != sqldialect.SQLite && s.Kind != sqltype.Time && s.Kind != sqltype.Integer {
		c.fault(t.Name, column.Name, "dates ids, but type %q is neither a time nor an integer", column.Type)
	}
	for _, source := range t.NewIDs {
		c.faultIf(!column.In(source), t.Name, column.Name, "dates ids, but source %q does not have it", source)
	}
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
