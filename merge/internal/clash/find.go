package clash

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// A Verdict is what becomes of a row.
type Verdict struct {
	Clashes []*report.ClashError // all of them, whatever their rules
	Failed  *report.ClashError   // one that stops the run

	// A Merged row is not copied: winner stands for it. In a table without a
	// Role key, winnerKey is the primary key of the winner, and winner.key is 0.
	Merged     bool
	Winner     Ident
	WinnerKey  []any
	IntoTarget bool // the winner is a row that the target had before, and gets values of it

	Renames []Rename
}

// Into returns the row that a merged row of a table is merged into: its source, empty for the target, and what
// tells it apart there. In a run, all winners with a Role key are rows of the target.
func (v *Verdict) Into(t *plan.Table) (place string, key []any) {
	if t.Key() != nil {
		return v.Winner.source, []any{v.Winner.Key}
	}
	return v.Winner.source, v.WinnerKey
}

// A Rename is a value that RuleSuffix changed.
type Rename struct {
	Column        *plan.Column
	Before, After any
	Set           bool // by [plan.Unique.Set]; it is no name
}

// A round is a contest between some rows of a source.
type round struct {
	*Finder
	*contest
	source   string
	columns  []*plan.Column
	rows     [][]any
	verdicts []Verdict
}

// rowKey returns the columns that tell the rows of the contest apart: in a table without a primary key, the
// unique key's, where no two rows of one database are equal.
func (c *contest) rowKey() []string {
	if names := c.table.RowKey(); len(names) > 0 {
		return names
	}
	return c.unique.Columns
}

