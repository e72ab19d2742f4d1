package plan

import (
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/merge/internal/sqltype"
)

// RenameColumn returns the column that RuleSuffix changes, or nil.
func (t *Table) RenameColumn(u *Unique, d sqldialect.Dialect) (found *Column) {
	if u.Rename != "" {
		return t.Column(u.Rename)
	}
	for _, name := range u.Columns {
		if c := t.Column(name); c != nil && c.Role == RolePlain && sqltype.Of(d, c.Type).Kind == sqltype.Text {
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

// Competes reports whether a row of a source may have to give way to a row of a source that comes later.
func (u *Unique) Competes() bool { return u.Rule == RuleSuffix && (u.Both || len(u.Winner) > 0) }

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
		inKey := slices.Contains(t.RowKey(), of) || slices.ContainsFunc(t.Unique, func(other *Unique) bool { return slices.Contains(other.Columns, of) })
		kind := sqltype.Of(c.dialect, column.Type).Kind
		fault(column.Role != RolePlain || column.Generated != "" || inKey || kind != sqltype.Integer && kind != sqltype.Text,
			"set: %q: want a plain integer or text that is in no unique key", of)
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
		Template: u.Template, Pattern: u.Pattern, Winner: u.Winner, Both: u.Both, Set: u.Set,
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
}
