package mergetest

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/shardsnow/snow/merge/plan"
)

// addSlots adds a table whose rows are numbered for each row of another one that may become one with rows of other sources.
func (w *world) addSlots(seed uint64) {
	r := rand.New(rand.NewPCG(seed, 10)) // tables are as they were without it
	var owners []*table
	for _, t := range w.tables {
		if (t.shape == keyed || t.shape == dictionary) && slices.ContainsFunc(t.unique, func(u *unique) bool { return u.rule == plan.RuleKeep || u.rule == plan.RuleMatch }) {
			owners = append(owners, t)
		}
	}
	if len(owners) == 0 {
		return
	}
	owner := owners[r.IntN(len(owners))]
	key := []string{"owner_id", "slot"}
	t := &table{name: "slots", shape: leaf, newIDs: w.ids, primary: []string{"id"}}
	if r.IntN(2) == 0 {
		t.shape, t.primary = natural, key
	} else {
		t.columns = append(t.columns, &column{name: "id", role: plan.RoleKey})
	}
	t.columns = append(t.columns,
		&column{name: "tag", role: plan.RolePlain, value: text},
		&column{name: "owner_id", role: plan.RoleReference, declared: true, refers: []*plan.Reference{{Table: owner.name}}},
		&column{name: "slot", role: plan.RolePlain, value: whole, nullable: t.ids() && r.IntN(2) == 0},
	)
	t.unique = []*unique{{columns: key, rule: plan.RuleRenumber, rename: "slot"}}
	w.tables = append(w.tables, t)
	for _, s := range w.sources {
		id := slices.IndexFunc(owner.columns, func(c *column) bool { return c.name == "id" })
		var rows [][]any
		for _, of := range s.inserts[owner.name] {
			for _, slot := range r.Perm(8)[:r.IntN(4)] {
				var v any = strconv.Itoa(slot)
				if t.column("slot").nullable && r.IntN(6) == 0 {
					v = nil
				}
				rows = append(rows, []any{of[id], v})
			}
		}
		r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		if t.ids() {
			s.keys[t.name] = w.newKeys(s, t, len(rows))
		}
		for i, row := range rows {
			values := slices.Concat([]any{tag(s, t, i)}, row)
			if t.ids() {
				values = slices.Concat([]any{strconv.FormatInt(s.keys[t.name][i], 10)}, values)
			}
			s.inserts[t.name] = append(s.inserts[t.name], values)
		}
	}
}

// isSlot reports whether rows get other numbers in a column.
func (t *table) isSlot(c *column) bool {
	return slices.ContainsFunc(t.unique, func(u *unique) bool { return u.rule == plan.RuleRenumber && u.rename == c.name })
}

// slots returns the numbers that rows must have, by their tags: those of sources that come first keep theirs, and where one of a
// source is not free, all of its rows get the lowest that are.
func (o *oracle) slots(t *table) map[string]*string {
	o.Helper()
	found := map[string]*string{}
	if !slices.ContainsFunc(t.columns, t.isSlot) {
		return found
	}
	taken := map[string]map[int64]bool{}
	for _, s := range o.order {
		groups := map[string][]row{}
		for _, r := range s.rows[t.name] {
			if !o.gone[t.mark(r)] && r["slot"] != nil {
				owner := *o.mapped(s, t.column("owner_id"), r)
				groups[owner] = append(groups[owner], r)
			}
		}
		for owner, rows := range groups {
			slices.SortFunc(rows, func(a, b row) int {
				return cmp.Or(cmp.Compare(number(a["owner_id"]), number(b["owner_id"])), cmp.Compare(number(a["slot"]), number(b["slot"])))
			})
			if taken[owner] == nil {
				taken[owner] = map[int64]bool{}
			}
			free := map[int64]bool{}
			clash := false
			for _, r := range rows {
				slot := number(r["slot"])
				clash = clash || taken[owner][slot] || free[slot]
				free[slot] = true
			}
			next := int64(0)
			for _, r := range rows {
				slot := number(r["slot"])
				if clash {
					for taken[owner][next] {
						next++
					}
					slot = next
				}
				taken[owner][slot] = true
				text := strconv.FormatInt(slot, 10)
				found[t.mark(r)] = &text
			}
		}
	}
	return found
}
