package plan

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// randomGraph returns a plan of tables with foreign keys in all directions.
func randomGraph(r *rand.Rand) *Plan {
	p := &Plan{}
	n := 1 + r.IntN(7)
	for i := range n {
		t := &Table{Name: fmt.Sprintf("t%d", i), PrimaryKey: []string{"id"}, Skip: r.IntN(12) == 0}
		t.Columns = append(t.Columns, &Column{Name: "id", Role: RoleKey})
		for k := range r.IntN(3) {
			c := &Column{Name: fmt.Sprintf("r%d", k), Nullable: r.IntN(2) == 0}
			t.Columns = append(t.Columns, c)
			t.ForeignKeys = append(t.ForeignKeys, &ForeignKey{Columns: []string{c.Name}, Table: fmt.Sprintf("t%d", r.IntN(n)), Refers: []string{"id"}})
		}
		p.Tables = append(p.Tables, t)
	}
	return p
}

// impossible reports whether foreign keys that can't be NULL go form a circle.
func impossible(p *Plan) bool {
	reach := map[[2]*Table]bool{}
	for _, t := range p.Tables {
		for _, k := range t.ForeignKeys {
			if parent := p.Table(k.Table); !t.Skip && !parent.Skip && !t.Column(k.Columns[0]).Nullable {
				reach[[2]*Table{t, parent}] = true
			}
		}
	}
	for _, via := range p.Tables {
		for _, a := range p.Tables {
			for _, b := range p.Tables {
				if reach[[2]*Table{a, via}] && reach[[2]*Table{via, b}] {
					reach[[2]*Table{a, b}] = true
				}
			}
		}
	}
	return slices.ContainsFunc(p.Tables, func(t *Table) bool { return reach[[2]*Table{t, t}] })
}

