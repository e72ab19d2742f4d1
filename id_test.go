package snow

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

// sampleIDs are the edges and a fixed random sample between them.
func sampleIDs() []ID {
	ids := []ID{0, 1, 9, 10, 31, 32, 1<<53 - 1, 1 << 53, 1 << 62, math.MaxInt64 - 1, math.MaxInt64}
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		ids = append(ids, ID(r.Int64()>>r.IntN(63)))
	}
	return ids
}

func TestParseID(t *testing.T) {
	for _, id := range sampleIDs() {
		want := new(big.Int).SetInt64(int64(id)).String()
		if got := id.String(); got != want {
			t.Fatalf("ID(%d).String() = %q, want %q", int64(id), got, want)
		}
		if got, err := ParseID(want); got != id || err != nil {
			t.Fatalf("ParseID(%q) = %d, %v", want, got, err)
		}
	}
	for in, want := range map[string]string{
		"":                             "empty",
		"-1":                           "digits only",
		"+1":                           "digits only",
		" 1":                           "digits only",
		"1 ":                           "digits only",
		"1.0":                          "digits only",
		"1e3":                          "digits only",
		"0x1":                          "digits only",
		"1_000":                        "digits only",
		"١":                            "digits only",
		"01":                           "leading zero",
		"00":                           "leading zero",
		"9223372036854775808":          "at most 9223372036854775807",
		"18446744073709551616":         "at most 9223372036854775807",
		"9223372036854775807x":         "digits only",
		"0000000000000000000000000001": "leading zero",
		strings.Repeat("9", 1000):      "at most 9223372036854775807",
	} {
		id, err := ParseID(in)
		checkParseError(t, fmt.Sprintf("ParseID(%.30q)", in), id, err, in, want)
	}
}

func TestBase32(t *testing.T) {
	var previous string
	for n := ID(0); n < 5000; n += 7 {
		s := n.Base32()
		if s <= previous {
			t.Fatalf("Base32 does not sort: %q after %q", s, previous)
		}
		previous = s
	}
	for _, id := range sampleIDs() {
		// The oracle writes the same digits in the alphabet of strconv.
		want := fmt.Sprintf("%013s", new(big.Int).SetInt64(int64(id)).Text(32))
		got := strings.Map(func(r rune) rune {
			return rune(new(big.Int).SetInt64(int64(strings.IndexRune(crockford, r))).Text(32)[0])
		}, id.Base32())
		if got != want {
			t.Fatalf("ID(%d).Base32() = %q: in digits of strconv %q, want %q", id, id.Base32(), got, want)
		}
		for _, s := range []string{id.Base32(), strings.ToLower(id.Base32())} {
			if back, err := ParseBase32(s); back != id || err != nil {
				t.Fatalf("ParseBase32(%q) = %d, %v, want %d", s, back, err, id)
			}
		}
	}
	for in, want := range map[string]string{
		"":               "13 characters",
		"000000000000":   "13 characters",
		"00000000000001": "13 characters",
		"000000000000U":  "alphabet",
		"000000000000I":  "alphabet",
		"000000000000l":  "alphabet",
		"000000000000O":  "alphabet",
		"00000000000-0":  "alphabet",
		"00000000000é":   "alphabet",
		"8000000000000":  "at most 9223372036854775807",
		"ZZZZZZZZZZZZZ":  "at most 9223372036854775807",
	} {
		id, err := ParseBase32(in)
		checkParseError(t, fmt.Sprintf("ParseBase32(%q)", in), id, err, in, want)
	}
}

// checkParseError wants a ParseError that holds the input and says why.
func checkParseError(t *testing.T, call string, got any, err error, input, reason string) {
	t.Helper()
	var parse *ParseError
	if !errors.As(err, &parse) {
		t.Errorf("%s = %v, %v, want a ParseError", call, got, err)
		return
	}
	if parse.Input != input || !strings.HasPrefix(err.Error(), "snow: ") || !strings.Contains(err.Error(), reason) {
		t.Errorf("%s: error %q with input %.30q does not say %q", call, err, parse.Input, reason)
	}
	if len(err.Error()) > 300 {
		t.Errorf("%s: the error is %d characters long", call, len(err.Error()))
	}
	if id, ok := got.(ID); ok && id != 0 {
		t.Errorf("%s = %d beside an error", call, id)
	}
}

