package plan

import (
	"slices"
	"strings"
	"time"

	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/merge/internal/jsonpath"
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

// A columnChecker collects the errors of a column.
type columnChecker struct {
	*checker
	table  *Table
	column *Column
}

func (c *columnChecker) fault(format string, args ...any) { c.faultIf(true, format, args...) }

func (c *columnChecker) faultIf(is bool, format string, args ...any) {
	c.checker.faultIf(is, c.table.Name, c.column.Name, format, args...)
}

func (c *columnChecker) check() {
	t, column := c.table, c.column
	c.sources(t, column.Name, "sources", column.Sources)
	c.faultIf(column.Type == "" && c.dialect != sqldialect.SQLite, "no type")
	c.faultIf(column.Generated != "" && column.Role != RolePlain, "is generated, so it must be plain")
	if len(column.Sources) > 0 && len(column.Sources) < len(c.plan.SourcesOf(t)) && !column.Nullable && column.Default == nil && column.Generated == "" {
		c.fault("some sources do not have it: it must be nullable or have a default")
	}
	c.combining()
	c.undecided(t, column.Name, column.Suspects, column.Decided)
	switch column.Role {
	case RolePlain:
	case RoleUndecided:
		c.faultIf(column.Decided || len(column.Suspects) == 0, "role is undecided")
	case RoleKey:
		c.key()
		if s := sqltype.Of(c.dialect, column.Type); c.dialect != sqldialect.SQLite && !s.IsNumber() {
			c.fault("is a key, but type %q is no integer", column.Type)
		}
	case RoleReference, RoleList, RoleJSON, RolePolymorphic, RolePacked:
		c.reference()
		c.parents()
		switch {
		case column.Orphans != OrphansFail && column.Orphans != OrphansDrop && column.Orphans != OrphansNull:
			c.fault("orphans %q: want null, drop or nothing", column.Orphans)
		case column.Gone != OrphansFail && column.Gone != OrphansDrop && column.Gone != OrphansNull:
			c.fault("gone %q: want null, drop or nothing", column.Gone)
		case column.BecomesNull() && !column.Nullable && len(column.None) == 0 && (column.Role == RoleReference || column.Role == RolePolymorphic):
			c.fault("orphans become null, but it is not nullable, and none has no value for no row")
		case column.BecomesNull() && column.Role == RolePacked && column.NoneID() == "":
			c.fault("orphans become null, but none has no id for no row: a packed value has to have one in their place")
		}
	default:
		c.fault("role %q: want plain, key, reference, json, list, polymorphic or packed", column.Role)
	}
}

// reference complains of what a role that holds references needs and the column lacks.
func (c *columnChecker) reference() {
	column := c.column
	s := sqltype.Of(c.dialect, column.Type)
	typed := c.dialect != sqldialect.SQLite // where the type says what values are
	hasOne := len(column.Refers) == 1 && column.Refers[0].Path == "" && column.Refers[0].Value == ""
	if column.Role == RoleReference || column.Role == RolePolymorphic {
		wide := c.plan.TargetType(c.table, column)
		reason := c.unfit(sqltype.Of(c.dialect, wide), wide)
		c.faultIf(typed && reason != "", "%s", reason)
	}
	switch column.Role {
	case RoleReference:
		c.faultIf(!hasOne, "a reference refers to one table, without path and value")
	case RoleList:
		element, array := sqltype.Element(c.dialect, c.plan.TargetType(c.table, column))
		if reason := c.unfit(element, column.Type); array && reason != "" {
			c.fault("%s", reason)
		}
		c.faultIf(array && column.Separator != "", "is an array, which has no separator")
		path := sqltype.Word(column.Type) == "ltree"
		c.faultIf(path && column.Separator != ".", "is a path, whose labels are ids with the separator .")
		c.faultIf(!array && typed && s.Kind != sqltype.Text && !path, "is a list, but type %q is no text", column.Type)
		c.faultIf(!hasOne, "a list refers to one table, without path and value")
	case RoleJSON:
		c.faultIf(typed && s.Kind != sqltype.JSON && s.Kind != sqltype.Text, "is JSON, but type %q is neither that nor a text", column.Type)
		c.distinct("path", func(r *Reference) string { return r.Path })
		for _, r := range column.Refers {
			if _, err := jsonpath.Parse(r.Path); err != nil {
				c.fault("%v", err)
			}
		}
	case RolePolymorphic:
		c.kinds(s)
		by := c.table.Column(column.By)
		switch {
		case by != nil && by.Role == RoleReference && by != column:
			c.fault("by is %q, which holds ids of rows: give these rows equal ids in all sources, make their key and %q plain, and choose rule match for that key", column.By, column.By)
			return
		case by == nil || by == column || by.Role != RolePlain:
			c.fault("by is %q: want another column of role plain", column.By)
			return
		}
		c.beside(by)
	case RolePacked:
		c.packed(s)
	}
}

// unfit says why values of a type can't be new ids, or "". Whether numbers fit is found out by their values.
func (c *columnChecker) unfit(s sqltype.Type, typ string) string {
	if c.plan.numbersOnly(c.table, c.column) && (s.IsNumber() || s.Kind == sqltype.Text) {
		return ""
	}
	return s.UnfitForIDs(typ)
}

// beside complains of a column that sources do not have which have this one.
func (c *columnChecker) beside(by *Column) {
	for _, source := range c.plan.SourcesOf(c.table) {
		c.faultIf(c.column.In(source) && !by.In(source), "by is %q, which source %q does not have", by.Name, source)
	}
}

// key complains of a key whose values may be equal, or missing.
func (c *columnChecker) key() {
	alone := []string{c.column.Name}
	if slices.Equal(c.table.PrimaryKey, alone) {
		return
	}
	unique := slices.ContainsFunc(c.table.Unique, func(u *Unique) bool { return slices.Equal(u.Columns, alone) })
	c.faultIf(!unique, "is a key, but neither the whole primary key nor a unique key of its own: add one to unique of the table")
	c.faultIf(c.column.Nullable, "is a key, but can be NULL")
	c.faultIf(len(c.column.Sources) > 0, "is a key, so all the sources of the table must have it")
}

// parents complains of references to tables whose rows have no ids.
func (c *columnChecker) parents() {
	for _, r := range c.column.Refers {
		switch parent := c.plan.Table(r.Table); {
		case r.Table == "" && (c.column.Role == RolePolymorphic || c.column.Role == RolePacked && strings.HasPrefix(c.column.Format, "bits ")):
		case parent == nil:
			c.fault("refers to table %q, which does not exist", r.Table)
		case parent.Skip:
			c.fault("refers to table %q, which is skipped", r.Table)
		case parent.Key() == nil:
			c.fault("refers to table %q, which has no key", r.Table)
		}
	}
}

// distinct complains of references that are alike.
func (c *columnChecker) distinct(field string, of func(*Reference) string) {
	c.faultIf(len(c.column.Refers) == 0, "refers to nothing")
	for i, r := range c.column.Refers {
		c.faultIf(slices.ContainsFunc(c.column.Refers[:i], func(other *Reference) bool { return of(other) == of(r) }), "two references have the %s %q", field, of(r))
	}
}