func TestStages(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	failed := 0
	for range 3000 {
		p := randomGraph(r)
		stages, err := p.Stages(false)
		if impossible(p) {
			failed++
			if !errors.As(err, new(*Error)) {
				t.Fatalf("a circle that can't be broken: got %v", err)
			}
			if stages, err = p.Stages(true); err != nil {
				t.Fatal(err)
			}
			for _, st := range stages {
				if len(st.Deferred) > 0 {
					t.Fatal("columns are NULL at first without need")
				}
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		done := map[*Table]bool{}
		for _, st := range stages {
			for _, k := range st.Table.ForeignKeys {
				parent, c := p.Table(k.Table), st.Table.Column(k.Columns[0])
				deferred := slices.Contains(st.Deferred, c)
				if deferred && (!c.Nullable || done[parent] || parent.Skip) || !deferred && !done[parent] && !parent.Skip {
					t.Fatalf("%s.%s to %s: deferred %t, which is there %t", st.Table.Name, c.Name, k.Table, deferred, done[parent])
				}
			}
			done[st.Table] = true
		}
		for _, table := range p.Tables {
			if done[table] == table.Skip {
				t.Fatalf("table %s: skip %t, copied %t", table.Name, table.Skip, done[table])
			}
		}
	}
	if failed < 100 {
		t.Errorf("only %d plans had a circle", failed)
	}
}

// Only what a circle needs is NULL at first.
func TestDeferredColumns(t *testing.T) {
	column := func(name string, nullable bool) *Column { return &Column{Name: name, Nullable: nullable} }
	key := func(column, table string) *ForeignKey {
		return &ForeignKey{Columns: []string{column}, Table: table, Refers: []string{"id"}}
	}
	p := &Plan{Tables: []*Table{
		{Name: "items", PrimaryKey: []string{"id"}, Columns: []*Column{column("owner", true)}, ForeignKeys: []*ForeignKey{key("owner", "players")}},
		{Name: "players", PrimaryKey: []string{"id"}, Columns: []*Column{column("guild", true), column("friend", true)}, ForeignKeys: []*ForeignKey{key("guild", "guilds"), key("friend", "players")}},
		{Name: "guilds", Columns: []*Column{column("leader", false)}, ForeignKeys: []*ForeignKey{key("leader", "players")}},
	}}
	stages, err := p.Stages(false)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, st := range stages {
		got += st.Table.Name + ":"
		for _, c := range st.Deferred {
			got += " " + c.Name
		}
		got += "; "
	}
	if want := "players: guild friend; guilds:; items:; "; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestOrderOfMinting(t *testing.T) {
	column := func(name, table string) *Column {
		c := &Column{Name: name, Role: RolePlain}
		if table != "" {
			c.Role, c.Refers = RoleReference, []*Reference{{Table: table}}
		}
		return c
	}
	keep := func(columns ...string) []*Unique { return []*Unique{{Columns: columns, Rule: RuleKeep}} }
	players := &Table{Name: "players", Columns: []*Column{column("account", "accounts"), column("name", "")}, Unique: keep("account")}
	accounts := &Table{Name: "accounts", Columns: []*Column{column("email", ""), column("best", "players")}, Unique: keep("email")}
	p := &Plan{Sources: []string{"a", "b"}, Tables: []*Table{{Name: "gone", Skip: true}, players, accounts}}
	order, err := p.MintOrder()
	if err != nil || len(order) != 2 || order[0] != accounts || order[1] != players {
		t.Errorf("got %v (%v), want accounts, then players", order, err)
	}
	accounts.Unique = keep("best")
	var bad *Error
	if _, err := p.MintOrder(); !errors.As(err, &bad) {
		t.Errorf("a circle: got %v, want an *Error", err)
	}
	accounts.Unique = append(keep("email"), &Unique{Columns: []string{"best"}, Rule: RuleKeep, Prefer: []string{"b"}}, &Unique{Rule: RuleSuffix, Prefer: []string{"b"}})
	if _, err := p.Precedence(accounts); !errors.As(err, &bad) {
		t.Errorf("two orders: got %v, want an *Error", err)
	}
	accounts.Unique[0].Prefer = []string{"b", "a"}
	if order, err := p.Precedence(accounts); err != nil || strings.Join(order, "") != "ba" {
		t.Errorf("got %v (%v), want b, a", order, err)
	}
}

func TestKeysThatMergeNothing(t *testing.T) {
	// The pair is unique in both databases, and its player gets a new id in one of them.
	items := &Table{
		Name: "items", Columns: []*Column{{Name: "id", Role: RoleKey}, {Name: "owner", Role: RoleReference, Refers: []*Reference{{Table: "players"}}}},
		PrimaryKey: []string{"id"}, Unique: []*Unique{{Columns: []string{"id", "owner"}, Rule: RuleMatch}}, NewIDs: []string{"b"},
	}
	players := &Table{
		Name: "players", Columns: []*Column{{Name: "id", Role: RoleKey}, {Name: "name", Role: RolePlain}}, PrimaryKey: []string{"id"},
		Unique: []*Unique{{Columns: []string{"name"}, Rule: RuleKeep}}, NewIDs: []string{"a", "b"},
	}
	p := &Plan{Sources: []string{"a", "b"}, Tables: []*Table{items, players}}
	for _, c := range []struct {
		table   *Table
		sources []string
		want    bool
	}{
		{items, []string{"a"}, true},
		{items, []string{"b"}, false}, // nobody else has its new ids
		{items, p.Sources, true},
		{players, []string{"b"}, true},
		{players, nil, false},
	} {
		if got := c.table.Merges(c.sources); got != c.want {
			t.Errorf("rows of %s of table %s: merged %t, want %t", c.sources, c.table.Name, got, c.want)
		}
	}
	if got := p.MintParents(items); len(got) != 1 || got[0] != players {
		t.Errorf("items wait for %v, want players", got)
	}
	players.Unique = nil
	if got := p.MintParents(items); len(got) != 0 {
		t.Errorf("items wait for %v, and players are never merged", got)
	}
}

// The error of a circle of references that leave rows out says which one it is, and what to do.
func TestCircleOfLeftOutRows(t *testing.T) {
	drops := func(name, table string) *Column {
		return &Column{Name: name, Role: RoleReference, Refers: []*Reference{{Table: table}}, Gone: OrphansDrop}
	}
	table := func(name string, columns ...*Column) *Table {
		return &Table{Name: name, PrimaryKey: []string{"id"}, Columns: append([]*Column{{Name: "id", Role: RoleKey}}, columns...)}
	}
	merging := func(name, parent string) *Table {
		t := table(name, &Column{Name: "of", Role: RoleReference, Refers: []*Reference{{Table: parent}}})
		t.NewIDs, t.Unique = []string{"eu", "us"}, []*Unique{{Columns: []string{"of"}, Rule: RuleKeep}}
		return t
	}
	for want, tables := range map[string][]*Table{
		`a circle, b → b: rows go with what column "b.spouse" refers to`:           {table("a"), table("b", drops("account", "a"), drops("spouse", "b"))},
		`a circle, c → b → c: rows go with what column "c.leader" refers to`:       {table("c", drops("leader", "b")), table("a"), table("b", drops("account", "a"), drops("guild", "c"))},
		`Choose null for its gone and orphans (except under along), or name all r`: {table("a", drops("self", "a"))},
		`a circle, d → e → d: which rows become one`:                               {merging("d", "e"), merging("e", "d")},
	} {
		if _, err := (&Plan{Sources: []string{"eu", "us"}, Tables: tables}).MintOrder(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if _, err := (&Plan{Tables: []*Table{table("a"), table("b", drops("account", "a"))}}).MintOrder(); err != nil {
		t.Errorf("no circle: %v", err)
	}
}