func TestJSON(t *testing.T) {
	type order struct {
		ID     ID  `json:"id"`
		Parent *ID `json:"parent"`
	}
	for _, id := range sampleIDs() {
		b, err := json.Marshal(order{ID: id})
		if want := fmt.Sprintf(`{"id":"%d","parent":null}`, id); string(b) != want || err != nil {
			t.Fatalf("Marshal(%d) = %s, %v, want %s", id, b, err, want)
		}
		for _, in := range []string{string(b), fmt.Sprintf(`{"id": %d}`, id)} {
			var got order
			if err := json.Unmarshal([]byte(in), &got); got.ID != id || err != nil {
				t.Fatalf("Unmarshal(%s) = %d, %v", in, got.ID, err)
			}
		}
	}
	kept := ID(7)
	if err := kept.UnmarshalJSON([]byte("null")); kept != 7 || err != nil {
		t.Errorf("null changed 7 to %d, %v", kept, err)
	}
	for in, want := range map[string]string{
		``:                      "a string of digits or an integer",
		`""`:                    "a string of digits or an integer",
		`"`:                     "a string of digits or an integer",
		`"12`:                   "a string of digits or an integer",
		`-`:                     "a string of digits or an integer",
		`-1`:                    "no negative number",
		`"-1"`:                  "no negative number",
		`1.0`:                   "a string of digits or an integer",
		`1e3`:                   "a string of digits or an integer",
		`true`:                  "a string of digits or an integer",
		`[1]`:                   "a string of digits or an integer",
		`{}`:                    "a string of digits or an integer",
		`"\u0031"`:              "a string of digits or an integer",
		`" 1"`:                  "a string of digits or an integer",
		`"01"`:                  "leading zero",
		`9223372036854775808`:   "at most 9223372036854775807",
		`"9223372036854775808"`: "at most 9223372036854775807",
	} {
		id := ID(7)
		err := id.UnmarshalJSON([]byte(in))
		if id != 7 {
			t.Errorf("UnmarshalJSON(%s) changed the id to %d beside an error", in, id)
		}
		checkParseError(t, "UnmarshalJSON("+in+")", nil, err, in, want)
	}
}

func TestText(t *testing.T) {
	for _, id := range sampleIDs() {
		text, err := id.MarshalText()
		if string(text) != id.String() || err != nil {
			t.Fatalf("MarshalText(%d) = %q, %v", id, text, err)
		}
		appended, err := id.AppendText([]byte("id="))
		if string(appended) != "id="+id.String() || err != nil {
			t.Fatalf("AppendText(%d) = %q, %v", id, appended, err)
		}
		var back ID
		if err := back.UnmarshalText(text); back != id || err != nil {
			t.Fatalf("UnmarshalText(%q) = %d, %v", text, back, err)
		}
	}
	id := ID(7)
	checkParseError(t, "UnmarshalText", nil, id.UnmarshalText([]byte("-7")), "-7", "digits only")
	if id != 7 {
		t.Errorf("UnmarshalText changed the id to %d beside an error", id)
	}
}

func TestNegativeIDsAreRefused(t *testing.T) {
	for _, id := range []ID{-1, math.MinInt64} {
		_, textErr := id.MarshalText()
		_, jsonErr := id.MarshalJSON()
		value, valueErr := id.Value()
		for name, err := range map[string]error{"MarshalText": textErr, "MarshalJSON": jsonErr, "Value": valueErr} {
			var field *FieldError
			if !errors.As(err, &field) || field.Value != id.String() {
				t.Errorf("%s(%d): error %v, want a FieldError with the number", name, id, err)
			}
		}
		if value != nil {
			t.Errorf("Value(%d) = %v beside an error", id, value)
		}
	}
}

func TestScan(t *testing.T) {
	three := ID(3)
	for _, src := range []any{int64(3), uint64(3), []byte("3"), "3", ID(3), &three} {
		var id ID
		if err := id.Scan(src); id != 3 || err != nil {
			t.Errorf("Scan(%T) = %d, %v", src, id, err)
		}
	}
	for _, tt := range []struct {
		src  any
		want string
	}{
		{nil, "NULL"},
		{(*ID)(nil), "NULL"},
		{int64(-1), "no negative"},
		{ID(-1), "no negative"},
		{uint64(1 << 63), "at most"},
		{"", "empty"},
		{[]byte("x"), "digits only"},
		{"-3", "digits only"},
		{3.0, "not float64"},
		{true, "not bool"},
		{3, "not int"},
	} {
		id := ID(7)
		err := id.Scan(tt.src)
		var parse *ParseError
		if !errors.As(err, &parse) || !strings.Contains(err.Error(), tt.want) || id != 7 {
			t.Errorf("Scan(%T %v) = %d, %v, want an error that says %q", tt.src, tt.src, id, err, tt.want)
		}
	}
	var null sql.Null[ID]
	if err := null.Scan(nil); null.Valid || err != nil {
		t.Errorf("sql.Null[ID].Scan(nil) = %v, %v", null, err)
	}
	if err := null.Scan(int64(3)); null.V != 3 || !null.Valid || err != nil {
		t.Errorf("sql.Null[ID].Scan(3) = %v, %v", null, err)
	}
	if v, err := ID(3).Value(); v != int64(3) || err != nil {
		t.Errorf("Value() = %T %v, %v, want int64", v, v, err)
	}
}

