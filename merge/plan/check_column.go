package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/merge/internal/jsonpath"
	"github.com/shardsnow/snow/merge/internal/packed"
	"github.com/shardsnow/snow/merge/internal/sqltype"
)

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
	case RoleName:
		fault := c.plan.NameFault(t, column)
		c.faultIf(fault != "", "%s", fault)
	default:
		c.fault("role %q: want plain, key, reference, json, list, polymorphic, packed or name", column.Role)
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
		case parent.Key() == nil && rowsOf(c.plan, r.Table) != r.Table:
			c.fault("refers to table %q, whose key holds ids of %q: refer to that", r.Table, rowsOf(c.plan, r.Table))
		case parent.Key() == nil:
			c.fault("refers to table %q, which has no key: the column that numbers its rows has to be one", r.Table)
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

// packed complains of a format that is none, of places that the format does not have, and of types that can't have
// such values.
func (c *columnChecker) packed(s sqltype.Type) {
	column := c.column
	format, err := packed.ParseFormat(column.Format)
	if err != nil {
		c.fault("%v", err)
		return
	}
	c.distinct("place", func(r *Reference) string { return r.Path })
	var places []string
	for _, r := range column.Refers {
		c.faultIf(r.Value != "", "a place has no value")
		places = append(places, r.Path)
	}
	if format.Kind == packed.Hooks {
		c.faultIf(column.Separator != "", "separator is for fields")
	} else if _, err := format.New(places, column.Separator, [2]bool{}); err != nil {
		c.fault("%v", err)
	}
	switch typed := c.dialect != sqldialect.SQLite; {
	case typed && format.Number() && s.Kind != sqltype.Integer:
		c.fault("its format is of integers, but type %q is none", column.Type)
	case typed && format.Kind != packed.Hooks && !format.Number() && s.Kind != sqltype.Text && s.Kind != sqltype.Bytes:
		c.fault("its format is of texts, but type %q is none", column.Type)
	}
	c.faultIf(format.Half() == (column.By == ""), "by is %q: halves have the column of the other half there, and other formats nothing", column.By)
	if format.Half() && column.By != "" {
		c.half(format)
	}
}

// half complains of two columns that are not the halves of one id.
func (c *columnChecker) half(format packed.Format) {
	column, other := c.column, c.table.Column(c.column.By)
	if other == nil || other == column || other.Role != RolePacked || other.By != column.Name {
		c.fault("by is %q: want the column with the other half, whose by is %q", column.By, column.Name)
		return
	}
	theirs, err := packed.ParseFormat(other.Format)
	switch {
	case err != nil: // which is a fault of the other column
	case !theirs.Half() || theirs.Kind == format.Kind || theirs.Bits != format.Bits:
		c.fault("format is %q, and that of the other half %q: want high and low of the same number of bits", column.Format, other.Format)
	case !slices.EqualFunc(column.Refers, other.Refers, func(a, b *Reference) bool { return *a == *b }) || !slices.Equal(column.None, other.None) || column.Orphans != other.Orphans || column.Gone != other.Gone:
		c.fault("refers, none, orphans and gone differ from those of the other half, %q", other.Name)
	}
	c.beside(other)
}

