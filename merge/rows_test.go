package merge

import (
	"math"
	"reflect"
	"testing"

	"github.com/shardsnow/snow/merge/plan"
)

func TestKeyText(t *testing.T) {
	for want, key := range map[string][]any{
		`[1]`:                    {int64(1)},
		`[-9223372036854775808]`: {int64(math.MinInt64)},
		`["a\"b\\","雪\u000a"]`:   {"a\"b\\", "雪\n"},
		`[1.5e+00,1e+00,null]`:   {1.5, float64(1), nil},
		`[{"hex":"00ff"},"x"]`:   {[]byte{0, 255}, "x"},
		`[{"texthex":"61ff"}]`:   {"a\xff"},
		`["12"]`:                 {"12"},
	} {
		got := keyText(key)
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		back, err := parseKey(got)
		if err != nil || !reflect.DeepEqual(back, key) {
			t.Errorf("%s: got %#v, %v; want %#v", got, back, err, key)
		}
	}
	for _, bad := range []string{"", "x", `[{"hex":"0"}]`, `[1e999]`, "[true]", "[[]]"} {
		if got, err := parseKey(bad); err == nil {
			t.Errorf("%q: got %v, want an error", bad, got)
		}
	}
	if a, b := rowText([]any{"é"}), rowText([]any{"e"}); a == b || len(a) > 255 || a[0] == '[' || b != `["e"]` {
		t.Errorf("row keys: %s and %s", a, b)
	}
}

func TestCompare(t *testing.T) {
	table := &plan.Table{Name: "t", PrimaryKey: []string{"a", "b", "c"}, Columns: []*plan.Column{{Name: "a", Type: "int"}, {Name: "b", Type: "bit(9)"}, {Name: "c", Type: "int"}}}
	for _, e := range []*engine{mysqlEngine(), postgresEngine()} {
		text, args := compareKey(e, table, ">", ">=", []any{1, 2, 3}, 1)
		want, values := "(`a` > ? OR `a` = ? AND (`b` > ? OR `b` = ? AND `c` >= ?))", []any{1, 1, 2, 2, 3}
		if e.rowValues {
			want, values = `("a", "b", "c") >= ($2, $3, $4)`, []any{1, 2, 3}
		}
		if text != want || !reflect.DeepEqual(args, values) {
			t.Errorf("%v: got %s with %v, want %s with %v", e.dialect, text, args, want, values)
		}
	}
}
