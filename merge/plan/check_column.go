package plan

import (
	"slices"
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
		if !column.In(source) {
			c.fault(t.Name, column.Name, "dates ids, but source %q does not have it", source)
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
	if len(column.Sources) > 0 && len(column.Sources) < len(c.plan.SourcesOf(t)) && !column.Nullable && column.Default == nil && column.Generated == "" {
		fault("some sources do not have it: it must be nullable or have a default")
	}
	c.undecided(t, column.Name, column.Suspects, column.Decided)
	switch column.Role {
	case RolePlain:
	case RoleUndecided:
		if column.Decided || len(column.Suspects) == 0 {
			fault("role is undecided")
		}
	case RoleKey:
		if !slices.Equal(t.PrimaryKey, []string{column.Name}) {
			fault("is a key, but not the whole primary key")
		}
		if s := sqltype.Of(c.dialect, column.Type); c.dialect != sqldialect.SQLite && (s.Kind != sqltype.Integer || s.Bits < 64) {
			fault("is a key, but type %q is no integer of 64 bits", column.Type)
		}
	case RoleReference, RoleList, RoleJSON, RolePolymorphic:
		c.reference(t, column, fault)
		c.parents(column, fault)
		switch {
		case column.Orphans != OrphansFail && column.Orphans != OrphansDrop && column.Orphans != OrphansNull:
			fault("orphans %q: want null, drop or nothing", column.Orphans)
		case column.Orphans == OrphansNull && !column.Nullable && (column.Role == RoleReference || column.Role == RolePolymorphic):
			fault("orphans become null, but it is not nullable")
		}
	default:
		fault("role %q: want plain, key, reference, json, list or polymorphic", column.Role)
	}
}

// reference complains of what a role that holds references needs and the column lacks.
func (c *checker) reference(t *Table, column *Column, fault func(string, ...any)) {
	s := sqltype.Of(c.dialect, column.Type)
	typed := c.dialect != sqldialect.SQLite // where the type says what values are
	hasOne := len(column.Refers) == 1 && column.Refers[0].Path == "" && column.Refers[0].Value == ""
	if column.Role == RoleReference || column.Role == RolePolymorphic {
		reason := s.UnfitForIDs(column.Type)
		if typed && reason != "" && (s.Kind != sqltype.Integer && s.Kind != sqltype.Text || c.getsNewIDs(column)) {
			fault("%s", reason)
		}
	}
	switch column.Role {
	case RoleReference:
		if !hasOne {
			fault("a reference refers to one table, without path and value")
		}
	case RoleList:
		element, array := sqltype.Element(c.dialect, column.Type)
		if reason := element.UnfitForIDs(column.Type); array && reason != "" {
			fault("%s", reason)
		}
		if array && column.Separator != "" {
			fault("is an array, which has no separator")
		}
		if !array && typed && s.Kind != sqltype.Text {
			fault("is a list, but type %q is no text", column.Type)
		}
		if !hasOne {
			fault("a list refers to one table, without path and value")
		}
	case RoleJSON:
		if typed && s.Kind != sqltype.JSON && s.Kind != sqltype.Text {
			fault("is JSON, but type %q is neither that nor a text", column.Type)
		}
		c.distinct(column, "path", fault, func(r *Reference) string { return r.Path })
		for _, r := range column.Refers {
			if _, err := jsonpath.Parse(r.Path); err != nil {
				fault("%v", err)
			}
		}
	case RolePolymorphic:
		c.distinct(column, "value", fault, func(r *Reference) string { return r.Value })
		by := t.Column(column.By)
		if by == nil || by == column || by.Role != RolePlain {
			fault("by is %q: want another column of role plain", column.By)
			return
		}
		for _, source := range c.plan.SourcesOf(t) {
			if column.In(source) && !by.In(source) {
				fault("by is %q, which source %q does not have", column.By, source)
			}
		}
	}
}

// parents complains of references to tables whose rows have no ids.
func (c *checker) parents(column *Column, fault func(string, ...any)) {
	for _, r := range column.Refers {
		switch parent := c.plan.Table(r.Table); {
		case r.Table == "" && column.Role == RolePolymorphic:
		case parent == nil:
			fault("refers to table %q, which does not exist", r.Table)
		case parent.Skip:
			fault("refers to table %q, which is skipped", r.Table)
		case parent.Key() == nil:
			fault("refers to table %q, which has no key", r.Table)
		}
	}
}

// getsNewIDs reports whether the column may hold new ids.
func (c *checker) getsNewIDs(column *Column) bool {
	return slices.ContainsFunc(column.Refers, func(r *Reference) bool {
		parent := c.plan.Table(r.Table)
		return parent != nil && len(parent.NewIDs) > 0
	})
}

// distinct complains of references that are alike.
func (c *checker) distinct(column *Column, field string, fault func(string, ...any), of func(*Reference) string) {
	if len(column.Refers) == 0 {
		fault("refers to nothing")
	}
	for i, r := range column.Refers {
		if slices.ContainsFunc(column.Refers[:i], func(other *Reference) bool { return of(other) == of(r) }) {
			fault("two references have the %s %q", field, of(r))
		}
	}
}
