package clash

import (
	"cmp"
	"context"
	"hash/maphash"
	"slices"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// Finder finds rows that clash in a unique key with rows of the target or of
// earlier sources, and decides what becomes of them. The databases compare, by
// the collations of their columns. It is not safe for concurrent use.
//
// Tables must come in the order of [plan.Plan.MintOrder], and the sources of a table
// in the order of [plan.Plan.Precedence].
type Finder struct {
	e     *dialect.Dialect
	plan  *plan.Plan
	conns *chunk.Conns
	ids   Identities

	Empty   map[string]bool   // tables that the target has no rows of
	renames map[uint64]uint64 // new names, and which row has them, both hashed
	seed    maphash.Seed
}

// New returns one that asks by the sessions of conns, and takes rows for one as ids says.
func New(p *plan.Plan, conns *chunk.Conns, ids Identities) *Finder {
	return &Finder{
		e: conns.Engine, plan: p, conns: conns, ids: ids,
		Empty: map[string]bool{}, renames: map[uint64]uint64{}, seed: maphash.MakeSeed(),
	}
}

// A contest is a unique key where the rows of a source may clash.
type contest struct {
	table   *plan.Table
	unique  *plan.Unique
	columns []*plan.Column
	ahead   []string // those whose rows come first: the target, then sources
	// from this one on, sources ahead have a lower precedence, and their rows may come first all the same
	later   int
	others  []*plan.Column
	settled bool // all rows are decided on
}

const inTarget = ""

// contests returns the unique keys that rows of a source may clash in.
func (c *Finder) contests(t *plan.Table, source string) []*contest {
	uniques := t.Unique
	if len(t.PrimaryKey) > 0 && !slices.ContainsFunc(uniques, func(u *plan.Unique) bool { return slices.Equal(u.Columns, t.PrimaryKey) }) {
		uniques = append([]*plan.Unique{{Columns: t.PrimaryKey, Rule: plan.RuleFail}}, uniques...)
	}
	var all []*contest
	for _, u := range uniques {
		k := &contest{table: t, unique: u, columns: chunk.ColumnsOf(t, u.Columns)}
		if !k.in(source) {
			// A minted key is nobody else's. What the target computes or gives a
			// default to is not known yet: it will refuse the row.
			continue
		}
		k.ahead = []string{inTarget}
		for _, s := range c.plan.Preferred(t, u) {
			if s == source {
				if k.later = len(k.ahead); !competes(u) {
					break
				}
			} else if k.in(s) {
				k.ahead = append(k.ahead, s)
			}
		}
		if u.Rule == plan.RuleMatch {
			for _, column := range t.Columns {
				if column.Role == plan.RolePlain && column.Generated == "" && column.Combine == plan.CombineKeep && !slices.Contains(k.columns, column) {
					k.others = append(k.others, column)
				}
			}
		}
		all = append(all, k)
	}
	// A row that got another number is not found by its primary key any more.
	slices.SortStableFunc(all, func(a, b *contest) int { return cmp.Compare(a.last(), b.last()) })
	return all
}

func (k *contest) last() int {
	if k.unique.Rule == plan.RuleRenumber {
		return 1
	}
	return 0
}

// in reports whether rows of the source take part.
func (k *contest) in(source string) bool {
	return k.table.In(source) && !slices.ContainsFunc(k.columns, func(c *plan.Column) bool {
		return !c.In(source) || c.Generated != "" || c.Role == plan.RoleKey && k.table.Rekeys(source)
	})
}

// has reports whether a place has a column of a table that it has.
func has(place string, c *plan.Column) bool { return place == inTarget || c.In(place) }

// Needs returns the columns whose values decide must be given.
func (c *Finder) Needs(t *plan.Table, source string) []*plan.Column {
	need := map[*plan.Column]bool{}
	for _, column := range chunk.ColumnsOf(t, t.RowKey()) {
		need[column] = true
	}
	for _, k := range c.contests(t, source) {
		for _, column := range slices.Concat(k.columns, k.others) {
			need[column] = column.In(source)
			if column.By != "" {
				need[t.Column(column.By)] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(t.Columns), func(column *plan.Column) bool { return !need[column] })
}

func (c *Finder) blobs() bool { return c.e.Kind == sqlsnow.SQLite }

// isEmpty reports whether the target has no rows of a table. Nothing is copied
// while clashes are looked for, so that stays as it is.
func (c *Finder) isEmpty(ctx context.Context, t *plan.Table) (empty bool, err error) {
	empty, known := c.Empty[t.Name]
	if !known {
		var rows int
		if err := c.conns.Target.QueryRowContext(ctx, "SELECT COUNT(*) FROM (SELECT 1 FROM "+c.conns.Target.Engine.Table(t.Name)+" LIMIT 1) AS found").Scan(&rows); err != nil {
			return false, c.e.Failed("look for clashes", err)
		}
		empty = rows == 0
		c.Empty[t.Name] = empty
	}
	return empty, nil
}

// competes reports whether a row of a source may have to give way to a row of a source that comes later.
func competes(u *plan.Unique) bool { return u.Rule == plan.RuleSuffix && (u.Both || len(u.Winner) > 0) }

// CombinedColumns returns the columns where rows get values that come from rows merged into them.
func CombinedColumns(t *plan.Table) []*plan.Column {
	return slices.DeleteFunc(slices.Clone(t.Columns), func(c *plan.Column) bool { return c.Combine == plan.CombineKeep })
}
