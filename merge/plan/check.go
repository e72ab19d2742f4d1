package plan

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/merge/internal/jsonpath"
	"github.com/shardsnow/snow/merge/internal/sqltype"
)

// A Error says why nothing can be merged by a plan.
type Error struct {
	Table  string // empty where it is the plan as a whole
	Column string // empty where it is the table as a whole
	Reason string
}

func (e *Error) Error() string {
	switch {
	case e.Table == "":
		return "plan: " + e.Reason
	case e.Column == "":
		return "plan: table " + strconv.Quote(e.Table) + ": " + e.Reason
	}
	return "plan: column " + strconv.Quote(e.Table+"."+e.Column) + ": " + e.Reason
}

// Check returns what is wrong with the plan as a join of [*PlanError], or nil:
// suspects and columns that nobody has decided on, names of nothing, roles that
// do not fit the types or the foreign keys, unique keys whose rule can't be
// followed. It asks no database: whether the sources are as the plan says is
// for [github.com/shardsnow/snow/merge.New] to find out.
func (p *Plan) Check() error {
	c := &checker{plan: p, dialect: dialectOf(p.Dialect)}
	if p.Version != 1 {
		c.fault("", "", "version %d: want 1", p.Version)
	}
	if c.dialect == 0 {
		c.fault("", "", "dialect %q: want MySQL, PostgreSQL or SQLite", p.Dialect)
	}
	if err := p.CheckSources(); err != nil {
		c.fault("", "", "%v", err)
	}
	if err := p.checkNil(); err != nil {
		c.fault("", "", "%v", err)
		return errors.Join(c.errs...)
	}
	for i, t := range p.Tables {
		switch {
		case t.Name == "":
			c.fault("", "", "a table has no name")
		case p.Table(t.Name) != p.Tables[i]:
			c.fault(t.Name, "", "there are two of it")
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

const longestSource = 40

// CheckSources returns what is wrong with the names of the sources, or nil.
func (p *Plan) CheckSources() error {
	if len(p.Sources) == 0 {
		return errors.New("no sources")
	}
	for i, name := range p.Sources {
		bad := func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._-", r)
		}
		if name == "" || len(name) > longestSource || strings.ContainsFunc(name, bad) {
			return fmt.Errorf("source name %q: want 1 to %d letters, digits, dots, underscores or hyphens of ASCII", name, longestSource)
		}
		if slices.ContainsFunc(p.Sources[:i], func(other string) bool { return strings.EqualFold(other, name) }) {
			return fmt.Errorf("source name %q: there are two of it", name)
		}
	}
	return nil
}

type checker struct {
	plan    *Plan
	dialect sqldialect.Dialect
	errs    []error
}

func (c *checker) fault(table, column, format string, args ...any) {
	c.errs = append(c.errs, &Error{Table: table, Column: column, Reason: fmt.Sprintf(format, args...)})
}

// sources complains of names in field that are not among those of what.
func (c *checker) sources(t *Table, column, field string, names []string) {
	for i, name := range names {
		switch {
		case !slices.Contains(c.plan.Sources, name):
			c.fault(t.Name, column, "%s names %q, which is no source", field, name)
		case !t.In(name):
			c.fault(t.Name, column, "%s names %q, which does not have the table", field, name)
		case slices.Contains(names[:i], name):
			c.fault(t.Name, column, "%s names %q twice", field, name)
		}
	}
}

func (c *checker) undecided(t *Table, column string, suspects []string, decided bool) {
	if decided || len(suspects) == 0 {
		return
	}
	more := ""
	if len(suspects) > 1 {
		more = fmt.Sprintf(" (and %d more)", len(suspects)-1)
	}
	c.fault(t.Name, column, "not decided: %s%s", suspects[0], more)
}

func (c *checker) table(t *Table) {
	c.sources(t, "", "sources", t.Sources)
	c.sources(t, "", "mint", t.Mint)
	if len(t.PrimaryKey) == 0 {
		c.fault(t.Name, "", "no primary key: name columns that tell its rows apart, or skip it")
	}
	c.columns(t, "primary_key", t.PrimaryKey)
	for _, name := range t.PrimaryKey {
		if column := t.Column(name); column != nil && len(column.Sources) > 0 {
			c.fault(t.Name, name, "is in the primary key, so all the sources of the table must have it")
		}
	}
	if len(t.Mint) > 0 && t.Key() == nil {
		c.fault(t.Name, "", "mint names sources, but no column is a key")
	}
	for i, column := range t.Columns {
		switch {
		case column.Name == "":
			c.fault(t.Name, "", "a column has no name")
		case t.Column(column.Name) != t.Columns[i]:
			c.fault(t.Name, column.Name, "there are two of it")
		default:
			c.column(t, column)
		}
	}
	c.created(t)
	for _, u := range t.Unique {
		c.unique(t, u)
	}
	for _, k := range t.ForeignKeys {
		c.foreignKey(t, k)
	}
	for _, i := range t.Indexes {
		if i.Statement == "" && len(i.Columns) == 0 {
			c.fault(t.Name, "", "index %q has neither columns nor a statement", i.Name)
		}
	}
}

// columns complains of names in field that the table does not have.
func (c *checker) columns(t *Table, field string, names []string) {
	for i, name := range names {
		if t.Column(name) == nil {
			c.fault(t.Name, "", "%s names %q, which is no column", field, name)
		} else if slices.Contains(names[:i], name) {
			c.fault(t.Name, "", "%s names %q twice", field, name)
		}
	}
}

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
		c.fault(t.Name, column.Name, "is what dates ids, but type %q is neither a time nor an integer", column.Type)
	}
	for _, source := range t.Mint {
		if !column.In(source) {
			c.fault(t.Name, column.Name, "is what dates ids, but source %q does not have it", source)
		}
	}
}

