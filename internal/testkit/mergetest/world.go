package mergetest

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/merge/plan"
)

// A world is some databases of one schema, to be merged.
type world struct {
	random *rand.Rand
	layout snow.Layout

	packRows int      // of the runs
	ids      plan.IDs // new ones, of most tables
	leave    int64    // numbers, by each merge
	tables   []*table
	sources  []*source
	merges   [][]*source // the sources of each merge, in the order of their precedence
	tight    bool        // there are cycles of references that can't be NULL
	finished int         // merges that left no question open
}

// A source is one database, and by table what was inserted into it and what it
// then says it has.
type source struct {
	name    string
	db      *sql.DB
	mints   bool // its rows get new ids; otherwise they have ids of snow
	worker  uint64
	lacks   map[string]bool // "table.column" and "table"
	keys    map[string][]int64
	inserts map[string][][]any // in the order of columns
	rows    map[string][]row
}

// A row has a value, as text, for each column of the table; NULL is nil.
type row map[string]*string

// A shape is how rows of a table are told apart.
type shape int

const (
	keyed      shape = iota // by an id
	linking                 // by two references
	dictionary              // by an id, but the word in code is one thing in all sources
	natural                 // by a text
	leaf                    // by an id that nothing refers to
	heap                    // not at all: rows may be equal
	member                  // by an id, which is a member of the primary key and has a unique key of its own
)

type table struct {
	name    string
	shape   shape
	newIDs  plan.IDs
	columns []*column
	primary []string
	unique  []*unique
	links   []*table // linking: whose ids its rows consist of
	chosen  bool     // a condition leaves rows out
	empty   bool     // all rows are left out
	follows *table   // a table of shape linking that its rows refer to, by a composite foreign key
}

type unique struct {
	columns []string
	rule    plan.Rule
	rename  string
	winner  bool // the row with the greatest tag keeps its name
	both    bool // no row does

	least, most int64 // of new numbers; most 0 for no bound but the column's
}

// A column is one, with the truth about it.
type column struct {
	name      string
	value     value // of plain columns
	role      plan.Role
	nullable  bool
	declared  bool // the schema has a foreign key
	text      bool // a reference that is a text
	zero      bool // 0 is for none
	orphans   plan.Orphans
	gone      plan.Orphans
	combine   plan.Combine
	refers    []*plan.Reference
	by        string
	separator string
}

func (w *world) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "new ids %q, %d left; ", w.ids, w.leave)
	for _, m := range w.merges {
		b.WriteString("merge")
		for _, s := range m {
			fmt.Fprintf(&b, " %s(mints %v)", s.name, s.mints)
		}
		b.WriteString("; ")
	}
	for _, t := range w.tables {
		fmt.Fprintf(&b, "\n%s %v %s:", t.name, t.primary, t.newIDs)
		if t.empty || t.chosen {
			fmt.Fprintf(&b, " loses rows (all: %v):", t.empty)
		}
		for _, c := range t.columns {
			fmt.Fprintf(&b, " %s %s", c.name, c.role)
			for _, r := range c.refers {
				fmt.Fprintf(&b, " %s%s%s", r.Value, r.Table, r.Path)
			}
			if c.declared {
				b.WriteString(" declared")
			}
			if c.nullable {
				b.WriteString(" null")
			}
			if c.combine != "" {
				fmt.Fprintf(&b, " combine %s", c.combine)
			}
			if c.gone != "" {
				fmt.Fprintf(&b, " gone %s", c.gone)
			}
			b.WriteString(",")
		}
		for _, u := range t.unique {
			fmt.Fprintf(&b, " unique %v %s (winner %v, both %v, %d to %d)", u.columns, u.rule, u.winner, u.both, u.least, u.most)
		}
	}
	return b.String()
}

