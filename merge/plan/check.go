package plan

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/merge/internal/sqltype"
)

// Check returns what is wrong with the plan as a join of [*Error], or nil: suspects and columns that are not
// decided, names that do not exist, roles that do not fit the types or the foreign keys, impossible rules of unique
// keys. It asks no database: a run finds out whether the sources are as the plan says.
func (p *Plan) Check() error {
	c := &checker{plan: p, dialect: dialectOf(p.Dialect)}
	c.faultIf(p.Version != 1, "", "", "version %d: want 1", p.Version)
	c.faultIf(c.dialect == 0, "", "", "dialect %q: want MySQL, PostgreSQL or SQLite", p.Dialect)
	if err := p.CheckSources(); err != nil {
		c.fault("", "", "%v", err)
	}
	if err := p.checkNil(); err != nil {
		c.fault("", "", "%v", err)
		return errors.Join(c.errs...)
	}
	c.questions()
	c.databases()
	for i, text := range p.After {
		c.faultIf(strings.TrimSpace(text) == "", "", "", "after: statement %d is empty", i+1)
	}
	for i, t := range p.Tables {
		switch {
		case t.Name == "":
			c.fault("", "", "a table has no name")
		case p.Table(t.Name) != p.Tables[i]:
			c.fault(t.Name, "", "it is there twice")
		case !t.Skip:
			c.table(t)
			if _, err := p.Precedence(t); err != nil {
				c.errs = append(c.errs, err)
			}
		}
	}
	if _, err := p.MintOrder(); err != nil {
		c.errs = append(c.errs, err)
	}
	return errors.Join(c.errs...)
}

func (c *checker) table(t *Table) {
	c.sources(t, "", "sources", t.Sources)
	c.sources(t, "", "new_ids", t.NewIDs)
	c.numbers(t)
	c.columns(t, "primary_key", t.PrimaryKey)
	if _, ok := t.RowID(); !ok && c.dialect == sqldialect.SQLite && len(t.RowKey()) == 0 {
		c.fault(t.Name, "", "no primary key, and its columns hide the rowid of SQLite: name columns that tell its rows apart, or skip it")
	}
	for _, name := range t.PrimaryKey {
		if column := t.Column(name); column != nil && len(column.Sources) > 0 {
			c.fault(t.Name, name, "is in the primary key, so all the sources of the table must have it")
		}
	}
	c.faultIf(len(t.NewIDs) > 0 && t.Key() == nil, t.Name, "", "new_ids names sources, but no column is a key")
	for i, column := range t.Columns {
		switch {
		case column.Name == "":
			c.fault(t.Name, "", "a column has no name")
		case t.Column(column.Name) != t.Columns[i]:
			c.fault(t.Name, column.Name, "it is there twice")
		default:
			(&columnChecker{c, t, column}).check()
		}
	}
	c.created(t)
	c.losing(t)
	for _, u := range t.Unique {
		c.unique(t, u)
	}
	for _, k := range t.ForeignKeys {
		c.foreignKey(t, k)
	}
	for _, i := range t.Indexes {
		c.faultIf(i.Statement == "" && len(i.Columns) == 0, t.Name, "", "index %q has neither columns nor a statement", i.Name)
	}
}

func (c *checker) unique(t *Table, u *Unique) {
	name := fmt.Sprintf("unique key %q", u.Columns)
	if len(u.Columns) == 0 {
		c.fault(t.Name, "", "a unique key has no columns")
		return
	}
	c.columns(t, name, u.Columns)
	c.undecided(t, u.Columns[0], u.Suspects, u.Decided)
	c.sources(t, "", name+": prefer", u.Prefer)
	switch u.Rule {
	case RuleKeep, RuleMatch:
		if t.LosesRows() && len(t.RowKey()) == 0 {
			column := ""
			if drops := first(t.Columns, (*Column).DropsRows); drops != nil {
				column = drops.Name
			}
			c.fault(t.Name, column, "%s: rule %s: rows are left out, and nothing tells which in a table without a primary key, so rows could be merged into those: name columns that are unique as primary_key, or choose fail or suffix", name, u.Rule)
		}
		fallthrough
	case RuleFail:
		c.faultIf(u.renames(), t.Name, "", "%s: template, pattern, winner, both and set are for rule suffix", name)
		c.faultIf(u.Least != 0 || u.Most != 0, t.Name, "", "%s: least and most are for rule renumber", name)
		return
	case RuleRenumber:
		c.renumbering(t, u, name)
		return
	case RuleSuffix:
		c.faultIf(u.Least != 0 || u.Most != 0, t.Name, "", "%s: least and most are for rule renumber", name)
	default:
		c.fault(t.Name, "", "%s: rule %q: want fail, suffix, keep, match or renumber", name, u.Rule)
		return
	}
	c.renaming(t, u, name)
	column := t.RenameColumn(u, c.dialect)
	switch {
	case column == nil:
		c.fault(t.Name, "", "%s: rename: want one of its columns that is a text", name)
	case column.Role != RolePlain || column.Generated != "" || !slices.Contains(u.Columns, column.Name) ||
		c.dialect != sqldialect.SQLite && sqltype.Of(c.dialect, column.Type).Kind != sqltype.Text:
		c.fault(t.Name, column.Name, "%s: can't be renamed: it is no plain text of the key", name)
	default:
		if tied := c.plan.Tied(t, column.Name); len(tied) > 0 {
			c.fault(t.Name, column.Name, "%s: can't be renamed: foreign keys tie %s to it, whose values would not follow: choose keep, match or fail", name, several(tied))
		}
	}
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

func (c *checker) foreignKey(t *Table, k *ForeignKey) {
	name := fmt.Sprintf("foreign key %q", k.Columns)
	c.columns(t, name, k.Columns)
	parent := c.plan.Table(k.Table)
	switch {
	case len(k.Columns) == 0 || len(k.Columns) != len(k.Refers):
		c.fault(t.Name, "", "%s has %d columns that refer to %d", name, len(k.Columns), len(k.Refers))
		return
	case parent == nil:
		c.fault(t.Name, "", "%s refers to table %q, which does not exist", name, k.Table)
		return
	case parent.Skip:
		return
	}
	c.columns(parent, name+" of "+strconv.Quote(t.Name), k.Refers)
	for i, column := range k.Columns {
		if t.Column(column) == nil || parent.Column(k.Refers[i]) == nil || t.Column(column).Role == RoleUndecided {
			continue
		}
		got, want := t.IDsOf(column), parent.IDsOf(k.Refers[i])
		switch {
		case got == want:
		case want == "":
			c.fault(t.Name, column, "is a reference to %q, but its foreign key is to %q, which holds no ids", got, k.Table+"."+k.Refers[i])
		default:
			c.fault(t.Name, column, "its foreign key is to %q, so it must be a reference to table %q", k.Table+"."+k.Refers[i], want)
		}
	}
}
