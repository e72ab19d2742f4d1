package inspect

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/merge/internal/catalog"
	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/plan"
)

// unite makes one plan of the catalogs of the sources. Where they differ, it adds
// a suspect if people have to decide, else a note.
func unite(d sqldialect.Dialect, names []string, catalogs []*catalog.Catalog) *plan.Plan {
	p := &plan.Plan{Version: 1, Dialect: d.String(), Sources: names}
	drifted := map[string]bool{}
	for i, c := range catalogs {
		for _, statement := range c.Types {
			name, _, _ := strings.Cut(statement, " AS ENUM ")
			same := func(other string) bool { return strings.HasPrefix(other, name+" AS ENUM ") }
			if at := slices.IndexFunc(p.Types, same); at < 0 {
				p.Types = append(p.Types, statement)
			} else if p.Types[at] != statement {
				drifted[strings.TrimPrefix(name, "CREATE TYPE ")] = true
			}
		}
		for _, note := range c.Notes {
			if note = names[i] + ": " + note; !slices.Contains(p.Notes, note) {
				p.Notes = append(p.Notes, note)
			}
		}
		for _, t := range c.Tables {
			if p.Table(t.Name) == nil {
				u := &uniter{d: d, names: names}
				for _, other := range catalogs {
					u.found = append(u.found, other.Table(t.Name))
				}
				p.Tables = append(p.Tables, u.unite())
			}
		}
	}
	for _, t := range p.Tables {
		for _, c := range t.Columns {
			if drifted[c.Type] {
				addSuspect(c, "type %s has other values in other sources: correct it under types", c.Type)
			}
		}
	}
	for _, c := range catalogs {
		for _, t := range c.Tables {
			for _, heir := range t.Heirs {
				text := fmt.Sprintf("table %q inherits from this one, so that its rows would be merged twice: skip one of the two", heir)
				if of := p.Table(t.Name).Columns; len(of) > 0 && !slices.Contains(of[0].Suspects, text) {
					addSuspect(of[0], "%s", text)
				}
			}
		}
	}
	slices.SortFunc(p.Tables, func(a, b *plan.Table) int { return strings.Compare(a.Name, b.Name) })
	return p
}

func addSuspect(c *plan.Column, format string, args ...any) {
	c.Suspects = append(c.Suspects, fmt.Sprintf(format, args...))
}

// A uniter makes one table of those of the sources.
type uniter struct {
	d     sqldialect.Dialect
	names []string
	found []*catalog.Table // of each source, nil where it does not have the table
	into  *catalog.Table
}

// owners returns the names of the sources for which has is true, or nil if it is true for
// all that have the table.
func (u *uniter) owners(has func(*catalog.Table) bool) (owners []string) {
	all := true
	for i, f := range u.found {
		switch {
		case f == nil:
		case has(f):
			owners = append(owners, u.names[i])
		default:
			all = false
		}
	}
	if all {
		return nil
	}
	return owners
}

func (u *uniter) unite() *plan.Table {
	first := slices.IndexFunc(u.found, func(f *catalog.Table) bool { return f != nil })
	u.into = &catalog.Table{Table: &plan.Table{
		Name: u.found[first].Name, PrimaryKey: u.found[first].PrimaryKey, Options: u.found[first].Options, Comment: u.found[first].Comment,
	}}
	t := u.into
	for i, f := range u.found {
		if f != nil {
			t.Sources = append(t.Sources, u.names[i])
		}
	}
	if len(t.Sources) == len(u.names) {
		t.Sources = nil
	} else {
		t.AddNote("only in %s", strings.Join(t.Sources, ", "))
	}
	for _, f := range u.found {
		if f == nil {
			continue
		}
		for _, note := range f.Notes {
			t.AddNote("%s", note)
		}
		for _, c := range f.Columns {
			if t.Column(c.Name) == nil {
				t.Columns = append(t.Columns, u.column(c.Name))
			}
		}
		for _, k := range f.Unique {
			u.unique(k)
		}
		for _, k := range f.ForeignKeys {
			u.foreignKey(k)
		}
		for _, i := range f.Indexes {
			u.index(i)
		}
		if f.Options != t.Options {
			t.AddNote("options differ: %q and %q", t.Options, f.Options)
		}
	}
	for i, f := range u.found {
		if f == nil || slices.Equal(f.PrimaryKey, t.PrimaryKey) {
			continue
		}
		for _, name := range t.PrimaryKey {
			if c := t.Column(name); c != nil && len(c.Suspects) == 0 {
				addSuspect(c, "the primary key of source %q is %q, not %q", u.names[i], f.PrimaryKey, t.PrimaryKey)
			}
		}
	}
	if len(t.PrimaryKey) == 0 {
		u.substitute()
	}
	return t.Table
}

