package mergetest

import (
	"database/sql"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/merge/plan"
)

// An oracle knows what must have become of each row of the sources.
type oracle struct {
	*testing.T
	w      *world
	e      Engine
	target *sql.DB
	rows   map[string][]row                       // of the target
	found  map[string]map[string]row              // of the target, by table and tag, or by code in a dictionary
	ids    map[*source]map[string]map[int64]int64 // new ones, by table and old id
	gone   map[string]bool                        // tags of rows that gave way to others, or are left out
	left   map[old]bool                           // rows that are left out
	merged map[string][]row                       // the rows that gave way to another one, by its tag
	order  []*source                              // by precedence

	leftOut map[string]bool                     // the tags of rows that are left out
	looking func(ref *plan.Reference, id int64) // is told of each id instead, if it is not nil
}

func newOracle(t *testing.T, e Engine, w *world, target *sql.DB) *oracle {
	t.Helper()
	o := &oracle{
		T: t, w: w, e: e, target: target, rows: make(map[string][]row), found: make(map[string]map[string]row),
		ids: make(map[*source]map[string]map[int64]int64), gone: make(map[string]bool), order: slices.Concat(w.merges...),
	}
	for _, t := range w.tables {
		rows, err := readTable(o.Context(), e.Dialect, target, t, t.columns)
		if err != nil {
			o.Fatal(err)
		}
		o.rows[t.name], o.found[t.name] = rows, make(map[string]row)
		for _, r := range rows {
			if t.shape == heap {
				break // they may be equal
			}
			mark := t.mark(r)
			if o.found[t.name][mark] != nil {
				o.Errorf("%s: %s is in the target twice", t.name, mark)
			}
			o.found[t.name][mark] = r
		}
	}
	return o
}

// mark is what tells a row in all databases.
func (t *table) mark(r row) string {
	if t.shape == dictionary {
		return *r["code"]
	}
	return *r["tag"]
}

func (o *oracle) check() {
	o.Helper()
	for _, s := range o.order {
		o.ids[s] = make(map[string]map[int64]int64)
	}
	o.leave()
	o.leftOut, o.merged = maps.Clone(o.gone), make(map[string][]row)
	for _, t := range o.w.tables {
		if t.ids() {
			o.learn(t)
		}
	}
	for _, t := range o.w.tables {
		if t.shape == heap {
			o.compareHeap(t)
			continue
		}
		if !t.ids() {
			o.giveWay(t)
		}
		o.count(t)
		for _, s := range o.order {
			o.compareTable(s, t)
		}
	}
	o.minted()
	o.numbered()
	o.exported()
	o.afterwards()
}

// learn finds the new ids of a table.
func (o *oracle) learn(t *table) {
	o.Helper()
	winners := make(map[string]row) // by name
	for _, s := range o.order {
		ids := make(map[int64]int64)
		o.ids[s][t.name] = ids
		for _, r := range s.rows[t.name] {
			old, there := number(r["id"]), o.found[t.name][t.mark(r)]
			if o.leftOut[t.mark(r)] {
				continue
			}
			for _, u := range t.unique {
				if u.rule != plan.RuleKeep {
					continue
				}
				if winner := winners[*r["name"]]; winner != nil {
					if there != nil {
						o.Errorf("%s: %s should have given way to %s", t.name, t.mark(r), t.mark(winner))
					}
					o.gone[t.mark(r)], there = true, winner
					o.merged[t.mark(winner)] = append(o.merged[t.mark(winner)], r)
				} else {
					winners[*r["name"]] = there
				}
			}
			if there == nil {
				o.Errorf("%s: %s is lost", t.name, t.mark(r))
				continue
			}
			ids[old] = number(there["id"])
		}
	}
}

// giveWay finds the rows of a table without ids that gave way to others.
func (o *oracle) giveWay(t *table) {
	taken := make(map[string]string) // by whom
	for _, u := range t.unique {
		if u.rule != plan.RuleKeep {
			continue
		}
		for _, s := range o.order {
			for _, r := range s.rows[t.name] {
				if o.leftOut[t.mark(r)] {
					continue
				}
				key := ""
				for _, name := range u.columns {
					v := *r[name]
					if c := t.column(name); c.role == plan.RoleReference {
						v = *o.mapped(s, c, r)
					}
					key += v + "/"
				}
				if winner, ok := taken[key]; ok {
					o.gone[t.mark(r)] = true
					o.merged[winner] = append(o.merged[winner], r)
					continue
				}
				taken[key] = t.mark(r)
			}
		}
	}
}

// count compares how many rows there are.
func (o *oracle) count(t *table) {
	o.Helper()
	want := make(map[string]bool)
	for _, s := range o.order {
		for _, r := range s.rows[t.name] {
			if !o.gone[t.mark(r)] {
				want[t.mark(r)] = true
			}
		}
	}
	if len(o.rows[t.name]) != len(want) {
		o.Errorf("%s: the target has %d rows, want %d", t.name, len(o.rows[t.name]), len(want))
	}
}

