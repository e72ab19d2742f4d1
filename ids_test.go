package snow

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestListOfIDs(t *testing.T) {
	for _, tt := range []struct {
		ids  IDs
		want any
	}{
		{nil, nil},
		{IDs{}, "{}"},
		{IDs{1}, "{1}"},
		{IDs{1, 0, math.MaxInt64}, "{1,0,9223372036854775807}"},
	} {
		value, err := tt.ids.Value()
		if value != tt.want || err != nil {
			t.Errorf("%v.Value() = %v, %v, want %v", tt.ids, value, err, tt.want)
		}
		got := IDs{7}
		if err := got.Scan(value); !slices.Equal(got, tt.ids) || (got == nil) != (tt.ids == nil) || err != nil {
			t.Errorf("Scan(%v) = %v, %v, want %v", value, got, err, tt.ids)
		}
	}
	var field *FieldError
	if value, err := (IDs{1, -1}).Value(); value != nil || !errors.As(err, &field) {
		t.Errorf("Value() of a negative id = %v, %v, want a FieldError", value, err)
	}
	for _, src := range []any{"[1,2]", " [ 1 ,\t2 ]\n", `["1","2"]`, []byte(`["1", 2]`), "{1,2}", []byte("{1,2}")} {
		var got sql.Null[IDs]
		if err := got.Scan(src); !slices.Equal(got.V, IDs{1, 2}) || err != nil {
			t.Errorf("Scan(%s) = %v, %v", src, got.V, err)
		}
	}
	kept := IDs{7}
	if err := kept.Scan("null"); kept != nil || err != nil {
		t.Errorf("Scan of JSON null = %v, %v", kept, err)
	}
	for _, tt := range []struct {
		src  any
		want string
	}{
		{"", "want {1,2} or [1,2]"},
		{"1,2", "want {1,2} or [1,2]"},
		{"{", "want {1,2} or [1,2]"},
		{"{1]", "want {1,2} or [1,2]"},
		{"[2:3]={1,2}", "want {1,2} or [1,2]"},
		{"{1,NULL}", "digits only"},
		{"[1,null]", "digits only"},
		{"{{1},{2}}", "digits only"},
		{"[1,]", "empty"},
		{`[""]`, "empty"},
		{`["1]`, "digits only"},
		{"[-1]", "digits only"},
		{"[1.0]", "digits only"},
		{"{01}", "leading zero"},
		{"{9223372036854775808}", "at most"},
		{int64(1), "not int64"},
	} {
		ids := IDs{7}
		err := ids.Scan(tt.src)
		checkParseError(t, fmt.Sprintf("Scan(%v)", tt.src), ids, err, fmt.Sprint(tt.src), tt.want)
		if !slices.Equal(ids, IDs{7}) {
			t.Errorf("Scan(%v) changed the ids to %v beside an error", tt.src, ids)
		}
	}
	if b, err := json.Marshal(IDs{1, 2}); string(b) != `["1","2"]` || err != nil {
		t.Errorf("Marshal = %s, %v", b, err)
	}
}

// What Scan accepts as JSON, encoding/json accepts, and with the same result.
func FuzzScanIDs(f *testing.F) {
	for _, s := range []string{"null", "[]", "[1,2]", `["1", 2]`, "{}", "{1,2}", "[1,]", `["1]`, "[01]", "{1,NULL}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var got, again, want IDs
		if got.Scan(s) != nil {
			if json.Unmarshal([]byte(s), &want) == nil && !strings.Contains(s, "null") {
				t.Fatalf("Scan refuses %q, which JSON reads as %v", s, want)
			}
			return
		}
		if array := strings.Trim(s, " \t\r\n"); array[0] != '{' {
			if err := json.Unmarshal([]byte(s), &want); err != nil || !slices.Equal(got, want) {
				t.Fatalf("Scan(%q) = %v, JSON says %v, %v", s, got, want, err)
			}
		}
		value, err := got.Value()
		if err == nil {
			err = again.Scan(value)
		}
		if err != nil || !slices.Equal(got, again) {
			t.Fatalf("Scan(%q) = %v, written as %v and read as %v, %v", s, got, value, again, err)
		}
	})
}

