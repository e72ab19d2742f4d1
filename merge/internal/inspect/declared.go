package inspect

import (
	"maps"
	"slices"
	"strings"

	"github.com/shardsnow/snow/merge/internal/catalog"
	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
)

// keys sets the roles that the schemas declare: keys, and references to them by foreign keys.
func (i *inspector) keys() {
	var waiting []*plan.Table // those whose primary key may be a reference
	for _, t := range i.plan.Tables {
		if len(t.PrimaryKey) != 1 {
			continue
		}
		c := t.Column(t.PrimaryKey[0])
		if c == nil || c.Generated != "" || !sqltype.Of(i.dialect, c.Type).IsNumber() {
			continue
		}
		if slices.ContainsFunc(t.ForeignKeys, func(k *plan.ForeignKey) bool { return slices.Contains(k.Columns, c.Name) }) {
			waiting = append(waiting, t)
		} else {
			c.Role = plan.RoleKey
		}
	}
	for _, t := range i.plan.Tables {
		if t.Key() == nil && !slices.Contains(waiting, t) {
			i.uniqueKey(t)
		}
	}
	for {
		i.follow()
		at := slices.IndexFunc(waiting, func(t *plan.Table) bool { return t.Column(t.PrimaryKey[0]).Role == plan.RolePlain })
		if at < 0 {
			return
		}
		// Its foreign keys lead to no key, or form a circle.
		waiting[at].Column(waiting[at].PrimaryKey[0]).Role = plan.RoleKey
		waiting = slices.Delete(waiting, at, at+1)
	}
}

// follow makes columns of foreign keys to keys, or to references, references.
func (i *inspector) follow() {
	for changed := true; changed; {
		changed = false
		for _, t := range i.plan.Tables {
			for _, k := range t.ForeignKeys {
				parent := i.plan.Table(k.Table)
				if parent == nil {
					continue
				}
				for n, name := range k.Columns {
					c := t.Column(name)
					if c == nil || c.Role != plan.RolePlain || c.Generated != "" {
						continue
					}
					if of := parent.IDsOf(k.Refers[n]); of != "" {
						c.Role, c.Refers = plan.RoleReference, []*plan.Reference{{Table: of}}
						changed = true
					}
				}
			}
		}
	}
}

// newIDs decides which sources get new ids.
func (i *inspector) newIDs() {
	for _, t := range i.plan.Tables {
		key := t.Key()
		single := map[int64][]string{} // sources by the id of their only row
		for _, source := range i.plan.SourcesOf(t) {
			numbered := i.catalogs[source].Table(t.Name).Numbered
			for _, name := range numbered {
				if key == nil || key.Name != name {
					catalog.AddNote(t, "column %s: source %s counts it up; the target does so only where ids are offset or dense", name, source)
				}
			}
			if key == nil {
				continue
			}
			r := i.ranges[tableOf{source, t.Name}]
			if r.any && r.min < sqlvalue.BigID || !r.any && slices.Contains(numbered, key.Name) {
				t.NewIDs = append(t.NewIDs, source)
			}
			if !r.any {
				continue
			}
			if r.min < sqlvalue.BigID && r.max >= sqlvalue.BigID {
				addSuspect(key, "ids of source %q are of two kinds, from %d to %d: if all of them get new ones, those that are snowflakes change too", source, r.min, r.max)
			}
			if r.min < 0 {
				addSuspect(key, "ids of source %q begin at %d: negative numbers are not taken for ids elsewhere", source, r.min)
			}
			if r.min == r.max && r.max <= 1 {
				single[r.max] = append(single[r.max], source)
			}
		}
		for _, id := range slices.Sorted(maps.Keys(single)) {
			addSuspect(key, "a single row, of id %d in %s: does a program ask for it by this number?", id, strings.Join(single[id], ", "))
		}
	}
}

// uniqueKey makes an integer with a unique key of its own the key of a table whose primary key is another one: if
// sources count it up, or foreign keys refer to it, or it is a member of the primary key, which tells rows apart
// without it. It may be a reference to another table then: the solver weighs that, and asks.
func (i *inspector) uniqueKey(t *plan.Table) {
	var found []*plan.Column
	for _, u := range t.Unique {
		if len(u.Columns) != 1 {
			continue
		}
		c := t.Column(u.Columns[0])
		if c == nil || c.Nullable || c.Generated != "" || len(c.Sources) > 0 || len(u.Suspects) > 0 || !sqltype.Of(i.dialect, c.Type).IsNumber() {
			continue
		}
		if slices.ContainsFunc(t.ForeignKeys, func(k *plan.ForeignKey) bool { return slices.Contains(k.Columns, c.Name) }) {
			continue
		}
		if i.numbers(t, c) || i.referred(t, c) || slices.Contains(t.PrimaryKey, c.Name) {
			found = append(found, c)
		}
	}
	if len(found) == 1 {
		found[0].Role = plan.RoleKey
	}
}

// referred reports whether foreign keys refer to a column alone.
func (i *inspector) referred(t *plan.Table, c *plan.Column) bool {
	return slices.ContainsFunc(i.plan.Tables, func(child *plan.Table) bool {
		return slices.ContainsFunc(child.ForeignKeys, func(k *plan.ForeignKey) bool {
			return k.Table == t.Name && slices.Equal(k.Refers, []string{c.Name})
		})
	})
}
