package mergetest

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// contend lets the rows of some tables compete for their names.
func (w *world) contend(seed uint64) {
	r := rand.New(rand.NewPCG(seed, 8)) // worlds are as they were without it
	for _, t := range w.tables {
		for _, u := range t.unique {
			if u.rule == plan.RuleSuffix {
				u.winner = r.IntN(3) == 0
				u.both = !u.winner && r.IntN(3) == 0
			}
		}
	}
}

// decideNames writes into the plan how rows compete for their names.
func (u *unique) decideNames(pu *plan.Unique) {
	if u.winner || u.both {
		pu.Both, pu.Template = u.both, "S{source}.{name}"
	}
	if u.winner {
		pu.Winner = []string{"1", "tag"}
	}
}

// renamedBy returns the unique key whose clashes change the names in a column.
func (t *table) renamedBy(c *column) *unique {
	for _, u := range t.unique {
		if u.rule == plan.RuleSuffix && u.rename == c.name {
			return u
		}
	}
	return nil
}

// compareName allows another name where a row that comes before it has the same one.
func (o *oracle) compareName(s *source, t *table, c *column, r row, got string) {
	o.Helper()
	u, old, taken := t.renamedBy(c), *r[c.name], false
	for at, other := range o.order {
		later := at > slices.Index(o.order, s)
		before := o.mergeOf(other) < o.mergeOf(s)
		if other == s || o.mergeOf(other) > o.mergeOf(s) || later && !u.winner && !u.both {
			continue
		}
		for _, rival := range other.rows[t.name] {
			switch {
			case *rival[c.name] != old:
			case later && t.chooses(rival), !later && o.leftOut[t.mark(rival)]:
			case before && *o.found[t.name][t.mark(rival)][c.name] != old: // it had to give way itself
			default:
				taken = taken || before || u.both || !u.winner || *rival["tag"] > *r["tag"]
			}
		}
	}
	want := old + "_" + s.name
	if u.winner || u.both {
		want = "S" + s.name + "." + old
	}
	if taken != (got != old) || taken && !strings.HasPrefix(got, want) {
		o.Errorf("%s.%s of source %s: got %q for %q, which is taken: %v", t.name, c.name, s.name, got, old, taken)
	}
}

// afterwards tests that each merge ran its statements after the merge once.
func (o *oracle) afterwards() {
	o.Helper()
	var n int
	if err := o.target.QueryRowContext(o.Context(), "SELECT COUNT(*) FROM afterwards").Scan(&n); err != nil || n != o.w.finished {
		o.Errorf("%d statements ran after %d merges, %v", n, o.w.finished, err)
	}
}

// mergeOf returns which merge a source is part of.
func (o *oracle) mergeOf(s *source) int {
	return slices.IndexFunc(o.w.merges, func(m []*source) bool { return slices.Contains(m, s) })
}

// Expressions that give what first and last give.
const firstExpression, lastExpression plan.Combine = "COALESCE({a}, {b})", "COALESCE({b}, {a})"

// combine lets rows that are merged into others leave values to them.
func (w *world) combine(seed uint64) {
	r, sums := rand.New(rand.NewPCG(seed, 9)), rand.New(rand.NewPCG(seed, 13)) // worlds are as they were without it
	for _, t := range w.tables {
		if t.shape != keyed && t.shape != linking && t.shape != natural || !slices.ContainsFunc(t.unique, func(u *unique) bool { return u.rule == plan.RuleKeep }) {
			continue
		}
		for n, c := range t.columns {
			ways := []plan.Combine{plan.CombineKeep, plan.CombineFirst, plan.CombineLast}
			if c.value == whole {
				ways = append(ways, plan.CombineMax, plan.CombineMin)
			}
			if c.value != double {
				ways = append(ways, firstExpression, lastExpression)
			}
			if strings.HasPrefix(c.name, "v") && c.value != blob {
				c.combine = ways[r.IntN(len(ways))]
			}
			if strings.HasPrefix(c.name, "v") && c.value == whole && sums.IntN(2) == 0 {
				c.combine = plan.CombineSum
			}
			if slices.ContainsFunc(w.sources, func(s *source) bool { return s.lacks[t.name+"."+c.name] }) {
				c.combine = plan.CombineKeep
			}
			if c.combine == plan.CombineSum {
				w.shrink(t, n)
			}
		}
	}
}

