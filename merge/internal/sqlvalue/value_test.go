package sqlvalue

import (
	"math"
	"reflect"
	"testing"
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
		got := FormatKey(key)
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		back, err := ParseKey(got)
		if err != nil || !reflect.DeepEqual(back, key) {
			t.Errorf("%s: got %#v, %v; want %#v", got, back, err, key)
		}
	}
	for _, bad := range []string{"", "x", `[{"hex":"0"}]`, `[1e999]`, "[true]", "[[]]"} {
		if got, err := ParseKey(bad); err == nil {
			t.Errorf("%q: got %v, want an error", bad, got)
		}
	}
	if a, b := FormatRow([]any{"é"}), FormatRow([]any{"e"}); a == b || len(a) > 255 || a[0] == '[' || b != `["e"]` {
		t.Errorf("row keys: %s and %s", a, b)
	}
}

func TestSampleRow(t *testing.T) {
	if got, want := SampleRow([]any{int64(1), nil, "it's", []byte{255}}), `(1, NULL, "it's", x'ff')`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	many := make([]any, 1000)
	if got := SampleRow(many); len(got) > 400 || got[len(got)-len(", …)"):] != ", …)" {
		t.Errorf("got %s, want the first values", got)
	}
}
