package inspect

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/merge/plan"
)

// keysOnly are rows of tables that have no more than keys.
type keysOnly struct {
	Rows
	ids map[string][]int64
}

func (k keysOnly) Count(_ context.Context, table string, _ *plan.Column, ids []int64) (n int, err error) {
	for _, id := range ids {
		if slices.Contains(k.ids[table], id) {
			n++
		}
	}
	return n, nil
}

func span(first, n, step int64) (ids []int64) {
	for i := range n {
		ids = append(ids, first+i*step)
	}
	return ids
}

// A column beside ids says whose they are if its name says so, or if the ids of each of its values are ids of one table
// and those of the other values are not. Ids that all are of one table need nobody to say so: only names divide them.
func TestDivide(t *testing.T) {
	for _, test := range []struct {
		name     string
		by       string
		kinds    []string // the values of by, for 25 ids each
		of       [][]int64
		whole    bool
		want     string // value:table of each kind, or "" for no division
		expected bool
	}{
		{"by values alone", "what", []string{"p", "g"}, [][]int64{span(1000, 25, 8), span(5000, 25, 8)}, false, "g:guilds p:players", true},
		{"by its name and its values", "target_type", []string{"player", "guild"}, [][]int64{span(1000, 25, 8), span(5000, 25, 8)}, false, "guild:guilds player:players", true},
		{"one value divides nothing", "what", []string{"p"}, [][]int64{span(1000, 25, 8)}, false, "", false},
		{"one value of a column with such a name does", "target_type", []string{"player"}, [][]int64{span(1000, 25, 8)}, false, "player:players", true},
		{"all ids are of one table", "what", []string{"p", "q"}, [][]int64{span(1000, 25, 8), span(1004, 25, 8)}, true, "", false},
		{"all ids are of one table, and the name says whose", "target_type", []string{"player", "none"}, [][]int64{span(1000, 25, 8), nil}, true, "player:players", true},
		{"ids of no table", "what", []string{"p", "g"}, [][]int64{span(90, 25, 8), span(9000, 25, 8)}, false, "", false},
		{"a kind of no table, beside one that is clear", "what", []string{"p", "x"}, [][]int64{span(1000, 25, 8), span(9000, 25, 8)}, false, "p:players x:", true},
	} {
		id, by := &plan.Column{Name: "target_id", Type: "bigint", Role: plan.RolePlain}, &plan.Column{Name: test.by, Type: "varchar(20)", Role: plan.RolePlain}
		var rows [][]any
		for i, kind := range test.kinds {
			for _, v := range test.of[i] {
				rows = append(rows, []any{v, kind})
			}
		}
		e, table := evidenceFrom([]*plan.Column{id, by}, rows...)
		e.dialect, e.ranges = sqldialect.MySQL, map[tableOf]keyRange{}
		owners := keysOnly{ids: map[string][]int64{"players": span(1000, 200, 1), "guilds": span(5000, 200, 1)}}
		for _, name := range []string{"players", "guilds"} {
			e.plan.Tables = append(e.plan.Tables, &plan.Table{Name: name, PrimaryKey: []string{"id"}, Columns: []*plan.Column{{Name: "id", Type: "bigint", Role: plan.RoleKey}}})
			e.ranges[tableOf{"a", name}] = keyRange{true, owners.ids[name][0], owners.ids[name][199]}
		}
		e.rows = map[string]Rows{"a": owners}
		e.kindOf = map[*plan.Column]*plan.Column{}
		var whole []*plan.Table
		if test.whole {
			whole = []*plan.Table{e.plan.Table("players")}
		}
		d := (&referenceFinder{e, newVocabulary(e.plan)}).divide(t.Context(), table, id, by, whole)
		if (d != nil) != test.expected {
			t.Errorf("%s: got %+v", test.name, d)
			continue
		}
		var got []string
		if d != nil {
			for _, r := range d.refers {
				got = append(got, r.Value+":"+r.Table)
			}
		}
		if got := strings.Join(got, " "); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}
