//go:build unix

package ledger

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// A pack that can be read has two lists that ascend, and says what it was read from.
func FuzzPack(f *testing.F) {
	f.Add("1,2,5", "7,8,9", int64(5), int64(3))
	f.Add("", "7,8,9", int64(5), int64(3))
	f.Add("-9223372036854775808", "9223372036854775807", int64(-1<<63), int64(1))
	f.Add("", "1", int64(-1<<63), int64(1))
	f.Add("1,,3", "1,1", int64(3), int64(2))
	f.Add("", "", int64(0), int64(0))
	f.Add("", "4", int64(9), int64(1<<62))
	f.Fuzz(func(t *testing.T, olds, news string, lastOld, size int64) {
		p := pack{lastOld: lastOld, size: size}
		if err := p.parse([]byte(olds), []byte(news)); err != nil {
			return
		}
		text := func(ids []int64) string {
			var all []string
			for _, id := range ids {
				all = append(all, strconv.FormatInt(id, 10))
			}
			return strings.Join(all, ",")
		}
		plain := func(list string) bool { // ParseInt takes signs and zeros that no server writes
			return !strings.Contains(list, "+") && !strings.HasPrefix(list, "0") && !strings.Contains(list, ",0") && !strings.Contains(list, "-0")
		}
		for _, ids := range [][]int64{p.olds, p.news} {
			if int64(len(ids)) != size || !slices.IsSorted(ids) || len(slices.Compact(slices.Clone(ids))) != len(ids) {
				t.Fatalf("got %d of %d", ids, size)
			}
		}
		if p.olds[size-1] != lastOld {
			t.Fatalf("got %d, want %d at its end", p.olds, lastOld)
		}
		if plain(news) && text(p.news) != news || olds != "" && plain(olds) && text(p.olds) != olds {
			t.Fatalf("got %d and %d of %q and %q", p.olds, p.news, olds, news)
		}
		if olds == "" && p.olds[0] != lastOld-size+1 {
			t.Fatalf("got %d, want no gaps", p.olds)
		}
	})
}

// A large table has packs if nothing but new ids becomes of its rows, and if others that refer to it can remember them.
func TestMakesPacks(t *testing.T) {
	db, s, _ := leased(t)
	execute(t, db, "CREATE TABLE orders (id INT PRIMARY KEY)", "INSERT INTO orders SELECT seq FROM seq_1_to_50")
	key := &plan.Column{Name: "id", Type: "int", Role: plan.RoleKey}
	refers := &plan.Table{Name: "lines", Columns: []*plan.Column{{Name: "order_id", Role: plan.RoleReference, Refers: []*plan.Reference{{Table: "orders"}}}}}
	for _, test := range []struct {
		name   string
		change func(orders *plan.Table, p *plan.Plan)
		least  int
		want   bool
	}{
		{"as many rows as it takes", nil, 50, true},
		{"one row less", nil, 51, false},
		{"no packs are wanted", nil, -1, false},
		{"ids are kept", func(orders *plan.Table, _ *plan.Plan) { orders.NewIDs = nil }, 1, false},
		{"rows may be merged", func(orders *plan.Table, _ *plan.Plan) {
			orders.Columns = append(orders.Columns, &plan.Column{Name: "code", Type: "int", Role: plan.RolePlain})
			orders.Unique = []*plan.Unique{{Columns: []string{"code"}, Rule: plan.RuleKeep}}
		}, 1, false},
		{"others refer to it, and it is not too large for that", func(_ *plan.Table, p *plan.Plan) { p.Tables = append(p.Tables, refers) }, 50, true},
		{"it refers to itself", func(orders *plan.Table, _ *plan.Plan) {
			orders.Columns = append(orders.Columns, &plan.Column{Name: "parent", Type: "int", Role: plan.RoleReference, Refers: []*plan.Reference{{Table: "orders"}}})
		}, 50, true},
	} {
		orders := &plan.Table{Name: "orders", PrimaryKey: []string{"id"}, NewIDs: []string{"a", "b"}, Columns: []*plan.Column{key}}
		p := &plan.Plan{Sources: []string{"a", "b"}, Tables: []*plan.Table{orders}}
		if test.change != nil {
			test.change(orders, p)
		}
		table := NewSourceTable(1, "a", orders)
		table.Packable = IsPackable(sqlsnow.MySQL, p, table)
		got, err := MakesPacks(t.Context(), p, table, s, test.least)
		if err != nil || got != test.want {
			t.Errorf("%s: got %t, %v", test.name, got, err)
		}
		if IsPackable(sqlsnow.Postgres, p, table) || IsPackable(sqlsnow.SQLite, p, table) {
			t.Errorf("%s: packs on another database than MySQL", test.name)
		}
	}
}
