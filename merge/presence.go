package merge

import (
	"context"
	"fmt"
	"slices"

	"github.com/shardsnow/snow/merge/plan"
)

// presence remembers which rows the target has.
type presence struct {
	engine *engine
	target queryer
	known  map[*plan.Table]map[int64]bool
	size   int
}

// of returns those of ids that the target has rows of.
func (p *presence) of(ctx context.Context, t *plan.Table, ids []int64) (map[int64]bool, error) {
	if p.size > remembered {
		p.known, p.size = nil, 0
	}
	if p.known == nil {
		p.known = map[*plan.Table]map[int64]bool{}
	}
	known := p.known[t]
	if known == nil {
		known = map[int64]bool{}
		p.known[t] = known
	}
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	var ask []int64
	for _, id := range ids {
		if !known[id] {
			ask = append(ask, id)
		}
	}
	key := t.Key()
	for part := range slices.Chunk(ask, maxIDs) {
		condition, args := p.engine.anyOf(p.engine.quote(key.Name), part)
		text := "SELECT " + p.engine.quote(key.Name) + " FROM " + p.engine.quote(t.Name) + " WHERE " + condition
		rows, err := p.engine.readAll(ctx, p.target, text, []*plan.Column{key}, args)
		if err != nil {
			return nil, p.engine.failed(fmt.Sprintf("look for rows of table %q", t.Name), err)
		}
		for _, row := range rows {
			if id, ok := idOf(row[0]); ok {
				known[id] = true
				p.size++
			}
		}
	}
	return known, nil
}