// compareTable compares the rows of a source with the target's rows.
func (o *oracle) compareTable(s *source, t *table) {
	o.Helper()
	slots, _ := o.slots(t)
	for _, r := range s.rows[t.name] {
		got := o.found[t.name][t.mark(r)]
		switch {
		case o.gone[t.mark(r)]:
			if got != nil {
				o.Errorf("%s: %s is there, and should have given way, or be left out", t.name, t.mark(r))
			}
			continue
		case got == nil:
			o.Errorf("%s: %s is lost", t.name, t.mark(r))
			continue
		}
		for _, c := range t.columns {
			if c.role == plan.RoleKey || t.shape == dictionary && s.lacks[t.name+"."+c.name] {
				continue // what is learned from here, or what another source knows
			}
			want := o.combined(t, c, r, o.mapped(s, c, r))
			if t.isSlot(c) {
				want = slots[t.mark(r)]
			}
			switch {
			case c.role == plan.RoleJSON && want != nil && got[c.name] != nil:
				if !reflect.DeepEqual(parse(*want), parse(*got[c.name])) {
					o.Errorf("%s.%s of %s: got %s, want %s", t.name, c.name, t.mark(r), *got[c.name], *want)
				}
			case t.renamed(c):
				o.compareName(s, t, c, r, *got[c.name])
			case show(want) != show(got[c.name]):
				o.Errorf("%s.%s of %s: got %s, want %s", t.name, c.name, t.mark(r), show(got[c.name]), show(want))
			}
		}
	}
}

// renamed reports whether values of a column get a suffix where they clash.
func (t *table) renamed(c *column) bool {
	return slices.ContainsFunc(t.unique, func(u *unique) bool { return u.rule == plan.RuleSuffix && u.rename == c.name })
}

// mapped is what the value of a column must be in the target.
func (o *oracle) mapped(s *source, c *column, r row) *string {
	o.Helper()
	v := r[c.name]
	if v == nil || c.zero && *v == "0" {
		return v
	}
	switch c.role {
	case plan.RoleReference:
		id := o.newID(s, c, c.refers[0], *v)
		if none := "0"; id == nil && !c.nullable && c.zero {
			return &none
		}
		return id
	case plan.RolePolymorphic:
		for _, ref := range c.refers {
			if kind := r[c.by]; kind != nil && (*kind == ref.Value || ref.Value == plan.AnyKind && *kind != "first") {
				return o.newID(s, c, ref, *v)
			}
		}
	case plan.RoleList:
		var parts []string
		for _, part := range strings.Split(*v, c.separation()) {
			if part == "" {
				continue
			}
			if id := o.newID(s, c, c.refers[0], part); id != nil {
				parts = append(parts, *id)
			}
		}
		list := strings.Join(parts, c.separation())
		return &list
	case plan.RoleJSON:
		return o.mappedJSON(s, c, *v)
	case plan.RoleName:
		return o.newName(s, c.refers[0], v)
	}
	return v
}

// newID returns the new id as text, or nil of one that no row has.
func (o *oracle) newID(s *source, c *column, ref *plan.Reference, old string) *string {
	o.Helper()
	if o.looking != nil {
		o.looking(ref, number(&old))
		return nil
	}
	id, ok := o.ids[s][ref.Table][number(&old)]
	if !ok {
		if c.orphans != plan.OrphansNull && (c.gone != plan.OrphansNull || !o.lost(s, ref.Table, number(&old))) {
			o.Errorf("source %s: %s refers to %s %s, which is lost", s.name, c.name, ref.Table, old)
		}
		return nil
	}
	text := strconv.FormatInt(id, 10)
	return &text
}

func (o *oracle) mappedJSON(s *source, c *column, v string) *string {
	o.Helper()
	doc := parse(v).(map[string]any)
	change := func(ref *plan.Reference, old any) any {
		switch old := old.(type) {
		case json.Number:
			if id := o.newID(s, c, ref, old.String()); id != nil {
				return json.Number(*id)
			}
		case string:
			if id := o.newID(s, c, ref, old); id != nil {
				return *id
			}
		}
		return nil
	}
	if old, ok := doc["owner"]; ok {
		doc["owner"] = change(c.refers[0], old)
	}
	if items, ok := doc["items"].([]any); ok {
		for _, item := range items {
			item := item.(map[string]any)
			item["id"] = change(c.refers[1], item["id"])
		}
	}
	if ids, ok := doc["ids"].([]any); ok {
		kept := []any{}
		for _, old := range ids {
			if id := change(c.refers[2], old); id != nil {
				kept = append(kept, id)
			}
		}
		doc["ids"] = kept
	}
	b, err := json.Marshal(doc)
	if err != nil {
		o.Fatal(err)
	}
	text := string(b)
	return &text
}

// minted checks the ids themselves: rows that had ids of snow keep them, the
// others' come from a number that no source has, in the order of the old ones.
func (o *oracle) minted() {
	o.Helper()
	used, lanes := make(map[uint64]bool), make(map[uint64]string)
	for _, s := range o.order {
		used[s.worker] = !s.mints
	}
	for _, s := range o.order {
		for _, t := range o.w.tables {
			if t.newIDs.AreNumbers() {
				continue
			}
			last := int64(0)
			for _, old := range slices.Sorted(maps.Keys(o.ids[s][t.name])) {
				id := o.ids[s][t.name][old]
				merged := t.shape == dictionary || slices.ContainsFunc(t.unique, func(u *unique) bool { return u.rule == plan.RuleKeep })
				if merged && !o.own(s, t, id) {
					continue
				}
				if !s.mints {
					if id != old {
						o.Errorf("source %s: %s %d has become %d", s.name, t.name, old, id)
					}
					continue
				}
				p, err := o.w.layout.Decompose(snow.ID(id))
				if err != nil {
					o.Fatalf("source %s: %s %d has become %d: %v", s.name, t.name, old, id, err)
				}
				if holder, ok := lanes[p.Worker]; used[p.Worker] || ok && holder != s.name {
					o.Errorf("source %s: %s %d has become %d of worker %d, which is that of others", s.name, t.name, old, id, p.Worker)
				}
				lanes[p.Worker] = s.name
				if shard := o.w.layout.Bits().Shard; id>>shard <= last>>shard {
					o.Errorf("source %s: %s %d has become %d, after %d", s.name, t.name, old, id, last)
				}
				last = id
			}
		}
	}
}

func parse(text string) any {
	var v any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return err.Error()
	}
	return v
}
