package inspect

import (
	"context"

	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/merge/internal/catalog"
	"github.com/shardsnow/snow/merge/plan"
)

// Propose returns a plan to merge databases. The first one has precedence.
func Propose(ctx context.Context, d sqldialect.Dialect, databases []Database) (*plan.Plan, error) {
	e := &evidence{
		dialect: d, rows: map[string]Rows{}, catalogs: map[string]*catalog.Catalog{},
		ranges: map[tableOf]keyRange{}, samples: map[tableOf]*sample{},
		keyIDs: map[tableOf][]int64{}, kindOf: map[*plan.Column]*plan.Column{},
	}
	var catalogs []*catalog.Catalog
	for _, db := range databases {
		e.names = append(e.names, db.Name)
		e.rows[db.Name], e.catalogs[db.Name] = db.Rows, db.Catalog
		catalogs = append(catalogs, db.Catalog)
	}
	e.plan = combine(d, e.names, catalogs)
	words := newVocabulary(e.plan)
	i, references, clashes := &inspector{e, words}, &referenceFinder{e, words}, &clashFinder{e}
	i.keys()
	e.survey(ctx)
	solver := &solver{evidence: e, vocabulary: words, joins: map[string][]join{}}
	for _, c := range catalogs {
		for _, j := range c.Joins {
			solver.joins[j.Left] = append(solver.joins[j.Left], join{j.Right, j.Where})
			solver.joins[j.Right] = append(solver.joins[j.Right], join{j.Left, j.Where})
		}
	}
	solver.keysOf(ctx)
	i.newIDs()
	i.dates()
	references.find(ctx)
	solver.references(ctx)
	clashes.dictionaries(ctx)
	clashes.copies()
	clashes.clashes(ctx)
	clashes.twins(ctx)
	solver.ask()
	if e.err != nil {
		return nil, e.err
	}
	return e.plan, nil
}

// Schema returns the plan that follows from the schemas of databases alone: primary keys of one integer are keys, and
// columns of foreign keys to them are references.
func Schema(d sqldialect.Dialect, databases []Database) *plan.Plan {
	e := &evidence{dialect: d, catalogs: map[string]*catalog.Catalog{}}
	var catalogs []*catalog.Catalog
	for _, db := range databases {
		e.names, catalogs = append(e.names, db.Name), append(catalogs, db.Catalog)
		e.catalogs[db.Name] = db.Catalog
	}
	e.plan = combine(d, e.names, catalogs)
	(&inspector{evidence: e}).keys()
	return e.plan
}
