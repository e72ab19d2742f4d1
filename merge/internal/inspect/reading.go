package inspect

import (
	"github.com/shardsnow/snow/internal/refname"
	"github.com/shardsnow/snow/merge/plan"
)

// A vocabulary takes names apart, with the help of the words of a plan.
type vocabulary struct {
	*refname.Vocabulary
	plan *plan.Plan
}

// newVocabulary collects the words of a plan.
func newVocabulary(p *plan.Plan) *vocabulary {
	var tables []refname.Table
	for _, t := range p.Tables {
		named := refname.Table{Name: bare(p, t.Name)}
		for _, c := range t.Columns {
			if named.Columns = append(named.Columns, c.Name); c.Numbered {
				named.Counted = c.Name
			}
		}
		tables = append(tables, named)
	}
	return &vocabulary{refname.NewVocabulary(tables), p}
}

// thing returns the words of the name of a table, each in the singular.
func (v *vocabulary) thing(table string) []string { return v.Thing(bare(v.plan, table)) }

// NamesIDs returns a function that reports whether the name of a column says that its values are ids, in the words
// of a plan.
func NamesIDs(p *plan.Plan) func(column string) bool {
	return newVocabulary(p).NamesIDs
}

// bare returns the name of a table without its database, which says nothing of its rows.
func bare(p *plan.Plan, table string) string {
	_, name := p.Split(table)
	return name
}