// substitute makes a unique key without NULL the primary key of a table that has
// none.
func (u *uniter) substitute() {
	for _, k := range u.into.Unique {
		if !slices.ContainsFunc(k.Columns, func(name string) bool { return u.into.Column(name).Nullable }) {
			u.into.PrimaryKey = slices.Clone(k.Columns)
			u.into.AddNote("no primary key: rows are told apart by %q, which Schema makes the primary key", k.Columns)
			u.into.Unique = slices.DeleteFunc(u.into.Unique, func(other *plan.Unique) bool { return other == k })
			return
		}
	}
	u.into.AddNote("no primary key, and no unique key without NULL: there is nothing to tell its rows apart by")
}

func (u *uniter) column(name string) *plan.Column {
	var c *plan.Column
	has := func(f *catalog.Table) bool { return f.Column(name) != nil }
	for i, f := range u.found {
		if f == nil || !has(f) {
			continue
		}
		other := *f.Column(name)
		collation := other.Collation
		if collation == "" && sqltype.Of(u.d, other.Type).Kind == sqltype.Text {
			collation = strings.TrimPrefix(f.Options, "COLLATE=")
		}
		if c == nil {
			c = &other
			if collation != strings.TrimPrefix(u.into.Options, "COLLATE=") {
				c.Collation = collation
			}
			continue
		}
		mine := c.Collation
		if mine == "" && sqltype.Of(u.d, c.Type).Kind == sqltype.Text {
			mine = strings.TrimPrefix(u.into.Options, "COLLATE=")
		}
		if collation != mine && sqltype.Of(u.d, c.Type).Kind == sqltype.Text {
			addSuspect(c, "collation differs: %q here, %q in source %q", mine, collation, u.names[i])
		}
		typ, ok := sqltype.Widest(u.d, c.Type, other.Type)
		if !ok {
			addSuspect(c, "type differs: %q here, %q in source %q", c.Type, other.Type, u.names[i])
		} else if typ != c.Type {
			u.into.AddNote("column %s: type %q, for it is %q and %q in the sources", name, typ, c.Type, other.Type)
		}
		c.Type = typ
		c.Nullable = c.Nullable || other.Nullable
		if c.Generated != other.Generated {
			addSuspect(c, "generated differently: %q here, %q in source %q", c.Generated, other.Generated, u.names[i])
		}
		if c.Options != other.Options {
			u.into.AddNote("column %s: %q, but %q in source %s", name, c.Options, other.Options, u.names[i])
		}
		if text(c.Default) != text(other.Default) {
			u.into.AddNote("column %s: default %s, but %s in source %s", name, text(c.Default), text(other.Default), u.names[i])
		}
	}
	c.Sources = u.owners(has)
	switch {
	case c.Sources == nil:
	case c.Nullable || c.Default != nil || c.Generated != "":
		u.into.AddNote("column %s: only in %s; rows of others get its default", name, strings.Join(c.Sources, ", "))
	default:
		addSuspect(c, "only in %s: give it a default, or make it nullable", strings.Join(c.Sources, ", "))
	}
	return c
}

func text(s *string) string {
	if s == nil {
		return "none"
	}
	return *s
}

func (u *uniter) unique(k *plan.Unique) {
	same := func(other *plan.Unique) bool {
		return slices.Equal(slices.Sorted(slices.Values(k.Columns)), slices.Sorted(slices.Values(other.Columns)))
	}
	if slices.ContainsFunc(u.into.Unique, same) {
		return
	}
	added := *k
	owners := u.owners(func(f *catalog.Table) bool { return slices.ContainsFunc(f.Unique, same) })
	if owners != nil {
		added.Suspects = append(added.Suspects, fmt.Sprintf("a unique key only in %s: others may have duplicates", strings.Join(owners, ", ")))
	}
	u.into.Unique = append(u.into.Unique, &added)
}

func (u *uniter) foreignKey(k *plan.ForeignKey) {
	same := func(other *plan.ForeignKey) bool {
		return slices.Equal(k.Columns, other.Columns) && slices.Equal(k.Refers, other.Refers) && k.Table == other.Table
	}
	if slices.ContainsFunc(u.into.ForeignKeys, same) {
		return
	}
	if owners := u.owners(func(f *catalog.Table) bool { return slices.ContainsFunc(f.ForeignKeys, same) }); owners != nil {
		u.into.AddNote("foreign key %q to %s: only in %s", k.Columns, k.Table, strings.Join(owners, ", "))
	}
	added := *k
	for i := 2; slices.ContainsFunc(u.into.ForeignKeys, func(other *plan.ForeignKey) bool { return added.Name != "" && other.Name == added.Name }); i++ {
		added.Name = k.Name + "_" + strconv.Itoa(i)
	}
	u.into.ForeignKeys = append(u.into.ForeignKeys, &added)
}

func (u *uniter) index(i *plan.Index) {
	at := slices.IndexFunc(u.into.Indexes, func(other *plan.Index) bool { return other.Name == i.Name })
	if at < 0 {
		u.into.Indexes = append(u.into.Indexes, i)
	} else if other := u.into.Indexes[at]; other.Statement != i.Statement || !slices.Equal(other.Columns, i.Columns) {
		u.into.AddNote("index %s differs between the sources", i.Name)
	}
}
