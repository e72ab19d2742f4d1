package chunk

import (
	"reflect"
	"testing"

	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

func TestCompare(t *testing.T) {
	table := &plan.Table{Name: "t", PrimaryKey: []string{"a", "b", "c"}, Columns: []*plan.Column{{Name: "a", Type: "int"}, {Name: "b", Type: "bit(9)"}, {Name: "c", Type: "int"}}}
	for _, d := range []sqlsnow.Dialect{sqlsnow.MySQL, sqlsnow.Postgres} {
		e, err := dialect.Of(d)
		if err != nil {
			t.Fatal(err)
		}
		text, args := compareKey(e, table, ">", ">=", []any{1, 2, 3}, 1)
		want, values := "(`a` > ? OR `a` = ? AND (`b` > ? OR `b` = ? AND `c` >= ?))", []any{1, 1, 2, 2, 3}
		if e.RowValues {
			want, values = `("a", "b", "c") >= ($2, $3, $4)`, []any{1, 2, 3}
		}
		if text != want || !reflect.DeepEqual(args, values) {
			t.Errorf("%v: got %s with %v, want %s with %v", e.Kind, text, args, want, values)
		}
	}
}
