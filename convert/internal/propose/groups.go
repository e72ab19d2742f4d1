package propose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shardsnow/snow/convert/plan"
	"github.com/shardsnow/snow/internal/sqldialect"
)

// groups numbers the tables that change together, and gives them their methods.
func (p *proposer) groups() {
	leader := map[string]string{}
	var find func(name string) string
	find = func(name string) string {
		if leader[name] == "" || leader[name] == name {
			return name
		}
		leader[name] = find(leader[name])
		return leader[name]
	}
	for _, t := range p.all {
		for _, k := range t.ForeignKeys {
			if parent := p.table(k.Refers); parent != nil && p.connects(t, parent, k) {
				leader[find(t.Name)] = find(parent.Name)
			}
		}
	}
	numbers := map[string]int{}
	for _, t := range p.all {
		if len(t.Columns) == 0 {
			continue
		}
		root := find(t.Name)
		if numbers[root] == 0 {
			numbers[root] = len(numbers) + 1
		}
		t.Group = numbers[root]
		t.Why = strings.Join(p.why(t), "; ")
	}
	for _, t := range p.all {
		if len(t.Columns) > 0 {
			p.method(t)
		}
	}
}

// connects reports whether two tables have to change together. On MySQL all foreign keys between them connect, since
// they follow a table whose name changes.
func (p *proposer) connects(t, parent *plan.Table, k *plan.ForeignKey) bool {
	if len(t.Columns) == 0 || len(parent.Columns) == 0 {
		return false
	}
	return p.dialect == sqldialect.MySQL || slices.ContainsFunc(k.Columns, func(name string) bool { return t.Column(name) != nil })
}

// why returns why a table can't change online by itself.
func (p *proposer) why(t *plan.Table) (reasons []string) {
	s := p.schema.Table(t.Name)
	if len(t.PrimaryKey) == 0 {
		reasons = append(reasons, "it has no primary key")
	}
	if p.dialect != sqldialect.MySQL {
		if s.Partition != "" {
			reasons = append(reasons, "it is partitioned")
		}
		if len(s.Heirs) > 0 {
			reasons = append(reasons, "tables inherit from it: "+strings.Join(s.Heirs, ", "))
		}
		return reasons
	}
	if s.Engine != "InnoDB" {
		reasons = append(reasons, fmt.Sprintf("its engine is %s", s.Engine))
	}
	if len(s.Triggers) > 0 {
		reasons = append(reasons, "it has triggers of its own: "+strings.Join(s.Triggers, ", "))
	}
	for _, child := range p.all {
		if slices.ContainsFunc(child.ForeignKeys, func(k *plan.ForeignKey) bool { return k.Refers == t.Name }) && len(child.Columns) == 0 {
			reasons = append(reasons, fmt.Sprintf("%s refers to it and does not change", child.Name))
		}
	}
	if p.schema.KeysInSQL {
		for _, k := range t.ForeignKeys {
			if k.OnDelete != "" || k.OnUpdate != "" {
				reasons = append(reasons, fmt.Sprintf("its foreign key %s has actions, which this server carries out in SQL", k.Name))
			}
		}
	}
	for _, o := range s.Outside {
		if o.Inward {
			reasons = append(reasons, fmt.Sprintf("%s refers to it from another database", o.Other))
		} else {
			reasons = append(reasons, fmt.Sprintf("it refers to %s in another database", o.Other))
		}
	}
	return reasons
}

// method gives a table its method. On MySQL all tables of a group have one.
func (p *proposer) method(t *plan.Table) {
	t.Method = plan.Online
	if t.Why != "" {
		t.Method = plan.Alter
		return
	}
	if p.dialect != sqldialect.MySQL {
		if t.Bytes <= Small {
			t.Method, t.Why = plan.Alter, "it is small"
		}
		return
	}
	for _, other := range p.all {
		if other.Group == t.Group && other != t && other.Why != "" && !strings.HasPrefix(other.Why, sameAs) {
			t.Method, t.Why = plan.Alter, sameAs+other.Name
			return
		}
	}
}

const sameAs = "foreign keys connect it with "

// order puts parents before their children, and leaves out what does not change and is not counted.
func (p *proposer) order() {
	seen := map[*plan.Table]bool{}
	var visit func(t *plan.Table)
	visit = func(t *plan.Table) {
		if seen[t] {
			return
		}
		seen[t] = true
		for _, k := range t.ForeignKeys {
			if parent := p.table(k.Refers); parent != nil {
				visit(parent)
			}
		}
		if len(t.Columns) > 0 || t.Counter != "" {
			p.plan.Tables = append(p.plan.Tables, t)
		}
	}
	for _, t := range p.all {
		visit(t)
	}
}
