package plan

import (
	"slices"
	"strings"
)

// A Condition says which rows of a table do not go along.
type Condition struct {
	// Where is a condition in the SQL of the sources, such as level < 10 AND last_login < '2020-01-01'. It is evaluated once, in
	// the source, before anything is decided on rows. Databases of the plan are in braces, as in {auth}.account.
	Where string `json:"where" yaml:"where"`

	// Except is another one: rows of which it is true, or neither true nor false, stay.
	Except string `json:"except,omitempty" yaml:"except,omitempty"`

	Sources []string `json:"sources,omitempty" yaml:"sources,omitempty,flow"` // whose rows; none means all sources that have the table
}

// In reports whether the condition is about rows of a source.
func (c *Condition) In(source string) bool {
	return len(c.Sources) == 0 || slices.Contains(c.Sources, source)
}

// SQL returns the condition with its exception, in parentheses. A line end closes comments.
func (c *Condition) SQL() string {
	text := "(" + c.Where + "\n)"
	if c.Except != "" {
		text += " AND NOT (" + c.Except + "\n)"
	}
	return text
}

// ConditionsOf returns the conditions on rows of a source.
func (t *Table) ConditionsOf(source string) []*Condition {
	return slices.DeleteFunc(slices.Clone(t.WithoutRows), func(c *Condition) bool { return !c.In(source) })
}

// LosesRows reports whether rows of the table may be left out, because of a condition or of what they refer to.
func (t *Table) LosesRows() bool {
	return t.Empty || len(t.WithoutRows) > 0 || slices.ContainsFunc(t.Columns, (*Column).DropsRows)
}

// Chooses reports whether the plan has conditions on rows.
func (p *Plan) Chooses() bool {
	return slices.ContainsFunc(p.Tables, func(t *Table) bool { return !t.Skip && len(t.WithoutRows) > 0 })
}

// DropsRows reports whether a row is not copied if the column refers to a row that does not exist or is left out.
func (c *Column) DropsRows() bool {
	return c.HoldsReferences() && (c.Orphans == OrphansDrop || c.Gone == OrphansDrop)
}

// IfGone says what becomes of the id of a row that is left out.
func (c *Column) IfGone() Orphans {
	if c.Gone != "" {
		return c.Gone
	}
	return c.Orphans
}

// BecomesNull reports whether an id in the column may become NULL, or the first value for no row where the column can't be NULL.
func (c *Column) BecomesNull() bool { return c.Orphans == OrphansNull || c.Gone == OrphansNull }

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
