package clash

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
)

// A numbering is the numbers that the rows of one group have. The rows of a group are equal in all columns of a
// unique key but the number.
type numbering struct {
	least, most int64
	taken       map[int64]string // by whose rows
	rows        int              // of all places
	// to rows of the last place, by [sqlvalue.FormatRow] of their keys; what is not there has none
	given map[string]int64
}

// A numbered is a row of a group.
type numbered struct {
	group  []any // values of the other columns: several where the rows that they refer to become one
	number int64
	key    []any
}

// add gives numbers to the rows of a place. They keep theirs, unless one of them is taken already: then all get the
// lowest that are free, in the order of their own. Rows of the target keep theirs in any case.
func (n *numbering) add(place string, rows []numbered) {
	slices.SortFunc(rows, func(a, b numbered) int {
		return cmp.Or(slices.CompareFunc(a.group, b.group, CompareScores), cmp.Compare(a.number, b.number), strings.Compare(sqlvalue.FormatRow(a.key), sqlvalue.FormatRow(b.key)))
	})
	seen := map[int64]bool{}
	clash := false
	for _, r := range rows {
		_, taken := n.taken[r.number]
		clash = clash || taken || seen[r.number]
		seen[r.number] = true
	}
	n.given = make(map[string]int64, len(rows))
	n.rows += len(rows)
	next, full := n.least, false
	for _, r := range rows {
		number := r.number
		if clash && place != inTarget {
			for _, taken := n.taken[next]; taken && !full; _, taken = n.taken[next] {
				full = next >= n.most
				next++
			}
			if full {
				continue
			}
			number = next
		}
		if _, taken := n.taken[number]; !taken {
			n.taken[number] = place
		}
		n.given[sqlvalue.FormatRow(r.key)] = number
	}
}

// renumber gives rows that clash, and the rows of their groups, numbers that are free. What it decides follows from
// the rows of the target and of the sources alone, not from the rows that are decided together: so a run that
// is continued decides the same.
func (r *round) renumber(ctx context.Context, tuples map[int][]any) error {
	column := r.table.RenameColumn(r.unique, r.e.Kind)
	at := slices.Index(r.contest.columns, column)
	groups, samples := map[int]string{}, map[int][]any{} // of rows, and one tuple of each group
	numberings := map[string]*numbering{}
	least, most := r.unique.NumberBounds(r.e.Kind, column)
	for i, tuple := range tuples {
		others := slices.Delete(slices.Clone(tuple), at, at+1)
		group := groupOf(others)
		groups[i] = group
		if numberings[group] == nil {
			numberings[group] = &numbering{least: least, most: most, taken: map[int64]string{}}
			samples[i] = others
		}
	}
	if len(groups) == 0 {
		return nil
	}
	g := &round{Finder: r.Finder, source: r.source, columns: r.columns, rows: r.rows, verdicts: r.verdicts}
	g.contest = &contest{table: r.table, unique: r.unique, columns: slices.Delete(slices.Clone(r.contest.columns), at, at+1)}
	var others []string
	for _, c := range g.contest.columns {
		others = append(others, c.Name)
	}
	before := map[string]map[int64]string{}
	for _, place := range append(slices.Clone(r.ahead), r.source) {
		if place == r.source {
			for group, n := range numberings {
				before[group] = maps.Clone(n.taken)
			}
		}
		found, err := g.inGroups(ctx, place, column, samples)
		if err != nil {
			return err
		}
		for group, n := range numberings {
			n.add(place, found[group])
		}
	}
	for _, i := range slices.Sorted(maps.Keys(groups)) {
		n, v := numberings[groups[i]], &r.verdicts[i]
		old, ok := sqlvalue.ID(r.value(i, column))
		if !ok {
			return fmt.Errorf("table %q: row %s of source %q: %s is no integer of 64 bits", r.table.Name, sqlvalue.FormatKey(r.was(i)), r.source, strconv.Quote(column.Name))
		}
		number, ok := n.given[sqlvalue.FormatRow(r.was(i))]
		with, taken := before[groups[i]][old]
		if !taken {
			with = r.source
		}
		switch {
		case !ok:
			clash := r.clash(i, with)
			clash.Reason = fmt.Sprintf("%d rows have these %s, and there is no number left for this one from %d to %d", n.rows, strings.Join(others, ", "), n.least, n.most)
			v.Clashes, v.Failed = append(v.Clashes, clash), clash
		case number != old:
			if taken {
				v.Clashes = append(v.Clashes, r.clash(i, with))
			}
			v.Renames = append(v.Renames, Rename{Column: column, Before: strconv.FormatInt(old, 10), After: strconv.FormatInt(number, 10)})
		}
	}
	return nil
}

// inGroups returns the rows of a place that are in some groups, each given by a tuple of one of its rows. What
// conditions of the plan leave out is not among them.
func (r *round) inGroups(ctx context.Context, place string, number *plan.Column, samples map[int][]any) (map[string][]numbered, error) {
	q, empty, err := r.database(ctx, place)
	if err != nil || empty {
		return nil, err
	}
	members, err := r.members(ctx, place, samples)
	if err != nil {
		return nil, err
	}
	var tuples [][]any
	of := map[string]string{} // groups by the values that they have there
	for _, i := range slices.Sorted(maps.Keys(samples)) {
		for _, tuple := range r.translate(samples[i], members) {
			tuples = append(tuples, tuple)
			of[groupOf(tuple)] = groupOf(samples[i])
		}
	}
	width := len(r.contest.columns)
	columns := append(slices.Clone(r.contest.columns), number)
	columns = append(columns, chunk.ColumnsOf(r.table, r.rowKey())...)
	rows, err := chunk.ReadKeys(ctx, q.Engine, q, r.table.Name, columns, r.contest.columns, tuples)
	if err != nil {
		err = r.e.Failed(fmt.Sprintf("look for numbers in table %q of %s", r.table.Name, placeName(place)), err)
		if place != inTarget {
			err = dialect.OfSource(place, err)
		}
		return nil, err
	}
	var left map[string]Reason
	if place != inTarget && slices.ContainsFunc(r.table.WithoutRows, func(c *plan.Condition) bool { return c.In(place) }) {
		keys := make([][]any, len(rows))
		for i, row := range rows {
			keys[i] = row[width+1:]
		}
		if left, err = r.ids.left(ctx, place, r.table, keys); err != nil {
			return nil, err
		}
	}
	found := map[string][]numbered{}
	for _, row := range rows {
		n, ok := sqlvalue.ID(row[width])
		group, known := of[groupOf(row[:width])]
		if ok && known && left[sqlvalue.FormatRow(row[width+1:])] != Chosen {
			found[group] = append(found[group], numbered{group: row[:width], number: n, key: row[width+1:]})
		}
	}
	return found, nil
}

// groupOf returns values, or the rows that they refer to, as the key of a Go map.
func groupOf(values []any) string {
	var b strings.Builder
	for _, v := range values {
		if id, ok := v.(identity); ok {
			fmt.Fprintf(&b, "row %q %q %d\x00", id.table.Name, id.ident.source, id.ident.Key)
			continue
		}
		b.WriteString(sqlvalue.Text(v) + "\x00")
	}
	return b.String()
}
