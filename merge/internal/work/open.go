package work

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/inspect"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// OpenInPlan returns what the plan itself leaves open.
func (j *Job) OpenInPlan() (open []report.Open) {
	for _, text := range j.Plan.Accepted {
		open = append(open, report.Open{Kind: report.OpenAccepted, Reason: text})
	}
	for _, t := range j.Plan.Tables {
		for _, c := range t.Columns {
			if !t.Skip && c.Generated != "" && !c.Decided && !ledger.IsComputedAlike(t, c) {
				open = append(open, report.Open{
					Kind: report.OpenUnchecked, Table: t.Name, Column: c.Name,
					Reason: "it is generated from values that change, or by a function that does: it is not compared; if it is right so, list it under plain",
				})
			}
		}
	}
	return open
}

// Seen is what the values of rows have shown of the plan: which paths led to something, and samples of columns that
// nobody has decided on. One goroutine uses it at a time.
type Seen struct {
	paths   map[path]bool // that were looked at: whether they led to a value
	samples map[*plan.Column]sample
}

// RefKey is a kind of reference: a column and which of its references it is.
type RefKey struct {
	Column *plan.Column
	Ref    int
}

// A path is one of JSON or of a packed value, in rows of a source.
type path struct {
	RefKey
	source string
}

// NewSeen returns one of no rows.
func NewSeen() *Seen {
	return &Seen{paths: map[path]bool{}, samples: map[*plan.Column]sample{}}
}

// Add adds what other rows have shown.
func (s *Seen) Add(o *Seen) {
	for key, reached := range o.paths {
		s.paths[key] = s.paths[key] || reached
	}
	for c, values := range o.samples {
		all := s.samples[c]
		for _, v := range values {
			all = all.add(v)
		}
		s.samples[c] = all
	}
}

// Reach notes which paths of a column have led to a value in rows of a source.
func (s *Seen) Reach(source string, column *rekey.IDColumn) {
	column.Looked(func(ref int, reached bool) {
		key := path{RefKey{column.Column, ref}, source}
		s.paths[key] = s.paths[key] || reached
	})
}

// EmptyPaths returns the paths that led to nothing in any value of a source.
func (j *Job) EmptyPaths(found *Seen) (open []report.Open) {
	for _, t := range j.Plan.Tables {
		for _, c := range t.Columns {
			for i, ref := range c.Refers {
				for _, source := range j.Plan.SourcesOf(t) {
					if reached, looked := found.paths[path{RefKey{c, i}, source}]; looked && !reached {
						open = append(open, report.Open{
							Kind: report.OpenUnchecked, Source: source, Table: t.Name, Column: c.Name,
							Reason: fmt.Sprintf("no value of the source has anything at path %q: if ids are elsewhere there, old ones are copied as they are", ref.Path),
						})
					}
				}
			}
		}
	}
	return open
}

// SampleRows keeps samples of the plain columns that nobody has decided on.
func (j *Job) SampleRows(s *Seen, t *ledger.SourceTable, rows [][]any) {
	for n, c := range t.Columns {
		if !j.undecided(t.Table, c) {
			continue
		}
		of := s.samples[c]
		for _, row := range rows {
			of = of.look(row[n])
		}
		s.samples[c] = of
	}
}

// undecided reports whether a column is plain, and nobody has decided so.
func (j *Job) undecided(t *plan.Table, c *plan.Column) bool {
	return c.Role == plan.RolePlain && !c.Decided && j.Plan.Question(t.Name+"."+c.Name) == nil && sqltype.Of(j.Engine.Kind, c.Type).Kind != sqltype.Time
}

// Leftovers returns the plain columns that nobody has decided on and that look like ids: by their names, or because
// their values are all ids of one table, and not only small ones. A source in which no row gets a new id has none.
func (j *Job) Leftovers(ctx context.Context, conns *chunk.Conns, t *ledger.SourceTable, found *Seen) (open []report.Open, err error) {
	var parents []*plan.Table
	for _, p := range j.Plan.Tables {
		if !p.Skip && p.In(t.Source) && p.Key() != nil && (p.Rekeys(t.Source) || p.Merges(j.Plan.Sources)) {
			parents = append(parents, p)
		}
	}
	if len(parents) == 0 {
		return nil, nil
	}
	namesIDs := inspect.NamesIDs(j.Plan)
	for _, c := range t.Columns {
		values, any := found.samples[c].ids()
		if !any {
			continue
		}
		var owners []*plan.Table
		// Few values are ids by chance. So are small numbers, unless somebody has put them into a text or JSON.
		if small := sqltype.Of(j.Engine.Kind, c.Type).Kind == sqltype.Integer && !slices.ContainsFunc(values, func(v int64) bool { return v >= smallest }); !small && len(values) >= inspect.FewestUnnamed {
			if owners, err = ownersOf(ctx, conns, t, parents, values); err != nil {
				return nil, err
			}
		}
		var reasons []string
		for _, owner := range owners {
			reasons = append(reasons, fmt.Sprintf("all of %d sampled numbers are ids of table %q", len(values), owner.Name))
		}
		named := namesIDs(c.Name)
		if named {
			reasons = append([]string{"it is named like ids"}, reasons...)
		}
		if len(reasons) > 0 {
			open = append(open, report.Open{
				Kind: report.OpenUndecided, Source: t.Source, Table: t.Table.Name, Column: c.Name, Certainty: likely(named, len(owners)),
				Reason: "it is plain, but " + strings.Join(reasons, ", and ") + ": if these are references, the plan is wrong; if not, list it under plain",
			})
		}
	}
	return open, nil
}

// likely returns how likely a column has ids that has a name like ids, or not, and only ids of some tables.
func likely(named bool, owners int) float64 {
	switch {
	case owners == 0:
		return 0.3
	case named:
		return 0.95
	}
	return 0.4 + 0.5/float64(owners)
}

// InOrder sorts what is open: what is most likely wrong comes first. Of a column that nobody has decided on, which is
// decided for all sources at once, it keeps the first.
func InOrder(open []report.Open) (kept []report.Open) {
	slices.SortStableFunc(open, func(a, b report.Open) int { return cmp.Compare(b.Certainty, a.Certainty) })
	for _, o := range open {
		if o.Kind != report.OpenUndecided || !slices.ContainsFunc(kept, func(other report.Open) bool {
			return other.Kind == o.Kind && other.Table == o.Table && other.Column == o.Column
		}) {
			kept = append(kept, o)
		}
	}
	return kept
}

// ownersOf returns the tables that have rows of all the ids in values, which ascend.
func ownersOf(ctx context.Context, conns *chunk.Conns, t *ledger.SourceTable, parents []*plan.Table, values []int64) (owners []*plan.Table, err error) {
	source, err := conns.Source(ctx, t.Source)
	if err != nil {
		return nil, err
	}
	for _, parent := range parents {
		n, most, err := (&rekey.Checker{Engine: source.Engine, Q: source}).Count(ctx, parent, values)
		if err != nil {
			return nil, err
		}
		if n == len(values) && inspect.Reaches(values, 0, most) {
			owners = append(owners, parent)
		}
	}
	return owners, nil
}

// smallest is the least number that integers must reach to be taken for ids: levels, flags and the like stay below it.
const smallest = 256