// NameFault says why the values of a column of RoleName can't follow the rows whose names they are, or "". A name must
// be unique in its source, and no row may clash with another one because of it: which rows clash is decided by the old
// names.
func (p *Plan) NameFault(t *Table, c *Column) string {
	if len(c.Refers) != 1 {
		return "is a name: want one table, and its column with the names"
	}
	parent := p.Table(c.Refers[0].Table)
	if parent == nil || parent.Skip {
		return fmt.Sprintf("has names of table %q, which does not exist or is skipped", c.Refers[0].Table)
	}
	of := parent.Column(c.Refers[0].Path)
	d := dialectOf(p.Dialect)
	switch {
	case of == nil:
		return fmt.Sprintf("has names of %q, which is no column", parent.Name+"."+c.Refers[0].Path)
	case of == c:
		return "has names of itself"
	case c.Orphans != "" || c.Gone != "" || len(c.None) > 0:
		return "is a name: none, orphans and gone are for ids"
	case c.Combine != CombineKeep || t.SetByRenames(c) || t.Created == c.Name:
		return "is a name, so combine, set and created can't have it"
	case d != sqldialect.SQLite && sqltype.Of(d, c.Type).Kind != sqltype.Text:
		return fmt.Sprintf("is a name, but type %q is no text", c.Type)
	case t.declares(c):
		return "is a name, and a foreign key has it: choose keep, match or fail for the names"
	}
	for _, u := range parent.Unique {
		if u.Rule == RuleSuffix && len(u.Columns) > 1 && parent.RenameColumn(u, d) == of {
			return fmt.Sprintf("has names of %q, of which one source may have several: they are unique only with %q", parent.Name+"."+of.Name, u.Columns)
		}
	}
	for _, columns := range uniqueColumns(t) {
		if slices.Contains(columns, c.Name) && !keepsApart(p, t, columns) {
			return fmt.Sprintf("is a name in the unique key %q: rows with an old name could clash in it, so the key needs the id of a row that is in one source only. "+
				"Leave the key out of unique (or primary_key) of table %q, and make it by a statement of after; or let the column be plain, with a rule for the key", columns, t.Name)
		}
	}
	return ""
}

// uniqueColumns returns the columns of the primary key and of the unique keys.
func uniqueColumns(t *Table) (all [][]string) {
	if len(t.PrimaryKey) > 0 {
		all = append(all, t.PrimaryKey)
	}
	for _, u := range t.Unique {
		all = append(all, u.Columns)
	}
	return all
}

// keepsApart reports whether rows of two sources can't clash in some columns: one of them has the id of a row that
// no other source has.
func keepsApart(p *Plan, t *Table, columns []string) bool {
	return slices.ContainsFunc(columns, func(name string) bool {
		c := t.Column(name)
		if c == nil || len(c.None) > 0 || c.BecomesNull() {
			return false
		}
		parent := p.Table(t.IDsOf(name))
		return parent != nil && !parent.Merges(p.Sources)
	})
}

// kinds complains of kinds that disagree, and of formats that are none or that the column can't have.
func (c *columnChecker) kinds(s sqltype.Type) {
	c.distinct("value", func(r *Reference) string { return strings.TrimSpace(r.Value + " " + r.Path) })
	for _, r := range c.column.Refers {
		kind, _ := c.column.Kind(r.Value)
		if kind.Refers[0].Format != r.Format {
			c.fault("kind %q has the formats %q and %q", r.Value, kind.Refers[0].Format, r.Format)
		}
		if r.Format == "" {
			continue
		}
		c.faultIf(r.Table == "", "kind %q has a format, so it needs tables", r.Value)
		c.faultIf(c.dialect != sqldialect.SQLite && s.Kind != sqltype.Text && s.Kind != sqltype.Bytes && s.Kind != sqltype.JSON, "kind %q has a format, but type %q is no text", r.Value, c.column.Type)
		if err := checkKind(kind); err != nil {
			c.fault("kind %q: %v", r.Value, err)
		}
		c.faultIf(kind.Role == RolePacked && c.column.BecomesNull() && c.column.NoneID() == "", "orphans become null, but none has no id for no row: a packed value has to have one in their place")
	}
}

// checkKind returns what is wrong with the format of a kind.
func checkKind(kind *Column) error {
	var places []string
	for _, r := range kind.Refers {
		places = append(places, r.Path)
	}
	switch kind.Role {
	case RoleList:
		if len(places) != 1 || places[0] != "" {
			return errors.New("a list refers to one table, without path")
		}
		return nil
	case RoleJSON:
		for _, place := range places {
			if _, err := jsonpath.Parse(place); err != nil {
				return err
			}
		}
		return nil
	}
	format, err := packed.ParseFormat(kind.Format)
	switch {
	case err != nil:
	case format.Number():
		err = fmt.Errorf("its format, %q, is of integers", kind.Format)
	case format.Kind != packed.Hooks:
		_, err = format.New(places, kind.Separator, [2]bool{})
	}
	return err
}
