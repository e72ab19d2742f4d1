package jsonpath

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestParsePath(t *testing.T) {
	for path, want := range map[string][]Step{
		"$":                         nil,
		"$.a":                       {{name: "a", index: byName}},
		"$.items[*].id":             {{name: "items", index: byName}, {index: wildcard}, {name: "id", index: byName}},
		"$[*]":                      {{index: wildcard}},
		"$.*":                       {{index: wildcard}},
		"$[0][12]":                  {{index: 0}, {index: 12}},
		`$."a.b"["c]"].d`:           {{name: "a.b", index: byName}, {name: "c]", index: byName}, {name: "d", index: byName}},
		`$["\u0041"]`:               {{name: "A", index: byName}},
		"$.snow ❄.x":                {{name: "snow ❄", index: byName}, {name: "x", index: byName}},
		"$.a.*~":                    {{name: "a", index: byName}, {index: wildcard, names: true}},
		"$[*]~":                     {{index: wildcard, names: true}},
		"$.a~":                      {{name: "a~", index: byName}},
		"$.*~.a":                    nil,
		"$[0]~":                     nil,
		"":                          nil,
		"a":                         nil,
		"$a":                        nil,
		"$.":                        nil,
		"$..a":                      nil,
		"$[":                        nil,
		"$[x]":                      nil,
		"$[-1]":                     nil,
		"$[01]":                     nil,
		`$["a`:                      nil,
		`$["a"`:                     nil,
		`$."a`:                      nil,
		"$.a[99999999999999999999]": nil,
	} {
		got, err := Parse(path)
		if (err == nil) != (want != nil || path == "$") || !reflect.DeepEqual(got, want) && err == nil {
			t.Errorf("%q: got %v, %v; want %v", path, got, err, want)
		}
	}
}

func routesOf(t testing.TB, paths ...string) []Route {
	t.Helper()
	var all []Route
	for i, p := range paths {
		steps, err := Parse(p)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, Route{i, steps})
	}
	return all
}