func (r *round) key(i int) []any {
	names := r.rowKey()
	key := make([]any, len(names))
	for n, name := range names {
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

// A hit is a row that has the values of another row in a unique key.
type hit struct {
	key    []any
	others []any // of contest.others, for RuleMatch
}

// tuples returns the values that the rows have in the unique key, in which the
// references to rows that may be merged are idents. A row that can't clash has
// none: it is decided already, or has a NULL, or refers to a row that is its
// source's own.
func (r *round) tuples(ctx context.Context) (map[int][]any, error) {
	tuples := map[int][]any{}
	refs := map[*plan.Table][]int64{}
rows:
	for i := range r.rows {
		if v := &r.verdicts[i]; v.Failed != nil || v.Merged {
			continue
		}
		tuple := make([]any, len(r.contest.columns))
		for n, column := range r.contest.columns {
			v := r.value(i, column)
			if v == nil {
				continue rows
			}
			if parent, held := r.parent(i, column, v); held {
				id, ok := sqlvalue.ID(v)
				if !ok || parent == nil || !parent.Merges(r.plan.Sources) {
					continue rows
				}
				refs[parent] = append(refs[parent], id)
				v = reference{parent, id}
			}
			tuple[n] = v
		}
		tuples[i] = tuple
	}
	for parent, ids := range refs {
		idents, err := r.ids.identify(ctx, r.source, parent, ids)
		if err != nil {
			return nil, err
		}
		for i, tuple := range tuples {
			for n, v := range tuple {
				if ref, ok := v.(reference); ok && ref.table == parent {
					id, ok := idents[ref.id]
					if !ok {
						delete(tuples, i) // an orphan: whether it may stay is for the copy to say
						break
					}
					tuple[n] = identity{parent, id}
				}
			}
		}
	}
	return tuples, nil
}

// A reference is the id of a row of a source.
type reference struct {
	table *plan.Table
	id    int64
}

// An identity is a row of the target.
type identity struct {
	table *plan.Table
	ident Ident
}

// parent returns the table whose ids the column holds in row i, and whether
// the value is an id at all.
func (r *round) parent(i int, column *plan.Column, v any) (parent *plan.Table, held bool) {
	if slices.Contains(column.None, sqlvalue.Text(v)) {
		return nil, false
	}
	switch column.Role {
	case plan.RoleReference:
		return r.plan.Table(column.Refers[0].Table), true
	case plan.RolePolymorphic:
		by := sqlvalue.Text(r.value(i, r.table.Column(column.By)))
		switch kind, _ := column.Kind(by); {
		case kind == nil:
			return nil, true
		case kind.Role != plan.RoleReference:
			return nil, sqlvalue.Text(v) != ""
		default:
			return r.plan.Table(kind.Refers[0].Table), kind.Refers[0].Table != ""
		}
	case plan.RoleList, plan.RoleJSON, plan.RolePacked:
		return nil, sqlvalue.Text(v) != ""
	}
	return nil, false
}

// find returns the rows of a place that have the tuples: of several the one with the least key.
func (r *round) find(ctx context.Context, place string, tuples map[int][]any) (map[int]hit, error) {
	all, err := r.every(ctx, place, tuples)
	hits := make(map[int]hit, len(all))
	for i, one := range all {
		hits[i] = one[0]
	}
	return hits, err
}

// database returns the database of a place, and whether it is the target and has no rows of the table.
func (r *round) database(ctx context.Context, place string) (q *chunk.Session, empty bool, err error) {
	if place == inTarget {
		empty, err = r.isEmpty(ctx, r.table)
		return r.conns.Target, empty, err
	}
	q, err = r.conns.Source(ctx, place)
	return q, false, err
}

// search looks for the tuples, and returns nil if there is nothing to look for.
func (r *round) search(ctx context.Context, place string, tuples map[int][]any) (*search, error) {
	if len(tuples) == 0 {
		return nil, nil
	}
	q, empty, err := r.database(ctx, place)
	if err != nil || empty {
		return nil, err
	}
	s := &search{round: r, q: q, place: place, hasher: chunk.NewHasher(r.contest.columns, r.blobs()), hits: map[int]hit{}, known: map[string]bool{}}
	s.columns = slices.Concat(r.contest.columns, chunk.ColumnsOf(r.table, r.rowKey()))
	for _, other := range r.others {
		if has(place, other) {
			s.columns = append(s.columns, other)
		}
	}
	members, err := r.members(ctx, place, tuples)
	if err != nil {
		return nil, err
	}
	s.joined = len(members) > 0
	for _, i := range slices.Sorted(maps.Keys(tuples)) {
		for _, tuple := range r.translate(tuples[i], members) {
			s.tuples, s.owners = append(s.tuples, tuple), append(s.owners, i)
		}
	}
	all := make([]int, len(s.tuples))
	for n := range all {
		all[n] = n
	}
	for part := range slices.Chunk(all, chunk.MaxIn) {
		if err := s.run(ctx, part); err != nil {
			return nil, r.e.Failed(fmt.Sprintf("look for clashes in table %q of %s", r.table.Name, placeName(place)), err)
		}
	}
	return s, nil
}

// every returns all rows of a place that have the tuples, in the order of their keys. There may be several of one
// tuple where they refer to rows that become one.
func (r *round) every(ctx context.Context, place string, tuples map[int][]any) (map[int][]hit, error) {
	s, err := r.search(ctx, place, tuples)
	if err != nil || s == nil {
		return nil, err
	}
	if err := r.alive(ctx, place, s.hits); err != nil {
		return nil, err
	}
	all := map[int][]hit{}
	for n, i := range s.of {
		if h, alive := s.hits[n]; alive {
			all[i] = append(all[i], h)
		}
	}
	for _, hits := range all {
		slices.SortFunc(hits, func(a, b hit) int { return CompareKeys(a.key, b.key) })
	}
	return all, nil
}

// CompareKeys compares what tells rows apart, in an order that is the same on all databases.
func CompareKeys(a, b []any) int { return slices.CompareFunc(a, b, CompareScores) }

// alive takes out of hits the rows of a source that are left out. Rows of a source that comes later may be left out
// for what they refer to, which is not known yet.
func (r *round) alive(ctx context.Context, place string, hits map[int]hit) error {
	if place == inTarget || len(hits) == 0 || len(r.table.RowKey()) == 0 || !r.table.LosesRows() {
		return nil
	}
	var keys [][]any
	for _, h := range hits {
		keys = append(keys, h.key)
	}
	left, err := r.ids.left(ctx, place, r.table, keys)
	follow := r.settled || r.ids.decided(place, r.table)
	maps.DeleteFunc(hits, func(_ int, h hit) bool {
		why := left[sqlvalue.FormatRow(h.key)]
		return why == Chosen || why == Follows && follow
	})
	return err
}

func placeName(place string) string {
	if place == inTarget {
		return "the target"
	}
	return "source " + strconv.Quote(place)
}

// members returns the ids that the identities in tuples have in a place. There
// may be none, and in a source several.
func (r *round) members(ctx context.Context, place string, tuples map[int][]any) (map[identity][]int64, error) {
	members := map[identity][]int64{}
	asked := map[*plan.Table][]Ident{}
	for _, tuple := range tuples {
		for _, v := range tuple {
			id, ok := v.(identity)
			switch {
			case !ok:
			case place != inTarget:
				asked[id.table] = append(asked[id.table], id.ident)
			case id.ident.source == inTarget:
				members[id] = []int64{id.ident.Key}
			}
		}
	}
	for parent, ids := range asked {
		found, err := r.ids.members(ctx, place, parent, ids)
		if err != nil {
			return nil, err
		}
		for id, keys := range found {
			members[identity{parent, id}] = keys
		}
	}
	return members, nil
}

// translate returns a tuple with each of the ids that its identities have.
func (r *round) translate(tuple []any, members map[identity][]int64) [][]any {
	all := [][]any{tuple}
	for n, v := range tuple {
		id, ok := v.(identity)
		if !ok {
			continue
		}
		var next [][]any
		for _, tuple := range all {
			for _, key := range members[id] {
				tuple = slices.Clone(tuple)
				tuple[n] = chunk.FitValue(r.e, key, r.contest.columns[n])
				next = append(next, tuple)
			}
		}
		all = next
	}
	return all
}
