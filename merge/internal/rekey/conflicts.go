package rekey

import (
	"context"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// An Ident is what a row is in the target: a key there, or that of a row of a
// source whose key in the target is not known yet.
type Ident struct {
	source string // empty for the target
	Key    int64
}

// Identities tell which rows of sources are one row in the target. They are
// asked for tables with a Role key only.
type Identities interface {
	// identify returns what rows are in the target. Those that are not copied
	// are absent.
	identify(ctx context.Context, source string, t *plan.Table, keys []int64) (map[int64]Ident, error)

	// members returns the rows of a source that are the given ones in the target.
	members(ctx context.Context, source string, t *plan.Table, ids []Ident) (map[Ident][]int64, error)
}

// Conflicts finds rows that clash in a unique key with rows of the target or of
// earlier sources, and decides what becomes of them. The databases compare, by
// the collations of their columns. It is not safe for concurrent use.
//
// Tables must come in the order of [plan.Plan.mintOrder], and the sources of a table
// in that of [plan.Table.precedence].
type Conflicts struct {
	e       *dialect.Dialect
	plan    *plan.Plan
	target  chunk.Queryer
	sources map[string]chunk.Queryer
	ids     Identities

	Empty   map[string]bool   // tables that the target has no rows of
	renames map[uint64]uint64 // new names, and which row has them, both hashed
	seed    maphash.Seed
}

// NewConflicts returns one that asks the target and the sources, by name, and takes rows for one as ids says.
func NewConflicts(e *dialect.Dialect, p *plan.Plan, target chunk.Queryer, sources map[string]chunk.Queryer, ids Identities) *Conflicts {
	return &Conflicts{
		e: e, plan: p, target: target, sources: sources, ids: ids,
		Empty: map[string]bool{}, renames: map[uint64]uint64{}, seed: maphash.MakeSeed(),
	}
}

// A Verdict is what becomes of a row.
type Verdict struct {
	Clashes []*report.ClashError // all of them, whatever their rules
	Failed  *report.ClashError   // one that stops the run

	// A Merged row is not copied: winner stands for it. In a table without a
	// Role key, winnerKey is the primary key of the winner, and winner.key is 0.
	Merged    bool
	Winner    Ident
	WinnerKey []any

	Renames []rename
}

// A rename is a value that RuleSuffix changed.
type rename struct {
	Column        *plan.Column
	Before, After string
}

// A contest is a unique key in which the rows of a source may clash.
type contest struct {
	table   *plan.Table
	unique  *plan.Unique
	columns []*plan.Column
	ahead   []string // those whose rows come first: the target, then sources
	others  []*plan.Column
}

const inTarget = ""

// contests returns the unique keys that rows of a source may clash in.
func (c *Conflicts) contests(t *plan.Table, source string) []*contest {
	uniques := t.Unique
	if !slices.ContainsFunc(uniques, func(u *plan.Unique) bool { return slices.Equal(u.Columns, t.PrimaryKey) }) {
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
				break
			}
			if k.in(s) {
				k.ahead = append(k.ahead, s)
			}
		}
		if u.Rule == plan.RuleMatch {
			for _, column := range t.Columns {
				if column.Role == plan.RolePlain && column.Generated == "" && !slices.Contains(k.columns, column) {
					k.others = append(k.others, column)
				}
			}
		}
		all = append(all, k)
	}
	return all
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
func (c *Conflicts) Needs(t *plan.Table, source string) []*plan.Column {
	need := map[*plan.Column]bool{}
	for _, column := range chunk.ColumnsOf(t, t.PrimaryKey) {
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

// Decide returns a verdict on each row of a source. The rows have values for
// columns, among which are those that [conflicts.needs] returns. It writes nothing.
func (c *Conflicts) Decide(ctx context.Context, t *plan.Table, source string, columns []*plan.Column, rows [][]any) ([]Verdict, error) {
	verdicts := make([]Verdict, len(rows))
	for _, k := range c.contests(t, source) {
		r := &round{Conflicts: c, contest: k, source: source, columns: columns, rows: rows, verdicts: verdicts}
		if err := r.run(ctx); err != nil {
			return nil, err
		}
	}
	return verdicts, nil
}

// A round is a contest in which some rows of a source take part.
type round struct {
	*Conflicts
	*contest
	source   string
	columns  []*plan.Column
	rows     [][]any
	verdicts []Verdict
}

func (r *round) run(ctx context.Context) error {
	tuples, err := r.tuples(ctx)
	if err != nil {
		return err
	}
	var renamed []int
	pending := maps.Clone(tuples)
	for _, place := range r.ahead {
		hits, err := r.find(ctx, place, pending)
		if err != nil {
			return err
		}
		for _, i := range slices.Sorted(maps.Keys(hits)) {
			delete(pending, i)
			v := &r.verdicts[i]
			v.Clashes = append(v.Clashes, r.clash(i, place))
			if r.unique.Rule == plan.RuleSuffix {
				renamed = append(renamed, i)
			} else if err := r.judge(ctx, i, place, hits[i]); err != nil {
				return err
			}
		}
	}
	if err := r.joined(ctx, pending, &renamed); err != nil {
		return err
	}
	slices.Sort(renamed)
	return r.rename(ctx, renamed, tuples)
}

// judge decides on row i, which clashes with a row that is ahead of it.
func (r *round) judge(ctx context.Context, i int, place string, with hit) error {
	v := &r.verdicts[i]
	clash := v.Clashes[len(v.Clashes)-1]
	if r.unique.Rule == plan.RuleFail || r.unique.Rule == "" {
		v.Failed = clash
		return nil
	}
	for n, column := range r.others {
		if !column.In(r.source) || !has(place, column) {
			continue
		}
		h := chunk.NewHasher([]*plan.Column{column}, r.blobs())
		if !h.Equal(0, r.value(i, column), with.others[n]) {
			clash.Column, v.Failed = column.Name, clash
			return nil
		}
	}
	v.Merged, v.WinnerKey = true, with.key
	key := r.table.Key()
	if key == nil {
		v.Winner = Ident{source: place}
		return nil
	}
	id, ok := sqlvalue.ID(with.key[0])
	if !ok {
		return fmt.Errorf("table %q: %v is no id", r.table.Name, with.key[0])
	}
	if place == inTarget {
		v.Winner = Ident{Key: id}
		return nil
	}
	winners, err := r.ids.identify(ctx, place, r.table, []int64{id})
	if err != nil {
		return err
	}
	if v.Winner, ok = winners[id]; !ok {
		clash.Reason, v.Failed = "that row is not copied", clash
	}
	return nil
}

func (r *round) clash(i int, place string) *report.ClashError {
	clash := &report.ClashError{Table: r.table.Name, Unique: r.unique.Columns, Source: r.source, With: place}
	for _, column := range r.contest.columns {
		clash.Values = append(clash.Values, sqlvalue.Text(r.value(i, column)))
	}
	clash.Row = sqlvalue.FormatKey(r.key(i))
	return clash
}

func (r *round) key(i int) []any {
	key := make([]any, len(r.table.PrimaryKey))
	for n, name := range r.table.PrimaryKey {
		key[n] = r.value(i, r.table.Column(name))
	}
	return key
}

// value returns a value of row i, with the name that an earlier contest gave it.
func (r *round) value(i int, column *plan.Column) any {
	for _, renamed := range slices.Backward(r.verdicts[i].Renames) {
		if renamed.Column == column {
			return renamed.After
		}
	}
	return r.rows[i][slices.Index(r.columns, column)]
}