func TestEditJSON(t *testing.T) {
	paths := []string{"$.owner", "$.items[*].id", "$.ids[*]", "$.by.*", "$.pair[1]"}
	for in, want := range map[string]string{
		`{}`:                      `{}`,
		` {"owner" : 1 , "x":1} `: ` {"owner" : <0:1> , "x":1} `,
		`{"owner":1,"owner":"2"}`: `{"owner":<0:1>,"owner":<0:"2">}`,
		`{"ow\u006eer":1}`:        `{"ow\u006eer":<0:1>}`,
		`{"items":[{"id":1,"n":{"id":2}},{"n":3}, 4, [ {"id":5} ] ]}`: `{"items":[{"id":<1:1>,"n":{"id":2}},{"n":3}, 4, [ {"id":5} ] ]}`,
		`{"ids":[1, 2,3 ]}`:                   `{"ids":[<2:1>, <2:2>,<2:3> ]}`,
		`{"ids":{"a":1}}`:                     `{"ids":{"a":<2:1>}}`,
		`{"by":{"a":1,"b":[1]},"pair":[1,2]}`: `{"by":{"a":<3:1>,"b":<3:[1]>},"pair":[1,<4:2>]}`,
		`[1]`:                                 `[1]`,
		`"}{"`:                                `"}{"`,
		`{"a":"\"]","owner":1}`:               `{"a":"\"]","owner":<0:1>}`,
	} {
		got, err := Edit(in, routesOf(t, paths...), func(ref int, value string) (string, bool) {
			return "<" + string(rune('0'+ref)) + ":" + value + ">", true
		})
		if err != nil || got != want {
			t.Errorf("%s:\n got %s, %v\nwant %s", in, got, err, want)
		}
	}
	for in, want := range map[string]string{
		`{"ids":[1]}`:                `{"ids":[]}`,
		`{"ids":[7,1,7, 1 ,7]}`:      `{"ids":[7,7,7]}`,
		`{"ids":[ 1 , 7]}`:           `{"ids":[ 7]}`,
		`{"owner":1,"b":2}`:          `{"owner":null,"b":2}`,
		`{"items":[{"id":1,"n":2}]}`: `{"items":[{"id":null,"n":2}]}`,
		`{"by":{"a":1,"b":7}}`:       `{"by":{"a":null,"b":7}}`,
	} {
		got, err := Edit(in, routesOf(t, paths...), func(_ int, value string) (string, bool) { return value, value == "7" })
		if err != nil || got != want {
			t.Errorf("%s without ones:\n got %s, %v\nwant %s", in, got, err, want)
		}
	}
	// What can be gone into is gone into, whatever other paths end there.
	deep := []string{"$.p", "$.p[0].*", "$.p.p", "$.p[*]"}
	for in, want := range map[string]string{
		`{"p":[3,"4",null,[],{"p":[5]}]}`: `{"p":[<3:3>,<3:"4">,<3:null>,<3:[]>,<3:{"p":[5]}>]}`,
		`{"p":{"p":7,"q":8}}`:             `{"p":{"p":<2:7>,"q":<3:8>}}`,
		`{"p":[{"a":1,"b":[2]},{"a":3}]}`: `{"p":[{"a":<1:1>,"b":<1:[2]>},<3:{"a":3}>]}`,
		`{"p":[]}`:                        `{"p":[]}`,
		`{"p":{}}`:                        `{"p":{}}`,
		`{"p":"[7]"}`:                     `{"p":<0:"[7]">}`,
		`{"p":7}`:                         `{"p":<0:7>}`,
	} {
		got, err := Edit(in, routesOf(t, deep...), func(ref int, value string) (string, bool) {
			return "<" + string(rune('0'+ref)) + ":" + value + ">", true
		})
		if err != nil || got != want {
			t.Errorf("%s:\n got %s, %v\nwant %s", in, got, err, want)
		}
	}
	if got, err := Edit(`{"p":{"p":7}}`, routesOf(t, "$.p", "$.p[0]"), func(_ int, value string) (string, bool) { return "7", value == `{"p":7}` }); err != nil || got != `{"p":7}` {
		t.Errorf("an object that only a path for arrays is below: got %s, %v", got, err)
	}
	if got, err := Edit("1", routesOf(t, "$"), func(int, string) (string, bool) { return "", false }); err != nil || got != "null" {
		t.Errorf("a lost document: got %s, %v; want null", got, err)
	}
	for _, in := range []string{"", "{", "[1,]", "nul", "1 2", `{"a":1,}`} {
		if got, err := Edit(in, nil, nil); err == nil {
			t.Errorf("%q: got %s, want an error", in, got)
		}
	}
}

func TestEditNames(t *testing.T) {
	routes := routesOf(t, "$.by.*~", "$.by.*", "$.by[*].*~")
	for in, want := range map[string]string{
		`{"by":{"1":2, "3" : {"4":5},"\u0036":[]},"7":8}`: `{"by":{"<0:1>":<1:2>, "<0:3>" : {"<2:4>":5},"<0:6>":<1:[]>},"7":8}`,
		`{"by":[{"1":2}]}`: `{"by":[{"<2:1>":2}]}`,
		`{"by":{ }}`:       `{"by":{ }}`,
	} {
		got, err := Edit(in, routes, func(ref int, value string) (string, bool) {
			mark := "<" + string(rune('0'+ref)) + ":"
			if ref != 1 {
				return `"` + mark + unquote(value) + `>"`, true
			}
			return mark + value + ">", true
		})
		if err != nil || got != want {
			t.Errorf("%s:\n got %s, %v\nwant %s", in, got, err, want)
		}
	}
	names := routesOf(t, "$.*~")
	for in, want := range map[string]string{
		`{ "1":2 , "7":3, "8" :{}}`: `{ "7":3, "8" :{}}`,
		`{"7":2,"1":3 }`:            `{"7":2 }`,
		`{"1":2}`:                   `{}`,
	} {
		if got, err := Edit(in, names, func(_ int, name string) (string, bool) { return name, name != `"1"` }); err != nil || strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(want, " ", "") {
			t.Errorf("%s without 1: got %s, %v; want %s", in, got, err, want)
		}
	}
	if got, err := Edit(`{"1":2,"3":4}`, names, func(int, string) (string, bool) { return `"5"`, true }); err == nil {
		t.Errorf("two members of one name: got %s, want an error", got)
	}
}