func newWorld(tb testing.TB, seed uint64) *world {
	w := &world{random: rand.New(rand.NewPCG(seed, 99)), layout: layoutOf(tb, uint8(seed/2%4/3*4)), packRows: []int{1, 1, 1, 1, -1}[seed%5]}
	w.tight = w.random.IntN(8) == 0
	w.ids = []plan.IDs{plan.IDsOffset, "", plan.IDsDense}[seed%3]
	w.leave = []int64{0, 1, 1000}[seed/3%3]
	for i := range 2 + w.random.IntN(5) {
		w.tables = append(w.tables, &table{name: fmt.Sprintf("t%d", i), shape: []shape{keyed, keyed, keyed, linking, dictionary, natural, member}[w.random.IntN(7)]})
	}
	if !slices.ContainsFunc(w.tables, func(t *table) bool { return t.shape == keyed }) {
		w.tables[0].shape = keyed
	}
	if w.random.IntN(3) > 0 {
		w.tables = append(w.tables, &table{name: "leaf", shape: leaf})
	}
	if w.random.IntN(2) == 0 {
		w.tables = append(w.tables, &table{name: "heap", shape: heap})
	}
	for i, t := range w.tables {
		if t.shape == linking && len(w.before(i)) == 0 {
			t.shape = keyed
		}
		w.fillIn(i, t)
	}
	w.call(seed)
	for i := range 2 + w.random.IntN(2) {
		w.sources = append(w.sources, &source{
			name: fmt.Sprintf("s%d", i+1), mints: i == 0 || w.random.IntN(2) == 0, worker: uint64(i + 1),
			lacks: make(map[string]bool), keys: make(map[string][]int64), rows: make(map[string][]row),
		})
	}
	for i, t := range w.tables {
		if t.newIDs = w.ids; (seed/9+uint64(i))%5 == 0 {
			t.newIDs = ""
		}
	}
	w.merges = [][]*source{w.sources}
	// columns get their types by the first merge
	narrow := w.ids.AreNumbers() && slices.ContainsFunc(w.sources, func(s *source) bool { return !s.mints })
	if len(w.sources) == 3 && w.random.IntN(2) == 0 && !narrow {
		w.merges = [][]*source{w.sources[:2], w.sources[2:]}
	}
	for _, s := range w.sources {
		w.leaveOut(s)
		w.populate(s)
	}
	return w
}

// leaveOut makes the schema of a source drift: it lacks some columns. Another one of the first
// merge has them, for the target gets its tables from that.
func (w *world) leaveOut(s *source) {
	if s == w.sources[0] {
		return
	}
	for _, t := range w.tables {
		for _, c := range t.columns {
			if w.ids.AreNumbers() && c.role != plan.RolePlain { // its type would be too narrow for ids of snow
				continue
			}
			free := c.role == plan.RolePlain && c.nullable && c.name != "made" && c.name != "title" && !strings.HasSuffix(c.name, "_kind") || c.role == plan.RoleReference && c.nullable && !c.declared
			if free && w.random.IntN(8) == 0 {
				s.lacks[t.name+"."+c.name] = true
			}
		}
	}
}

// before are the tables before the i-th that have ids.
func (w *world) before(i int) []*table {
	return slices.DeleteFunc(slices.Clone(w.tables[:i]), func(t *table) bool { return !t.ids() || t.shape == leaf })
}

func (t *table) ids() bool {
	return t.shape == keyed || t.shape == dictionary || t.shape == leaf || t.shape == member
}

func (t *table) column(name string) *column {
	for _, c := range t.columns {
		if c.name == name {
			return c
		}
	}
	return nil
}

func (w *world) table(name string) *table {
	for _, t := range w.tables {
		if t.name == name {
			return t
		}
	}
	return nil
}

