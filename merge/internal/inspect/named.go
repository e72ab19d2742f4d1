package inspect

import "github.com/shardsnow/snow/merge/plan"

// NamesIDs returns a function that reports whether the name of a column says that its values are ids, in the words of a plan.
func NamesIDs(p *plan.Plan) func(column string) bool {
	v := newVocabulary(p)
	return func(column string) bool {
		r := v.read(column)
		return r.id || r.named() && !r.plural
	}
}