func TestInt64s(t *testing.T) {
	if got := Int64s(nil); got != nil {
		t.Errorf("Int64s(nil) = %v", got)
	}
	if got := Int64s([]ID{1, 2}); len(got) != 2 || got[0] != 1 || got[1] != 2 {
		t.Errorf("Int64s = %v", got)
	}
}

func TestIDAllocations(t *testing.T) {
	id := ID(math.MaxInt64)
	text, b32, quoted := id.String(), id.Base32(), []byte(`"`+id.String()+`"`)
	buf := make([]byte, 0, 32)
	for name, tt := range map[string]struct {
		want float64
		f    func()
	}{
		"String":        {1, func() { _ = id.String() }},
		"Base32":        {1, func() { _ = id.Base32() }},
		"MarshalJSON":   {1, func() { _, _ = id.MarshalJSON() }},
		"MarshalText":   {1, func() { _, _ = id.MarshalText() }},
		"AppendText":    {0, func() { _, _ = id.AppendText(buf) }},
		"ParseID":       {0, func() { _, _ = ParseID(text) }},
		"ParseBase32":   {0, func() { _, _ = ParseBase32(b32) }},
		"UnmarshalJSON": {0, func() { _ = id.UnmarshalJSON(quoted) }},
		"UnmarshalText": {0, func() { _ = id.UnmarshalText(quoted[1:20]) }},
	} {
		if got := testing.AllocsPerRun(100, tt.f); got > tt.want {
			t.Errorf("%s allocates %v times, want at most %v", name, got, tt.want)
		}
	}
}

func FuzzParseID(f *testing.F) {
	for _, s := range []string{"", "0", "1", "01", "-1", "9223372036854775807", "9223372036854775808", "99999999999999999999", " 1", "1\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, isNumber := new(big.Int).SetString(s, 10)
		want := isNumber && n.String() == s && n.Sign() >= 0 && n.IsInt64()
		id, err := ParseID(s)
		if (err == nil) != want {
			t.Fatalf("ParseID(%q) = %d, %v, want ok = %v", s, id, err, want)
		}
		if want && (int64(id) != n.Int64() || id.String() != s) {
			t.Fatalf("ParseID(%q) = %d", s, id)
		}
	})
}

func FuzzParseBase32(f *testing.F) {
	for _, s := range []string{"", "0000000000000", "7ZZZZZZZZZZZZ", "8000000000000", "00000000000ab", "000000000000i"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		id, err := ParseBase32(s)
		want := len(s) == 13 && strings.Trim(s, crockford+strings.ToLower(crockford)) == "" && s[0] <= '7'
		if (err == nil) != want {
			t.Fatalf("ParseBase32(%q) = %d, %v, want ok = %v", s, id, err, want)
		}
		if want && !strings.EqualFold(id.Base32(), s) {
			t.Fatalf("ParseBase32(%q).Base32() = %q", s, id.Base32())
		}
	})
}

func FuzzUnmarshalJSON(f *testing.F) {
	for _, s := range []string{"", "null", "1", `"1"`, "-1", "1.0", "1e2", `"01"`, "9223372036854775808", "[1]", `"`, "true", `"1`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		const before = ID(7)
		id := before
		err := id.UnmarshalJSON(b)
		want, ok := before, bytes.Equal(b, []byte("null"))
		if inner := bytes.TrimSuffix(bytes.TrimPrefix(b, []byte(`"`)), []byte(`"`)); len(inner) == len(b) || len(inner) == len(b)-2 {
			if parsed, err := ParseID(string(inner)); err == nil {
				want, ok = parsed, true
			}
		}
		if (err == nil) != ok || id != want {
			t.Fatalf("UnmarshalJSON(%q) = %d, %v, want %d, ok = %v", b, id, err, want, ok)
		}
		if ok && !bytes.Equal(b, []byte("null")) && !json.Valid(b) {
			t.Fatalf("UnmarshalJSON accepted %q, which is not JSON", b)
		}
	})
}

func FuzzScan(f *testing.F) {
	f.Add("12", int64(12), uint64(12))
	f.Add("-1", int64(-1), uint64(1<<63))
	f.Fuzz(func(t *testing.T, s string, i int64, u uint64) {
		parsed, parseErr := ParseID(s)
		for _, tt := range []struct {
			src  any
			want ID
			ok   bool
		}{
			{s, parsed, parseErr == nil},
			{[]byte(s), parsed, parseErr == nil},
			{i, ID(i), i >= 0},
			{ID(i), ID(i), i >= 0},
			{u, ID(u), u <= math.MaxInt64},
		} {
			id := ID(7)
			err := id.Scan(tt.src)
			if !tt.ok {
				tt.want = 7
			}
			if (err == nil) != tt.ok || id != tt.want {
				t.Fatalf("Scan(%T %v) = %d, %v", tt.src, tt.src, id, err)
			}
		}
	})
}