func (c *checker) column(t *Table, column *Column) {
	fault := func(format string, args ...any) { c.fault(t.Name, column.Name, format, args...) }
	c.sources(t, column.Name, "sources", column.Sources)
	if column.Type == "" && c.dialect != sqldialect.SQLite {
		fault("no type")
	}
	if column.Generated != "" && column.Role != RolePlain {
		fault("is generated, so it must be plain")
	}
	if len(column.Sources) > 0 && len(column.Sources) < len(c.sourcesOf(t)) && !column.Nullable && column.Default == nil && column.Generated == "" {
		fault("some sources do not have it: it must be nullable or have a default")
	}
	c.undecided(t, column.Name, column.Suspects, column.Decided)
	s := sqltype.Of(c.dialect, column.Type)
	typed := c.dialect != sqldialect.SQLite // where the type says what values are
	switch column.Role {
	case RolePlain:
		return
	case RoleUndecided:
		if column.Decided || len(column.Suspects) == 0 {
			fault("role is undecided")
		}
		return
	case RoleKey:
		if !slices.Equal(t.PrimaryKey, []string{column.Name}) {
			fault("is a key, but not the whole primary key")
		}
		if typed && (s.Kind != sqltype.Integer || s.Bits < 64) {
			fault("is a key, but type %q is no integer of 64 bits", column.Type)
		}
		return
	case RoleReference:
		c.holder(t, column, s)
		if len(column.Refers) != 1 || column.Refers[0].Path != "" || column.Refers[0].Value != "" {
			fault("a reference refers to one table, without path and value")
		}
	case RoleList:
		if element, array := sqltype.Element(c.dialect, column.Type); array {
			if reason := element.UnfitForIDs(column.Type); reason != "" {
				fault("%s", reason)
			}
			if column.Separator != "" {
				fault("is an array, which has no separator")
			}
		} else if typed && s.Kind != sqltype.Text {
			fault("is a list, but type %q is no text", column.Type)
		}
		if len(column.Refers) != 1 || column.Refers[0].Path != "" || column.Refers[0].Value != "" {
			fault("a list refers to one table, without path and value")
		}
	case RoleJSON:
		if typed && s.Kind != sqltype.JSON && s.Kind != sqltype.Text {
			fault("is JSON, but type %q is neither that nor a text", column.Type)
		}
		c.distinct(t, column, "path", func(r *Reference) string { return r.Path })
		for _, r := range column.Refers {
			if _, err := jsonpath.Parse(r.Path); err != nil {
				fault("%v", err)
			}
		}
	case RolePolymorphic:
		c.holder(t, column, s)
		c.distinct(t, column, "value", func(r *Reference) string { return r.Value })
		if by := t.Column(column.By); by == nil || by == column || by.Role != RolePlain {
			fault("by is %q: want another column of role plain", column.By)
		} else {
			for _, source := range c.sourcesOf(t) {
				if column.In(source) && !by.In(source) {
					fault("by is %q, which source %q does not have", column.By, source)
				}
			}
		}
	default:
		fault("role %q: want plain, key, reference, json, list or polymorphic", column.Role)
		return
	}
	for _, r := range column.Refers {
		if r.Table == "" && column.Role == RolePolymorphic {
			continue
		}
		switch parent := c.plan.Table(r.Table); {
		case parent == nil:
			fault("refers to table %q, which does not exist", r.Table)
		case parent.Skip:
			fault("refers to table %q, which is skipped", r.Table)
		case parent.Key() == nil:
			fault("refers to table %q, which has no key", r.Table)
		}
	}
	switch column.Orphans {
	case OrphansFail, OrphansDrop:
	case OrphansNull:
		if !column.Nullable && (column.Role == RoleReference || column.Role == RolePolymorphic) {
			fault("orphans become null, but it is not nullable")
		}
	default:
		fault("orphans %q: want null, drop or nothing", column.Orphans)
	}
}

