package inspect

import (
	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/merge/internal/catalog"
	"github.com/shardsnow/snow/merge/plan"
)

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
