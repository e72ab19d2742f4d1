package clash

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// mostNames is how many names are tried for a row.
const mostNames = 1000

// rename gives some of the rows a name that nobody has: not the target, not a
// source, the later ones and the row's own included, and not a renamed row.
func (r *round) rename(ctx context.Context, rows []int, tuples map[int][]any) error {
	column := r.table.RenameColumn(r.unique, r.e.Kind)
	pattern, err := r.unique.NamePattern()
	if err != nil {
		return err
	}
	all := rows
	places := []string{inTarget}
	for _, s := range r.plan.SourcesOf(r.table) {
		if r.in(s) {
			places = append(places, s)
		}
	}
	for n := 1; len(rows) > 0; n++ {
		if n > mostNames {
			clashes := r.verdicts[rows[0]].Clashes
			clash := clashes[len(clashes)-1]
			clash.Reason = fmt.Sprintf("%d new names are taken too", mostNames)
			if pattern != nil {
				clash.Reason = fmt.Sprintf("%d new names are taken too, or do not match the pattern: the last one is %q", mostNames, r.newName(rows[0], column, mostNames))
			}
			r.verdicts[rows[0]].Failed = clash
			rows, n = rows[1:], 0
			continue
		}
		tries := map[int][]any{}
		for _, i := range rows {
			name := r.newName(i, column, n)
			if (pattern == nil || pattern.MatchString(name)) && r.reserve(r.table.Name, column.Name, name, r.source, sqlvalue.FormatRow(r.key(i))) {
				tries[i] = slices.Clone(tuples[i])
				tries[i][slices.Index(r.contest.columns, column)] = name
			}
		}
		free := maps.Clone(tries)
		for _, place := range places {
			hits, err := r.find(ctx, place, free)
			if err != nil {
				return err
			}
			for i := range hits {
				delete(free, i)
			}
		}
		for i, tuple := range tries {
			name := tuple[slices.Index(r.contest.columns, column)].(string)
			if free[i] == nil {
				delete(r.renames, r.hash(r.table.Name, column.Name, strings.ToLower(name)))
				continue
			}
			v := &r.verdicts[i]
			v.Renames = append(v.Renames, Rename{Column: column, Before: sqlvalue.Text(r.value(i, column)), After: name})
		}
		rows = slices.DeleteFunc(slices.Clone(rows), func(i int) bool { return free[i] != nil })
	}
	return r.set(ctx, all)
}

// newName returns the n-th name that is tried for row i.
func (r *round) newName(i int, column *plan.Column, n int) string {
	number := strconv.Itoa(n)
	template := r.unique.Template
	if template == "" {
		template = "{name}" + cmp.Or(r.unique.Suffix, "_"+r.source)
	}
	if n > 1 && !strings.Contains(template, "{n}") {
		template += "_" + number
	}
	before, after, _ := strings.Cut(template, "{name}")
	fill := strings.NewReplacer("{source}", r.source, "{n}", number)
	return shorten(sqlvalue.Text(r.value(i, column)), fill.Replace(before), fill.Replace(after), column, r.e.Kind)
}

// shorten puts texts before and after a name, and cuts characters off the name where
// the column has no room for all.
func shorten(name, before, after string, column *plan.Column, d sqlsnow.Dialect) string {
	most := sqltype.Of(d, column.Type).Length
	for most > 0 && name != "" && TextLength(d, column, before+name+after) > most {
		_, last := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-last]
	}
	return before + name + after
}

// TextLength returns the length of a text as the limit of a column counts it.
func TextLength(d sqlsnow.Dialect, c *plan.Column, text string) int {
	if d == sqlsnow.MySQL && !strings.Contains(strings.ToLower(c.Type), "char") {
		return len(text) // a TEXT
	}
	return utf8.RuneCountInString(text)
}

func (c *Finder) hash(parts ...string) uint64 {
	return maphash.String(c.seed, strings.Join(parts, "\x00"))
}

// reserve keeps a new name for a row, and reports whether it was free. Names that
// differ in case only may be one to the database.
func (c *Finder) reserve(table, column, name, source, row string) bool {
	key, owner := c.hash(table, column, strings.ToLower(name)), c.hash(source, row)
	other, taken := c.renames[key]
	if !taken {
		c.renames[key] = owner
	}
	return !taken || other == owner
}

// Resume takes over the names that a source's rows were given before the run
// was interrupted.
func (c *Finder) Resume(ctx context.Context, l ledger.Ledger, t *ledger.SourceTable) error {
	renames, err := l.Renames(ctx, t)
	for _, r := range renames {
		name, _ := r.After.(string)
		c.reserve(t.Table.Name, r.Column, name, t.Source, r.Row)
	}
	return err
}