// An edit that changes nothing returns the same bytes, and one that does what
// an edit of the decoded value does.
func FuzzEditJSON(f *testing.F) {
	for _, in := range []string{`{"a":[1,2,{"b":"3"}]}`, `[[1],[2, 3]]`, `{"a":{"b":1},"a":2}`, ` [ ] `, `"\u00e9\ud83d"`, "1e5", `{"":[null,true]}`} {
		f.Add(in, "$.a[*].b")
		f.Add(in, "$[*][*]")
		f.Add(in, "$.*~")
		f.Add(in, "$.*.*~")
		f.Add(in, `$.*[1]`)
	}
	f.Fuzz(func(t *testing.T, in, path string) {
		steps, err := Parse(path)
		if err != nil || !json.Valid([]byte(in)) || strings.Count(in, `"`) > 40 {
			return
		}
		routes := []Route{{0, steps}}
		if len(steps) > 0 && steps[len(steps)-1].names {
			fuzzNames(t, in, routes)
			return
		}
		same, err := Edit(in, routes, func(_ int, v string) (string, bool) { return v, true })
		if err != nil || same != in {
			t.Fatalf("%q at %q: got %q, %v", in, path, same, err)
		}
		for _, keep := range []bool{true, false} {
			got, err := Edit(in, routes, func(int, string) (string, bool) { return `"new"`, keep })
			if err != nil {
				t.Fatal(err)
			}
			var decoded, want any
			if err := json.Unmarshal([]byte(got), &decoded); err != nil {
				t.Fatalf("%q at %q: got %q: %v", in, path, got, err)
			}
			if err := json.Unmarshal([]byte(in), &want); err != nil {
				t.Fatal(err)
			}
			if hasTwins(in) {
				continue // the decoder knows the last of two members of one name only
			}
			want, kept := slowEdit(want, steps, keep)
			if !kept {
				want = nil
			}
			if !reflect.DeepEqual(decoded, want) {
				t.Fatalf("%q at %q: got %q, want %v", in, path, got, want)
			}
		}
	})
}

// fuzzNames gives members other names, and then their own again: in between is JSON with those names.
func fuzzNames(t *testing.T, in string, routes []Route) {
	t.Helper()
	var were []string
	after, err := Edit(in, routes, func(_ int, name string) (string, bool) {
		were = append(were, name)
		return fmt.Sprintf(`"%d"`, len(were)), true
	})
	if err != nil || !json.Valid([]byte(after)) {
		t.Fatalf("%q: got %q, %v", in, after, err)
	}
	n := 0
	back, err := Edit(after, routes, func(_ int, name string) (string, bool) {
		if n++; n > len(were) || name != fmt.Sprintf(`"%d"`, n) {
			t.Fatalf("%q: name %d of %q is %s", in, n, after, name)
		}
		return were[n-1], true
	})
	if n != len(were) || err == nil && back != in || err != nil && !hasTwins(in) {
		t.Fatalf("%q: back from %q got %q, %v", in, after, back, err)
	}
}

func slowEdit(v any, steps []Step, keep bool) (any, bool) {
	if len(steps) == 0 {
		return "new", keep
	}
	s := steps[0]
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if s.index == wildcard || s.index == byName && s.name == name {
				after, kept := slowEdit(member, steps[1:], keep)
				if v[name] = after; !kept {
					v[name] = nil
				}
			}
		}
	case []any:
		out := []any{}
		for i, element := range v {
			kept := true
			if s.index == wildcard || s.index == i {
				element, kept = slowEdit(element, steps[1:], keep)
			}
			if kept {
				out = append(out, element)
			}
		}
		return out, true
	}
	return v, true
}

// hasTwins reports whether some object may have two members of one name.
func hasTwins(in string) bool {
	d := json.NewDecoder(strings.NewReader(in))
	seen := map[string]bool{}
	for {
		token, err := d.Token()
		if err != nil {
			return false
		}
		if text, ok := token.(string); ok {
			if seen[text] {
				return true
			}
			seen[text] = true
		}
	}
}
