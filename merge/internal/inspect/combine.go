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

// combine makes one plan of the catalogs of the sources. Where they differ, it adds a suspect if people have to
// decide, or else a note.
func combine(d sqldialect.Dialect, names []string, catalogs []*catalog.Catalog) *plan.Plan {
	p := &plan.Plan{Version: 1, Dialect: d.String(), Sources: names}
	if len(catalogs) > 0 {
		p.Databases = catalogs[0].Databases
	}
	drifted := map[string]bool{}
	for i, c := range catalogs {
		for _, statement := range c.Types {
			if strings.HasPrefix(statement, "CREATE EXTENSION ") { // before the types
				if !slices.Contains(p.Types, statement) {
					p.Types = slices.Insert(p.Types, 0, statement)
				}
				continue
			}
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
				u := &combiner{d: d, all: names}
				for i, other := range catalogs {
					if found := other.Table(t.Name); found != nil {
						u.names, u.found = append(u.names, names[i]), append(u.found, found)
					}
				}
				p.Tables = append(p.Tables, u.combine())
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
				if of := p.Table(t.Name).Columns; len(of) > 0 {
					addSuspect(of[0], "table %q inherits from this one, so that its rows would be merged twice: skip one of the two", heir)
				}
			}
		}
	}
	slices.SortFunc(p.Tables, func(a, b *plan.Table) int { return strings.Compare(a.Name, b.Name) })
	return p
}

// A combiner makes one table of the sources' tables.
type combiner struct {
	d     sqldialect.Dialect
	all   []string         // the sources
	names []string         // the sources that have the table
	found []*catalog.Table // the table in each of them
	into  *plan.Table
}

// owners returns the names of the sources for which has is true, or nil if it is true for all that have the table.
func (u *combiner) owners(has func(*catalog.Table) bool) (owners []string) {
	for i, f := range u.found {
		if has(f) {
			owners = append(owners, u.names[i])
		}
	}
	if len(owners) == len(u.found) {
		return nil
	}
	return owners
}

