package chunk

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/shardsnow/snow/merge/plan"
)

func TestFormsOfOneValue(t *testing.T) {
	tests := []struct {
		column plan.Column
		a, b   any
		same   bool
	}{
		{plan.Column{Type: "bigint(20)"}, int64(17), []byte("17"), true},
		{plan.Column{Type: "int(4) unsigned zerofill"}, []byte("0017"), "17", true},
		{plan.Column{Type: "bigint"}, int64(-17), "-17", true},
		{plan.Column{Type: "bigint"}, int64(170), "17", false},
		{plan.Column{Type: "decimal(9,1)"}, []byte("1.5"), []byte("1.50"), true},
		{plan.Column{Type: "decimal(9,1)"}, []byte("-0.0"), []byte("0"), true},
		{plan.Column{Type: "decimal(9,1)"}, []byte("100.0"), []byte("100"), true},
		{plan.Column{Type: "decimal(9,1)"}, []byte("1.5"), []byte("15"), false},
		{plan.Column{Type: "numeric"}, "NaN", "0", false},
		{plan.Column{Type: "double"}, 1e21, []byte("1e21"), true},
		{plan.Column{Type: "double"}, 0.1, []byte("0.1"), true},
		{plan.Column{Type: "REAL"}, float64(1), int64(1), true},
		{plan.Column{Type: "REAL"}, 1.5, 1.25, false},
		{plan.Column{Type: "datetime(6)"}, []byte("2024-01-01 00:00:00.500000"), []byte("2024-01-01 00:00:00.5"), true},
		{plan.Column{Type: "datetime"}, []byte("2024-01-01 00:00:00.000"), []byte("2024-01-01 00:00:00"), true},
		{plan.Column{Type: "datetime"}, []byte("2024-01-01 00:00:00"), []byte("2024-01-01 00:00:0"), false},
		{plan.Column{Type: "varchar(9)"}, []byte("1.50"), "1.50", true},
		{plan.Column{Type: "varchar(9)"}, []byte("1.50"), "1.5", false},
		{plan.Column{Type: "varchar(9)"}, "", nil, false},
		{plan.Column{Type: "varchar(9)"}, nil, nil, true},
		{plan.Column{Type: "integer[]"}, "{1}", "{01}", false},
		{plan.Column{Type: "json"}, `{"a":1,"b":[2.50]}`, `{"b": [25e-1], "a": 1.0}`, true},
		{plan.Column{Type: "json"}, `{"a":1}`, `{"a":"1"}`, false},
		{plan.Column{Type: "json"}, `[1,2]`, `[2,1]`, false},
		{plan.Column{Type: "json"}, `[12345678901234567890]`, `[12345678901234567891]`, false},
		{plan.Column{Type: "longtext", Role: plan.RoleJSON}, `[1, 2]`, `[1,2]`, true},
		{plan.Column{Type: "longtext"}, `[1, 2]`, `[1,2]`, false},
		{plan.Column{Type: "json"}, `{`, `{ `, false},
		{plan.Column{Type: "bool"}, true, false, false},
	}
	for _, tt := range tests {
		h := NewHasher([]*plan.Column{&tt.column}, false)
		if got := h.Equal(0, tt.a, tt.b); got != tt.same {
			t.Errorf("%s: %v and %v: got the same %v, want %v", tt.column.Type, tt.a, tt.b, got, tt.same)
		}
		if got := h.Row([]any{tt.a}) == h.Row([]any{tt.b}); got != tt.same {
			t.Errorf("%s: hashes of %v and %v: got the same %v, want %v", tt.column.Type, tt.a, tt.b, got, tt.same)
		}
	}
	if h := NewHasher([]*plan.Column{{Type: "BLOB"}}, true); h.Equal(0, []byte("a"), "a") {
		t.Error("SQLite: a blob is the same as a text")
	}
}

func TestIdentical(t *testing.T) {
	rows := [][]any{
		{nil}, {int64(1)}, {int64(2)}, {"1"}, {"2"}, {[]byte("1")}, {[]byte("2")}, {""}, {[]byte(nil)}, {int64(1), nil}, {},
	}
	for i, a := range rows {
		for k, b := range rows {
			want := i == k
			if got := Identical(a, slices.Clone(b)); got != want {
				t.Errorf("%#v and %#v: got %t, want %t", a, b, got, want)
			}
		}
	}
}

func TestRowsHaveBorders(t *testing.T) {
	h := NewHasher([]*plan.Column{{Type: "text"}, {Type: "text"}}, false)
	seen := map[Sum][]any{}
	for _, row := range [][]any{{"a", "b"}, {"ab", ""}, {"", "ab"}, {"ab", nil}, {nil, "ab"}, {"\x00", nil}, {nil, "\x00"}, {nil, nil}, {"", ""}, {"b", "a"}} {
		s := h.Row(row)
		if other, ok := seen[s]; ok {
			t.Errorf("%q and %q have one hash", row, other)
		}
		seen[s] = row
	}
}

func TestSumsAddUpInAnyOrder(t *testing.T) {
	h := NewHasher([]*plan.Column{{Type: "bigint"}}, false)
	var want, got, half Sum
	order := rand.Perm(100)
	for i := range 100 {
		want.Add(h.Row([]any{int64(i)}))
		s := h.Row([]any{int64(order[i])})
		if i < 50 {
			half.Add(s)
		} else {
			got.Add(s)
		}
	}
	half, err := ParseSum(half.String())
	if err != nil {
		t.Fatal(err)
	}
	if got.Add(half); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got.Add(h.Row([]any{int64(1)})); got == want {
		t.Error("a row more made no difference")
	}
	for _, bad := range []string{"", "00", "zz" + want.String()[2:], want.String() + "00"} {
		if _, err := ParseSum(bad); err == nil {
			t.Errorf("parseSum(%q): got no error", bad)
		}
	}
}

func FuzzNumbersThatAreEqualHaveOneText(f *testing.F) {
	f.Add(int64(15), uint8(1), uint8(3))
	f.Add(int64(-1500), uint8(3), uint8(0))
	f.Fuzz(func(t *testing.T, n int64, scale, zeros uint8) {
		scale, zeros = scale%9, zeros%9
		text := strconv.FormatInt(n, 10) + "e-" + strconv.Itoa(int(scale))
		padded := strconv.FormatInt(n, 10)
		for range zeros {
			padded += "0"
		}
		padded += "e-" + strconv.Itoa(int(scale)+int(zeros))
		a, b := appendNumber(nil, []byte(text)), appendNumber(nil, []byte(padded))
		if string(a) != string(b) {
			t.Errorf("%s and %s: got %s and %s", text, padded, a, b)
		}
		want, _ := ParseNumber([]byte(text))
		if got, err := ParseNumber(a); err != nil || got.Cmp(want) != 0 {
			t.Errorf("%s: got %v (%v), want %v", text, got, err, want)
		}
	})
}