// holder complains of a type that minted ids of what the column refers to do not fit.
func (c *checker) holder(t *Table, column *Column, s sqltype.Type) {
	if c.dialect == sqldialect.SQLite {
		return
	}
	if s.Kind != sqltype.Integer && s.Kind != sqltype.Text || c.mintsFor(column) {
		if reason := s.UnfitForIDs(column.Type); reason != "" {
			c.fault(t.Name, column.Name, "%s", reason)
		}
	}
}

// mintsFor reports whether the column may hold minted ids.
func (c *checker) mintsFor(column *Column) bool {
	return slices.ContainsFunc(column.Refers, func(r *Reference) bool {
		parent := c.plan.Table(r.Table)
		return parent != nil && len(parent.Mint) > 0
	})
}

// distinct complains of references that lack what tells them apart.
func (c *checker) distinct(t *Table, column *Column, field string, of func(*Reference) string) {
	if len(column.Refers) == 0 {
		c.fault(t.Name, column.Name, "refers to nothing")
	}
	for i, r := range column.Refers {
		switch {
		case slices.ContainsFunc(column.Refers[:i], func(other *Reference) bool { return of(other) == of(r) }):
			c.fault(t.Name, column.Name, "two references have the %s %q", field, of(r))
		}
	}
}

func (c *checker) sourcesOf(t *Table) []string {
	if len(t.Sources) > 0 {
		return t.Sources
	}
	return c.plan.Sources
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
	case RuleFail, RuleKeep, RuleMatch:
		return
	case RuleSuffix:
	default:
		c.fault(t.Name, "", "%s: rule %q: want fail, suffix, keep or match", name, u.Rule)
		return
	}
	column := t.RenameColumn(u, c.dialect)
	switch {
	case column == nil:
		c.fault(t.Name, "", "%s: rename: want one of its columns that is a text", name)
	case column.Role != RolePlain || column.Generated != "" || !slices.Contains(u.Columns, column.Name) ||
		c.dialect != sqldialect.SQLite && sqltype.Of(c.dialect, column.Type).Kind != sqltype.Text:
		c.fault(t.Name, column.Name, "%s: can't be renamed: it is no plain text of the key", name)
	}
}

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
		got, want := t.IdsOf(column), parent.IdsOf(k.Refers[i])
		switch {
		case got == want:
		case want == "":
			c.fault(t.Name, column, "is a reference to %q, but its foreign key is to %q, which holds no ids", got, k.Table+"."+k.Refers[i])
		default:
			c.fault(t.Name, column, "its foreign key is to %q, so it must be a reference to table %q", k.Table+"."+k.Refers[i], want)
		}
	}
}

// dialectOf returns the dialect that prints as name, or 0.
func dialectOf(name string) sqldialect.Dialect {
	for _, d := range []sqldialect.Dialect{sqldialect.MySQL, sqldialect.Postgres, sqldialect.SQLite} {
		if d.String() == name {
			return d
		}
	}
	return 0
}