func (u *combiner) combine() *plan.Table {
	first := u.found[0]
	u.into = &plan.Table{Name: first.Name, PrimaryKey: first.PrimaryKey, Options: first.Options, Comment: first.Comment}
	t := u.into
	if len(u.found) < len(u.all) {
		t.Sources = u.names
		catalog.AddNote(t, "only in %s", strings.Join(t.Sources, ", "))
	}
	for _, f := range u.found {
		for _, note := range f.Notes {
			catalog.AddNote(t, "%s", note)
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
			catalog.AddNote(t, "options differ: %q and %q", t.Options, f.Options)
		}
	}
	for i, f := range u.found {
		if slices.Equal(f.PrimaryKey, t.PrimaryKey) {
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
	return t
}

// substitute makes a unique key without NULL the primary key of a table that has none.
func (u *combiner) substitute() {
	for _, k := range u.into.Unique {
		if !slices.ContainsFunc(k.Columns, func(name string) bool { return u.into.Column(name).Nullable }) {
			u.into.PrimaryKey = slices.Clone(k.Columns)
			catalog.AddNote(u.into, "no primary key: rows are told apart by %q, which Schema makes the primary key", k.Columns)
			u.into.Unique = slices.DeleteFunc(u.into.Unique, func(other *plan.Unique) bool { return other == k })
			return
		}
	}
	catalog.AddNote(u.into, "no primary key, and no unique key without NULL: equal rows are several rows, and as many are copied")
}

// column makes one column of all columns with a name.
func (u *combiner) column(name string) (c *plan.Column) {
	collation := func(c *plan.Column, options string) string {
		if c.Collation == "" && sqltype.Of(u.d, c.Type).Kind == sqltype.Text {
			return strings.TrimPrefix(options, "COLLATE=")
		}
		return c.Collation
	}
	has := func(f *catalog.Table) bool { return f.Column(name) != nil }
	for i, f := range u.found {
		switch {
		case !has(f):
		case c == nil:
			first := *f.Column(name)
			if c = &first; collation(c, f.Options) != collation(c, u.into.Options) {
				c.Collation = collation(c, f.Options)
			}
		default:
			other, source := f.Column(name), u.names[i]
			mine, theirs := collation(c, u.into.Options), collation(other, f.Options)
			if mine != theirs && sqltype.Of(u.d, c.Type).Kind == sqltype.Text {
				addSuspect(c, "collation differs: %q here, %q in source %q", mine, theirs, source)
			}
			typ, ok := sqltype.Widest(u.d, c.Type, other.Type)
			if !ok {
				addSuspect(c, "type differs: %q here, %q in source %q", c.Type, other.Type, source)
			} else if typ != c.Type {
				catalog.AddNote(u.into, "column %s: type %q, since it is %q and %q in the sources", name, typ, c.Type, other.Type)
			}
			c.Type = typ
			c.Nullable = c.Nullable || other.Nullable
			if c.Generated != other.Generated {
				addSuspect(c, "generated differently: %q here, %q in source %q", c.Generated, other.Generated, source)
			}
			if text(c.Default) != text(other.Default) {
				catalog.AddNote(u.into, "column %s: default %s, but %s in source %s", name, text(c.Default), text(other.Default), source)
			}
			if c.Options != other.Options {
				catalog.AddNote(u.into, "column %s: %q, but %q in source %s", name, c.Options, other.Options, source)
			}
		}
	}
	c.Numbered = slices.ContainsFunc(u.found, func(f *catalog.Table) bool { return slices.Contains(f.Numbered, name) })
	c.Sources = u.owners(has)
	switch {
	case c.Sources == nil:
	case c.Nullable || c.Default != nil || c.Generated != "":
		catalog.AddNote(u.into, "column %s: only in %s; rows of others get its default", name, strings.Join(c.Sources, ", "))
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

func (u *combiner) unique(k *plan.Unique) {
	same := func(other *plan.Unique) bool {
		return slices.Equal(slices.Sorted(slices.Values(k.Columns)), slices.Sorted(slices.Values(other.Columns)))
	}
	if slices.ContainsFunc(u.into.Unique, same) {
		return
	}
	added := *k
	if owners := u.owners(func(f *catalog.Table) bool { return slices.ContainsFunc(f.Unique, same) }); owners != nil {
		added.Suspects = append(added.Suspects, fmt.Sprintf("a unique key only in %s: others may have duplicates", strings.Join(owners, ", ")))
	}
	u.into.Unique = append(u.into.Unique, &added)
}

func (u *combiner) foreignKey(k *plan.ForeignKey) {
	same := func(other *plan.ForeignKey) bool {
		return slices.Equal(k.Columns, other.Columns) && slices.Equal(k.Refers, other.Refers) && k.Table == other.Table
	}
	if slices.ContainsFunc(u.into.ForeignKeys, same) {
		return
	}
	if owners := u.owners(func(f *catalog.Table) bool { return slices.ContainsFunc(f.ForeignKeys, same) }); owners != nil {
		catalog.AddNote(u.into, "foreign key %q to %s: only in %s", k.Columns, k.Table, strings.Join(owners, ", "))
	}
	added := *k
	for i := 2; slices.ContainsFunc(u.into.ForeignKeys, func(other *plan.ForeignKey) bool { return added.Name != "" && other.Name == added.Name }); i++ {
		added.Name = k.Name + "_" + strconv.Itoa(i)
	}
	u.into.ForeignKeys = append(u.into.ForeignKeys, &added)
}

func (u *combiner) index(i *plan.Index) {
	at := slices.IndexFunc(u.into.Indexes, func(other *plan.Index) bool { return other.Name == i.Name })
	if at < 0 {
		u.into.Indexes = append(u.into.Indexes, i)
	} else if other := u.into.Indexes[at]; other.Statement != i.Statement || !slices.Equal(other.Columns, i.Columns) {
		catalog.AddNote(u.into, "index %s differs between the sources", i.Name)
	}
}
