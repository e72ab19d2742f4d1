package inspect

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
)

// find looks at the columns that are plain by the schema.
func (f *referenceFinder) find(ctx context.Context) {
	for _, t := range f.plan.Tables {
		for _, look := range []func(context.Context, *plan.Table, *plan.Column){f.kinds, f.packed, f.json, f.list} {
			for _, c := range t.Columns {
				if c.Generated == "" && c.Name != t.Created && c.Role == plan.RolePlain {
					look(ctx, t, c)
				}
			}
		}
	}
}

// list looks for several ids in one text.
func (f *referenceFinder) list(ctx context.Context, t *plan.Table, c *plan.Column) {
	element, array := sqltype.Element(f.dialect, c.Type)
	if sqltype.Of(f.dialect, c.Type).Kind != sqltype.Text && !(array && (element.Kind == sqltype.Integer || element.Kind == sqltype.Text)) {
		return
	}
	for _, separator := range []string{",", ";", "|", " ", ":", "/"} {
		values, fits, positive := f.split(t, c.Name, separator, array)
		if !fits || values.count() == 0 {
			continue
		}
		named := f.vocabulary.ReadList(c.Name)
		found := f.parents(ctx, t, c, named, values)
		if found.table == nil && positive {
			found = cmp.Or(f.unnamed(ctx, t, c, values), found)
			found.table = found.only
		}
		switch {
		case found.table != nil:
			f.propose(t, c, plan.RoleList, &plan.Reference{Table: found.table.Name})
			if separator != "," {
				c.Separator = separator
			}
			addSuspect(c, "a list of ids? %s", found.why)
		case found.why != "":
			c.Role = plan.RoleUndecided
			addSuspect(c, "a list of numbers, separated by %s: %s; the answer for ids is {list: TABLE}", strconv.Quote(separator), found.why)
		}
		return
	}
}

// split returns the ids of a column of lists, and false if something else is in the lists or none has several
// elements. It reports whether all numbers there are positive.
func (f *referenceFinder) split(t *plan.Table, column, separator string, array bool) (found ids, several, positive bool) {
	found, several, positive = ids{}, array, true
	for source, values := range f.values(t, column) {
		var all []any
		for _, v := range values {
			text := sqlvalue.Text(v)
			if array { // as it is written: {3,17,NULL}
				text = strings.NewReplacer("{", "", "}", "", "NULL", "").Replace(text)
			}
			numbers := 0
			for part := range strings.SplitSeq(text, separator) {
				part = strings.TrimSpace(part)
				if id, ok := sqlvalue.ParseID(part); ok {
					all = append(all, part)
					numbers++
					positive = positive && id > 0
				} else if part != "" {
					return nil, false, false
				}
			}
			several = several || numbers > 1
		}
		found[source] = distinct(all)
	}
	return found, several, positive
}