// fillIn gives table i its columns and keys.
func (w *world) fillIn(i int, t *table) {
	r := w.random
	add := func(c *column) *column {
		t.columns = append(t.columns, c)
		return c
	}
	if t.ids() {
		t.primary = []string{"id"}
		add(&column{name: "id", role: plan.RoleKey})
	}
	if t.shape == dictionary {
		add(&column{name: "code", role: plan.RolePlain, value: text})
		add(&column{name: "title", role: plan.RolePlain, value: text, nullable: true})
		t.unique = append(t.unique, &unique{columns: []string{"code"}, rule: plan.RuleMatch})
		return
	}
	if t.shape == member {
		t.primary = []string{"place", "id"}
		add(&column{name: "place", role: plan.RolePlain, value: truth})
		t.unique = append(t.unique, &unique{columns: []string{"id"}, rule: plan.RuleFail})
	}
	add(&column{name: "tag", role: plan.RolePlain, value: text})
	if t.shape == natural {
		t.primary = []string{"code"}
		add(&column{name: "code", role: plan.RolePlain, value: text})
		rule := []plan.Rule{plan.RuleKeep, plan.RuleSuffix}[r.IntN(2)]
		t.unique = append(t.unique, &unique{columns: t.primary, rule: rule, rename: "code"})
	}
	if t.shape == linking {
		before := w.before(i)
		t.links = []*table{before[r.IntN(len(before))], before[r.IntN(len(before))]}
		t.primary = []string{"a", "b"}
		for j, name := range t.primary {
			add(&column{name: name, role: plan.RoleReference, declared: true, refers: []*plan.Reference{{Table: t.links[j].name}}})
		}
		t.unique = append(t.unique, &unique{columns: t.primary, rule: plan.RuleKeep})
	}
	for j := range r.IntN(4) {
		add(&column{name: fmt.Sprintf("v%d", j), role: plan.RolePlain, value: value(r.IntN(int(values))), nullable: r.IntN(2) == 0})
	}
	add(&column{name: "made", role: plan.RolePlain, value: moment, nullable: true})
	if before := w.before(i); t.shape == leaf {
		for j := range r.IntN(3) {
			c := add(&column{name: fmt.Sprintf("r%d_id", j), role: plan.RoleReference, refers: []*plan.Reference{{Table: before[r.IntN(len(before))].name}}})
			c.declared, c.zero, c.nullable = r.IntN(2) == 0, r.IntN(4) == 0, r.IntN(2) == 0
			c.zero = c.zero && !c.declared
		}
		if r.IntN(3) == 0 {
			add(&column{name: "name", role: plan.RolePlain, value: text})
			t.unique = append(t.unique, &unique{columns: []string{"name"}, rule: plan.RuleSuffix, rename: "name"})
		}
		return
	}
	if t.shape == heap {
		for j := range value(values) { // whether or not databases can sort or compare them
			if r.IntN(3) == 0 {
				add(&column{name: fmt.Sprintf("h%d", j), role: plan.RolePlain, value: j, nullable: true})
			}
		}
	}
	for j := range r.IntN(4) {
		w.addReference(i, t, fmt.Sprintf("r%d", j))
	}
	if t.shape == keyed && r.IntN(3) == 0 {
		add(&column{name: "name", role: plan.RolePlain, value: text})
		rule := []plan.Rule{plan.RuleKeep, plan.RuleSuffix}[r.IntN(2)]
		t.unique = append(t.unique, &unique{columns: []string{"name"}, rule: rule, rename: "name"})
	}
	if links := slices.DeleteFunc(slices.Clone(w.tables[:i]), func(t *table) bool { return t.shape != linking }); len(links) > 0 && r.IntN(2) == 0 {
		t.follows = links[r.IntN(len(links))]
		for j, name := range []string{"fa", "fb"} {
			add(&column{name: name, role: plan.RoleReference, declared: true, nullable: true, refers: []*plan.Reference{{Table: t.follows.links[j].name}}})
		}
	}
}

// addReference adds one column, or two, that refers to any table, also to its
// own and to later ones.
func (w *world) addReference(i int, t *table, name string) {
	r := w.random
	any := func() *table {
		var all []*table
		for _, t := range w.tables {
			if t.ids() && t.shape != leaf {
				all = append(all, t)
			}
		}
		return all[r.IntN(len(all))]
	}
	c := &column{name: name + "_id", nullable: true, refers: []*plan.Reference{{Table: any().name}}}
	t.columns = append(t.columns, c)
	if r.IntN(4) == 0 {
		c.orphans = plan.OrphansNull
	}
	switch r.IntN(8) {
	case 0:
		c.name, c.role, c.separator = name+"_ids", plan.RoleList, []string{"", "|", ", "}[r.IntN(3)]
	case 1:
		c.name, c.role = name, plan.RoleJSON
		c.refers = []*plan.Reference{
			{Table: any().name, Path: "$.owner"}, {Table: any().name, Path: "$.items[*].id"}, {Table: any().name, Path: "$.ids[*]"},
		}
	case 2:
		c.role, c.by = plan.RolePolymorphic, name+"_kind"
		by := &column{name: c.by, role: plan.RolePlain, value: text, nullable: true}
		t.columns = slices.Insert(t.columns, len(t.columns)-1, by) // before c, for its value goes by it
		c.refers = []*plan.Reference{{Table: any().name, Value: "first"}, {Table: any().name, Value: []string{"second", plan.AnyKind}[len(t.columns)%2]}}
	case 3, 4:
		c.role, c.text = plan.RoleReference, r.IntN(3) == 0
		c.zero = r.IntN(3) == 0
	default:
		c.role, c.declared, c.orphans = plan.RoleReference, true, plan.OrphansFail
		before := w.before(i)
		switch {
		case w.tight && r.IntN(3) == 0:
			c.nullable = false
		case len(before) > 0 && r.IntN(3) == 0:
			c.nullable, c.refers[0].Table = false, before[r.IntN(len(before))].name
		}
		if r.IntN(4) == 0 && t.shape == keyed && slices.ContainsFunc(before, func(t *table) bool { return t.name == c.refers[0].Table }) {
			t.unique = append(t.unique, &unique{columns: []string{c.name, "tag"}, rule: plan.RuleFail})
		}
	}
}
