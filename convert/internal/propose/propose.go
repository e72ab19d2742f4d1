package propose

import (
	"slices"

	"github.com/shardsnow/snow/convert/internal/schema"
	"github.com/shardsnow/snow/convert/plan"
	"github.com/shardsnow/snow/internal/sqldialect"
	mergeplan "github.com/shardsnow/snow/merge/plan"
)

// Small is the size in bytes up to which a table is altered on PostgreSQL, which takes about a second.
const Small = 16 << 20

// A proposer makes a plan of a schema, and of what merge proposes for it.
type proposer struct {
	dialect sqldialect.Dialect
	schema  *schema.Schema
	found   *mergeplan.Plan
	plan    *plan.Plan
	all     []*plan.Table // with the ones that do not change

	barredColumns map[string]map[string]bool // that should become wider and can't, by table
}

// Plan returns the plan for a database. What merge found in it may be decided or not.
func Plan(d sqldialect.Dialect, s *schema.Schema, found *mergeplan.Plan) *plan.Plan {
	p := &proposer{
		dialect: d, schema: s, found: found, barredColumns: map[string]map[string]bool{},
		plan: &plan.Plan{Version: plan.Version, Dialect: d.String(), Server: s.Product + " " + s.Version, Guards: s.Elsewhere, Notes: slices.Clone(s.Notes)},
	}
	p.tables()
	p.widen()
	p.ask()
	for _, t := range p.all {
		p.wide(t)
		p.sort(t)
	}
	p.groups()
	p.order()
	p.notes()
	p.programs()
	return p.plan
}

// tables makes a table of the plan of each table.
func (p *proposer) tables() {
	for _, s := range p.schema.Tables {
		m := p.merge(s.Name)
		if m == nil || isOurs(s.Name) {
			continue
		}
		t := &plan.Table{Name: s.Name, PrimaryKey: m.PrimaryKey, Method: plan.None, Rows: s.Rows, Bytes: s.Bytes}
		if c := counter(s, m.PrimaryKey); c != nil {
			t.Counter, t.Sequence = c.Kind, c.Sequence
			if !c.Hidden { // programs can't give it ids
				t.Key = c.Column
			}
		} else if len(s.Counted) > 0 && p.dialect == sqldialect.MySQL {
			t.Counter = s.Counted[0].Kind // it needs a guard
		}
		for _, k := range m.ForeignKeys {
			t.ForeignKeys = append(t.ForeignKeys, &plan.ForeignKey{
				Name: k.Name, Columns: k.Columns, Refers: k.Table, RefColumns: k.Refers, OnDelete: action(k.OnDelete), OnUpdate: action(k.OnUpdate),
			})
		}
		p.all = append(p.all, t)
	}
}

// merge returns merge's table of a name, or nil.
func (p *proposer) merge(name string) *mergeplan.Table {
	for _, t := range p.found.Tables {
		if t.Name == name {
			return t
		}
	}
	return nil
}

func (p *proposer) table(name string) *plan.Table {
	for _, t := range p.all {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// counter returns what numbers the rows of a table: the counter of a column of the primary key, or else the first.
// Beside a primary key of one integer another column does not number the rows.
func counter(s *schema.Table, primaryKey []string) *schema.Counter {
	at := slices.IndexFunc(s.Counted, func(c schema.Counter) bool { return slices.Contains(primaryKey, c.Column) })
	if at < 0 && len(s.Counted) > 0 && !isInteger(s, primaryKey) {
		at = 0
	}
	if at < 0 {
		return nil
	}
	return &s.Counted[at]
}

func isInteger(s *schema.Table, primaryKey []string) bool {
	if len(primaryKey) != 1 {
		return false
	}
	c := s.Column(primaryKey[0])
	return c != nil && (plan.Wide(c.Type) != "" || plan.IsWide(c.Type))
}

// action returns an action of a foreign key as plans have it.
func action(s string) string {
	if s == "NO ACTION" || s == "RESTRICT" {
		return ""
	}
	return s
}

// widen adds the keys, and the columns of foreign keys that refer to columns that become wider: such columns may be
// referred to themselves. A key that can't become wider is none.
func (p *proposer) widen() {
	for _, t := range p.all {
		if t.Key == "" {
			continue
		}
		if p.add(t, t.Key, ""); p.barredColumns[t.Name][t.Key] {
			t.Key = ""
		}
	}
	p.followAll()
}

// followAll widens the columns of foreign keys, until there is nothing more.
func (p *proposer) followAll() {
	for changed := true; changed; {
		changed = false
		for _, t := range p.all {
			for _, k := range t.ForeignKeys {
				changed = p.follow(t, k) || changed
			}
		}
	}
}

// follow widens the columns of a foreign key whose other ends are wide, or become so.
func (p *proposer) follow(t *plan.Table, k *plan.ForeignKey) (changed bool) {
	parent := p.table(k.Refers)
	if parent == nil {
		return false
	}
	for i, name := range k.Columns {
		ref := k.RefColumns[i]
		if parent.Column(ref) != nil || ref == parent.Key {
			changed = p.add(t, name, parent.Name) || changed
		}
		// MySQL wants both ends to be of one type. On PostgreSQL a key may be wider than what refers to it.
		if p.dialect == sqldialect.MySQL && t.Column(name) != nil {
			changed = p.add(parent, ref, "") || changed
		}
	}
	return changed
}

// add adds a column that becomes wider, if it is not there and is narrow.
func (p *proposer) add(t *plan.Table, name, refers string) bool {
	c := t.Column(name)
	if c != nil {
		if c.Refers == "" && refers != "" && refers != t.Name {
			c.Refers = refers
		}
		return false
	}
	s := p.schema.Table(t.Name).Column(name)
	if s == nil || plan.Wide(s.Type) == "" {
		return false
	}
	if p.barred(t, name) != "" {
		if p.barredColumns[t.Name] == nil {
			p.barredColumns[t.Name] = map[string]bool{}
		}
		p.barredColumns[t.Name][name] = true
		return false
	}
	t.Columns = append(t.Columns, &plan.Column{Name: name, Type: s.Type, To: plan.Wide(s.Type), Refers: refers})
	return true
}

// sort puts the columns of a table into their order.
func (p *proposer) sort(t *plan.Table) {
	at := func(c *plan.Column) int {
		return slices.IndexFunc(p.schema.Table(t.Name).Columns, func(s schema.Column) bool { return s.Name == c.Name })
	}
	slices.SortFunc(t.Columns, func(a, b *plan.Column) int { return at(a) - at(b) })
}

// wide notes the columns of the key and of foreign keys that are wide already.
func (p *proposer) wide(t *plan.Table) {
	note := func(table *plan.Table, name string) {
		s := p.schema.Table(table.Name).Column(name)
		if s != nil && plan.IsWide(s.Type) && !slices.Contains(table.Wide, name) {
			table.Wide = append(table.Wide, name)
		}
	}
	if t.Key != "" {
		note(t, t.Key)
	}
	for _, k := range t.ForeignKeys {
		parent := p.table(k.Refers)
		for i, name := range k.Columns {
			if note(t, name); parent != nil {
				note(parent, k.RefColumns[i])
			}
		}
	}
}

// isOurs reports whether a conversion has made a table.
func isOurs(name string) bool {
	for _, prefix := range []string{"snow_convert_", "_snow_"} {
		if len(name) > len(prefix) && name[:len(prefix)] == prefix {
			return true
		}
	}
	return false
}
