package inspect

import (
	"context"
	"strings"

	"github.com/shardsnow/snow/internal/refname"
	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
)

const (
	followerValues = 100 // different values of a text that are looked up
	followerLength = 255 // of a value in bytes: longer ones are no names
)

// A follower is a text that has the values of another column.
type follower struct {
	table  *plan.Table
	column *plan.Column
	common inclusion // how many of its values the other column has
}

// followers returns the texts that are named like a column or its table and have its values: nothing but their
// values says which row they mean, so they have to follow a row that is renamed.
func (f *clashFinder) followers(ctx context.Context, t *plan.Table, column *plan.Column) (all []follower) {
	for _, other := range f.plan.Tables {
		for _, c := range other.Columns {
			if c == column || c.Role != plan.RolePlain || c.Generated != "" || sqltype.Of(f.dialect, c.Type).Kind != sqltype.Text || !f.follows(c.Name, t, column) {
				continue
			}
			if found := f.common(ctx, t, column, other, c); found.of > 0 && found.share() >= likely {
				all = append(all, follower{other, c, found})
			}
		}
	}
	return all
}

// follow proposes that a text follows a row that is renamed, and reports whether it can.
func (f *clashFinder) follow(t *plan.Table, names *plan.Column, one follower) bool {
	was := *one.column
	one.column.Role, one.column.Refers = plan.RoleName, []*plan.Reference{{Table: t.Name, Path: names.Name}}
	if f.plan.NameFault(one.table, one.column) != "" {
		*one.column = was
		return false
	}
	addSuspect(one.column, "names of %s? %s sampled values are: they follow where a row is renamed", t.Name+"."+names.Name, one.common)
	return true
}

// follows reports whether a name ends like the name of a column, or has a word of its table or for somebody.
func (f *clashFinder) follows(name string, t *plan.Table, column *plan.Column) bool {
	return refname.NamesRow(name, bare(f.plan, t.Name), column.Name)
}

// common returns how many of the first different values of c a column has, each in its own source.
func (f *clashFinder) common(ctx context.Context, t *plan.Table, column *plan.Column, other *plan.Table, c *plan.Column) (total inclusion) {
	for source, values := range f.values(other, c.Name) {
		from := f.samples[tableOf{source, t.Name}]
		if f.err != nil || from == nil || from.index(column.Name) < 0 {
			continue
		}
		looked := map[string]bool{}
		var keys [][]any
		for _, v := range values {
			text := strings.ToLower(sqlvalue.Text(v))
			if text == "" || looked[text] || len(looked) == followerValues {
				continue
			}
			if looked[text] = true; len(text) <= followerLength {
				keys = append(keys, []any{v})
			}
		}
		total.of += len(looked)
		if len(keys) == 0 {
			continue
		}
		rows, err := f.rows[source].Find(ctx, t.Name, []*plan.Column{from.columns[from.index(column.Name)]}, []string{column.Name}, keys)
		f.fail(source, t.Name, err)
		for _, row := range rows {
			if text := strings.ToLower(sqlvalue.Text(row[0])); looked[text] {
				delete(looked, text)
				total.hits++
			}
		}
	}
	return total
}
