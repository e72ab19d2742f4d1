package route

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"

	"github.com/shardsnow/snow/gormsnow/internal/analysis"
)

// joined finds the fields of a join table that give the shard. Its rows are in the shard of the row that they
// belong to: of the model that has the many-to-many association, or of the other one if only that has shards.
func (r *rules) joined(m *model, s *schema.Schema) {
	var found *membership
	for _, rel := range relationsOver(s) {
		d := r.member(rel)
		switch {
		case d.refused != "":
			m.refused = d.refused
			return
		case found != nil && (d.key != found.key || d.source != found.source || d.ofKey != found.ofKey || d.ofSource != found.ofSource):
			m.refused = fmt.Sprintf("%s and %s have it as the table of an association, and its rows would be in the shards of either: drop one of the associations", found.owner, d.owner)
			return
		}
		found = &d
	}
	switch {
	case found == nil:
	case found.key == "":
		m.global = found.global
	default:
		m.key, m.source, m.ofKey, m.ofSource = s.LookUpField(found.key), s.LookUpField(found.source), found.ofKey, found.ofSource
	}
}

// A membership says which columns of a join table give the shard.
type membership struct {
	owner, key, source string // both are the same column, or empty if no model of the association has shards
	ofKey, ofSource    analysis.Kind
	global             bool // both models are
	refused            string
}

func (r *rules) member(rel *schema.Relationship) (d membership) {
	owner, other := r.model(rel.Schema), r.model(rel.FieldSchema)
	d.owner, d.global = owner.name+"."+rel.Name, owner.global && other.global
	own := owner.sharded()
	if !own {
		owner = other
	}
	if d.refused = owner.refused; d.refused != "" || !owner.sharded() {
		return d
	}
	for _, ref := range rel.References {
		if ref.PrimaryKey == nil || ref.PrimaryValue != "" || ref.OwnPrimaryKey != own {
			continue
		}
		switch owner.field(ref.PrimaryKey.DBName) {
		case nil:
		case owner.key:
			d.key, d.ofKey = ref.ForeignKey.DBName, owner.ofKey
		case owner.source:
			d.source, d.ofSource = ref.ForeignKey.DBName, owner.ofSource
		}
	}
	switch {
	case d.key == "" && d.source == "":
		d.refused = fmt.Sprintf("the table of %s has neither %s of %s: refer to one", d.owner, owner.columns(), owner.name)
	case d.key == "":
		d.key, d.ofKey = d.source, d.ofSource
	case d.source == "":
		d.source, d.ofSource = d.key, d.ofKey
	}
	return d
}

// relationsOver returns the many-to-many relations whose join table is s, if there are any.
func relationsOver(s *schema.Schema) (all []*schema.Relationship) {
	var ends []*schema.Schema
	s.Relationships.Mux.RLock()
	for _, rel := range s.Relationships.Relations {
		if rel.Type == schema.BelongsTo && rel.FieldSchema != s {
			ends = append(ends, rel.FieldSchema)
		}
	}
	s.Relationships.Mux.RUnlock()
	seen := make(map[*schema.Relationship]bool)
	ours := false
	for _, end := range ends {
		for _, rel := range end.Relationships.Many2Many {
			if rel.JoinTable.Table == s.Table && !seen[rel] {
				seen[rel] = true
				ours = ours || rel.JoinTable == s
				all = append(all, rel)
			}
		}
	}
	if !ours {
		return nil
	}
	slices.SortFunc(all, func(a, b *schema.Relationship) int { // errors name them in this order
		return cmp.Or(cmp.Compare(a.Schema.Name, b.Schema.Name), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// through returns the shards of a query that GORM makes for db.Association: rows of a model that are joined to
// the rows of a join table.
func (r *rules) through(b *bound, rows *model) (found set, refused string) {
	const own = "it has a FROM clause of its own"
	from, _ := b.stmt.Clauses["FROM"].Expression.(clause.From)
	if len(from.Tables) > 0 || len(from.Joins) != 1 || len(b.stmt.Joins) > 0 {
		return set{}, own
	}
	on := from.Joins[0]
	m := r.tables[on.Table.Name]
	switch {
	case on.Expression != nil || on.Type != "" || on.Table.Alias != "" || on.Table.Raw || len(on.Using) > 0:
		return set{}, own
	case m == nil:
		return set{}, fmt.Sprintf("it joins %q, of which the router does not know whose rows it has: pass the owner to Models, or preload", on.Table.Name)
	case m.refused != "":
		return set{}, m.refused
	case !rows.global:
		return set{}, fmt.Sprintf("rows of %s may be in other shards than their rows of %q: preload them", rows.name, on.Table.Name)
	case m.global:
		return set{known: true}, ""
	}
	for _, e := range on.ON.Exprs {
		var column any
		var values []any
		switch e := e.(type) {
		case clause.Eq:
			column, values = e.Column, []any{e.Value}
		case clause.IN:
			column, values = e.Column, e.Values
		default:
			return set{}, own
		}
		c, _ := column.(clause.Column)
		if f := m.field(c.Name); f != nil && strings.EqualFold(c.Table, on.Table.Name) {
			one := set{known: true}
			for _, v := range values {
				shard, known := m.shard(f, v)
				if !known {
					one = set{}
					break
				}
				one.add(r.one(shard))
			}
			found = meet(found, one)
		}
	}
	if !found.known {
		return set{}, fmt.Sprintf("it joins %q without a condition on %s", on.Table.Name, m.columns())
	}
	return found, ""
}