// shrink makes the integers of a column so small that their sums fit.
func (w *world) shrink(t *table, column int) {
	for _, s := range w.sources {
		for _, values := range s.inserts[t.name] {
			if text, ok := values[column].(string); ok {
				values[column] = new(big.Int).Rem(integer(&text), big.NewInt(1_000_003)).String()
			}
		}
	}
}

// combined is what the value of a column must be after rows were merged into its row.
func (o *oracle) combined(t *table, c *column, r row, own *string) *string {
	if c.combine == plan.CombineKeep {
		return own
	}
	result := own
	for _, other := range o.merged[t.mark(r)] {
		v := other[c.name]
		switch {
		case v == nil:
		case result == nil, c.combine == plan.CombineLast, c.combine == lastExpression:
			result = v
		case c.combine == plan.CombineMax && integer(v).Cmp(integer(result)) > 0, c.combine == plan.CombineMin && integer(v).Cmp(integer(result)) < 0:
			result = v
		case c.combine == plan.CombineSum:
			before, _, _ := strings.Cut(*v, strings.TrimPrefix(*v, "integer "))
			sum := before + new(big.Int).Add(integer(result), integer(v)).String()
			result = &sum
		}
	}
	return result
}

// integer returns the number of a value. SQLite's have their type before them.
func integer(v *string) *big.Int {
	n, ok := new(big.Int).SetString(strings.TrimPrefix(*v, "integer "), 10)
	if !ok {
		panic(fmt.Sprintf("%q is no integer", *v))
	}
	return n
}

// addSlots adds a table whose rows are numbered for each row of another one that may become one with rows of other
// sources.
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
	numbers := &unique{columns: key, rule: plan.RuleRenumber, rename: "slot"}
	if bounds := rand.New(rand.NewPCG(seed, 14)); bounds.IntN(2) == 0 {
		numbers.least = bounds.Int64N(12)
		numbers.most = bounds.Int64N(2) * (numbers.least + 1000)
	}
	t.unique = []*unique{numbers}
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

// slots returns the numbers that rows must have, by their tags. Rows of the first sources keep theirs. If a number of
// a source is taken, all of the source's rows get the lowest free numbers, from the least on. slots also returns the
// highest number that a row got so, or -1.
func (o *oracle) slots(t *table) (found map[string]*string, highest int64) {
	o.Helper()
	found, highest = map[string]*string{}, -1
	if !slices.ContainsFunc(t.columns, t.isSlot) {
		return found, highest
	}
	least := t.unique[0].least
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
			next := least
			for _, r := range rows {
				slot := number(r["slot"])
				if clash {
					for taken[owner][next] {
						next++
					}
					slot, highest = next, max(highest, next)
				}
				taken[owner][slot] = true
				text := strconv.FormatInt(slot, 10)
				found[t.mark(r)] = &text
			}
		}
	}
	return found, highest
}

// fullSlots merges the world again, into another target and with a number too few for the slots: dry run and run
// refuse it, and no row is copied. With that number the dry run is fine.
func (w *world) fullSlots(t *testing.T, e Engine, o *oracle) {
	t.Helper()
	slots := w.table("slots")
	if slots == nil || len(w.merges) > 1 {
		return
	}
	numbers := slots.unique[0]
	_, highest := o.slots(slots)
	if highest <= max(numbers.least, 1) {
		return
	}
	for _, numbers.most = range []int64{highest - 1, highest} {
		target := w.open(t, e)
		sources, p := w.inspect(t, e, w.sources)
		w.schema(t, target, p)
		m, err := merge.New(e.Dialect, target, sources, p, merge.Config{Namespace: namespace, WithoutForeignKeys: w.tight})
		if err != nil {
			t.Fatal(err)
		}
		forecast, err := m.DryRun(t.Context())
		if err != nil {
			t.Fatalf("dry run with slots up to %d: %v", numbers.most, err)
		}
		if numbers.most == highest {
			if err := forecast.Err(); !isFine(err) {
				t.Errorf("dry run with slots up to %d: %v", numbers.most, err)
			}
			continue
		}
		_, ran := m.Run(t.Context())
		for what, err := range map[string]error{"dry run": forecast.Err(), "run": ran} {
			var clash *report.ClashError
			if !errors.As(err, &clash) || clash.Table != slots.name || !strings.Contains(clash.Reason, "no number left") {
				t.Errorf("%s with slots up to %d, where one gets %d: got %v", what, numbers.most, highest, err)
			}
		}
		for _, each := range w.tables {
			var n int
			if err := target.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM "+each.name).Scan(&n); err != nil || n != 0 {
				t.Errorf("table %s has %d rows: %v", each.name, n, err)
			}
		}
	}
}
