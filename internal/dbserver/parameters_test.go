package dbserver

import (
	"slices"
	"testing"

	"github.com/shardsnow/snow/internal/sqldialect"
)

func TestBind(t *testing.T) {
	const text = "UPDATE t SET a = :text WHERE n - :number > 0"
	for _, test := range []struct {
		value any
		want  string // of MySQL
		args  bool   // values are sent apart
	}{
		{"orders", "UPDATE t SET a = 'orders' WHERE n - -7 > 0", false},
		{"", "UPDATE t SET a = '' WHERE n - -7 > 0", false},
		{"game?1/EU-3_x.y:z", "UPDATE t SET a = 'game?1/EU-3_x.y:z' WHERE n - -7 > 0", false},
		{"it's", "UPDATE t SET a = _utf8mb4 X'69742773' WHERE n - -7 > 0", false},
		{`a\`, "UPDATE t SET a = _utf8mb4 X'615c' WHERE n - -7 > 0", false},
		{"Jörg", "UPDATE t SET a = _utf8mb4 X'4ac3b67267' WHERE n - -7 > 0", false},
		{"a\nb", "UPDATE t SET a = _utf8mb4 X'610a62' WHERE n - -7 > 0", false},
		{"\xff", "UPDATE t SET a = ? WHERE n - ? > 0", true},
		{[]byte("a"), "UPDATE t SET a = ? WHERE n - ? > 0", true},
		{nil, "UPDATE t SET a = ? WHERE n - ? > 0", true},
	} {
		values := map[string]any{"text": test.value, "number": int64(-7)}
		for _, d := range []sqldialect.Dialect{sqldialect.MySQL, sqldialect.Postgres, sqldialect.SQLite} {
			e, err := For(d)
			if err != nil {
				t.Fatal(err)
			}
			s := e.Compile(text)
			got, args := s.Bind(values)
			want, apart := s.Text, true
			if d == sqldialect.MySQL {
				want, apart = test.want, test.args
			}
			if got != want || (args != nil) != apart || apart && !slices.EqualFunc(args, s.Args(values), func(a, b any) bool {
				_, bytes := a.([]byte)
				return bytes || a == b
			}) {
				t.Errorf("%v, %q: got %s with %v, want %s", d, test.value, got, args, want)
			}
		}
	}
}

// A question mark that is no parameter must not take a value.
func TestBindWithAQuestionMark(t *testing.T) {
	e, err := For(sqldialect.MySQL)
	if err != nil {
		t.Fatal(err)
	}
	text, args := e.Compile("SELECT '?' WHERE a = :a").Bind(map[string]any{"a": int64(1)})
	if text != "SELECT '?' WHERE a = ?" || !slices.Equal(args, []any{int64(1)}) {
		t.Errorf("got %s with %v", text, args)
	}
}