// The verbs of numbers show the number, and the verbs of strings its decimal digits.
func TestFormat(t *testing.T) {
	const id, n, s = ID(255), int64(255), "255"
	for _, flags := range []string{"", "#", "+", "-", " ", "0", "8", "-8", "08", "#8", ".2", "8.4"} {
		for _, verb := range "bcdoOxXUeT" {
			if verb == 'T' {
				continue
			}
			format := "%" + flags + string(verb)
			if got, want := fmt.Sprintf(format, id), fmt.Sprintf(format, n); got != want {
				t.Errorf("%s formats %q, want %q as an int64", format, got, want)
			}
		}
		for _, verb := range "svq" {
			format, want := "%"+flags+string(verb), ""
			if want = fmt.Sprintf(format, s); format == "%#v" || format == "%#8v" {
				want = fmt.Sprintf(format, n)
			}
			if got := fmt.Sprintf(format, id); got != want {
				t.Errorf("%s formats %q, want %q", format, got, want)
			}
		}
	}
	if got := fmt.Sprint(id, &[]ID{1, 2}, struct{ ID ID }{3}, map[ID]ID{4: 5}); got != "255 &[1 2] {3} map[4:5]" {
		t.Errorf("Sprint = %q", got)
	}
}

func TestUnmarshalParam(t *testing.T) {
	var id ID
	if err := id.UnmarshalParam("286467607756828714"); id != 286467607756828714 || err != nil {
		t.Errorf("UnmarshalParam = %d, %v", id, err)
	}
	for in, want := range map[string]string{"": "empty", "-5": "digits only", "+5": "digits only", "007": "leading zero", "9223372036854775808": "at most"} {
		id := ID(7)
		err := id.UnmarshalParam(in)
		checkParseError(t, fmt.Sprintf("UnmarshalParam(%q)", in), nil, err, in, want)
		if id != 7 {
			t.Errorf("UnmarshalParam(%q) changed the id to %d beside an error", in, id)
		}
	}
}

func TestGraphQL(t *testing.T) {
	var b bytes.Buffer
	if err := ID(math.MaxInt64).MarshalGQLContext(t.Context(), &b); b.String() != `"9223372036854775807"` || err != nil {
		t.Errorf("MarshalGQLContext wrote %s, %v", &b, err)
	}
	var field *FieldError
	if err := ID(-1).MarshalGQLContext(context.Background(), &b); !errors.As(err, &field) {
		t.Errorf("MarshalGQLContext of -1: %v, want a FieldError", err)
	}
	for _, v := range []any{"3", int64(3), json.Number("3")} {
		var id ID
		if err := id.UnmarshalGQLContext(t.Context(), v); id != 3 || err != nil {
			t.Errorf("UnmarshalGQLContext(%T) = %d, %v", v, id, err)
		}
	}
	for _, v := range []any{nil, "", "-3", "03", int64(-3), json.Number("3e2"), 3.0, true, []any{"3"}} {
		id := ID(7)
		var parse *ParseError
		if err := id.UnmarshalGQLContext(t.Context(), v); !errors.As(err, &parse) || id != 7 {
			t.Errorf("UnmarshalGQLContext(%#v) = %d, %v, want a ParseError", v, id, err)
		}
	}
}

// Gob encodes an ID as an int64, so an int64 field can become an ID, and back.
func TestGob(t *testing.T) {
	type numbers struct{ ID, Parent int64 }
	type ids struct{ ID, Parent ID }
	var number, id bytes.Buffer
	if err := errors.Join(gob.NewEncoder(&number).Encode(numbers{1, math.MaxInt64}), gob.NewEncoder(&id).Encode(ids{1, math.MaxInt64})); err != nil {
		t.Fatal(err)
	}
	var fromNumber ids
	var fromID numbers
	err := errors.Join(gob.NewDecoder(&number).Decode(&fromNumber), gob.NewDecoder(&id).Decode(&fromID))
	if err != nil || fromNumber != (ids{1, math.MaxInt64}) || fromID != (numbers{1, math.MaxInt64}) {
		t.Errorf("read %v and %v, %v", fromNumber, fromID, err)
	}
}
