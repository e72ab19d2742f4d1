// Package jsonpath replaces the values at paths of a JSON text, and leaves the rest of the text as it is, to the byte.
package jsonpath

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A Step goes from a JSON value to some of its members or elements.
type Step struct {
	name  string // of a member
	index int    // of an element, where name is empty; byName for a member, wildcard for all of both
	names bool   // with wildcard: to the names of the members, and not to their values
}

const (
	byName   = -1
	wildcard = -2
)

// goesInto reports whether a value that begins so may have what the step goes to.
func (s Step) goesInto(first byte) bool {
	return first == '{' && s.index < 0 || first == '[' && s.index != byName && !s.names
}

// A step is one of: all, ["name"], ."name", [0], .name
var stepPattern = regexp.MustCompile(`^(?s:(\[\*\]|\.\*)|\[("(?:[^"\\]|\\.)*")\]|\.("(?:[^"\\]|\\.)*")|\[(0|[1-9][0-9]*)\]|\.([^."\[][^.\[]*))`)

// Parse parses a path such as $.items[*].id: members as .name, ."name" or
// ["name"], elements as [0], and all of them as [*] or .*
// A path that ends in .*~ or [*]~ leads to the names of all members.
func Parse(path string) ([]Step, error) {
	rest, ok := strings.CutPrefix(path, "$")
	if !ok {
		return nil, fmt.Errorf("path %q: want it to begin with $", path)
	}
	var steps []Step
	for rest != "" {
		part := stepPattern.FindStringSubmatch(rest)
		if part == nil {
			return nil, fmt.Errorf(`path %q: want .name, ["name"], [0], [*] or .* before %q`, path, rest)
		}
		s := Step{name: part[5], index: byName}
		var err error
		switch quoted := part[2] + part[3]; {
		case part[1] != "":
			s.index = wildcard
		case quoted != "":
			err = json.Unmarshal([]byte(quoted), &s.name)
		case part[4] != "":
			s.index, err = strconv.Atoi(part[4])
		}
		if err != nil {
			return nil, fmt.Errorf("path %q: %w", path, err)
		}
		if rest = rest[len(part[0]):]; rest == "~" && s.index == wildcard {
			s.names, rest = true, ""
		}
		steps = append(steps, s)
	}
	return steps, nil
}

// A Route is what is left of a path, inside the value that was reached.
type Route struct {
	Ref   int // of the path
	Steps []Step
}

// EndOf returns the Ref of the first route that ends, or -1.
func EndOf(routes []Route) int {
	for _, r := range routes {
		if len(r.Steps) == 0 {
			return r.Ref
		}
	}
	return -1
}

// NamesOf returns the Ref of the first route that leads to the names of members, or -1.
func NamesOf(routes []Route) int {
	for _, r := range routes {
		if len(r.Steps) > 0 && r.Steps[0].names {
			return r.Ref
		}
	}
	return -1
}

// Enter returns the routes that go on into a member of a name. Where that is also an element, its index is not
// negative.
func Enter(routes []Route, name string, index int) []Route {
	routes = slices.DeleteFunc(slices.Clone(routes), func(r Route) bool { return len(r.Steps) == 0 })
	return follow(routes, func(s Step) bool { return s.index == byName && s.name == name || index >= 0 && s.index == index })
}

// Edit calls edit with the text of each value at the end of a route, or of each name, and returns the JSON with
// what edit returned in its place. If edit returns false, an element is left out of its array, a member out of its
// object if its name was asked for, and any other value becomes null. Everything else stays as it is, to the byte.
// An array or object that other routes continue into is not at the end of a route. Names that become equal are
// an error.
func Edit(text string, routes []Route, edit func(ref int, value string) (string, bool)) (string, error) {
	if !json.Valid([]byte(text)) {
		return "", errors.New("it is not JSON")
	}
	e := editor{in: text, edit: edit, out: make([]byte, 0, len(text)+len(text)/2)}
	e.space()
	if !e.value(routes) {
		e.out = append(e.out, "null"...)
	}
	e.space()
	return string(e.out), e.err
}

// An editor goes through valid JSON from in to out.
type editor struct {
	in   string
	out  []byte
	edit func(int, string) (string, bool)
	err  error
}

// take copies n bytes.
func (e *editor) take(n int) {
	e.out = append(e.out, e.in[:n]...)
	e.in = e.in[n:]
}

func (e *editor) space() {
	e.take(len(e.in) - len(strings.TrimLeft(e.in, " \t\r\n")))
}

// value copies a value. If the value is to be left out, it writes nothing and returns false.
func (e *editor) value(routes []Route) bool {
	var deeper []Route
	ref := -1 // of the first route that ends here
	for _, r := range routes {
		switch {
		case len(r.Steps) > 0 && r.Steps[0].goesInto(e.in[0]):
			deeper = append(deeper, r)
		case len(r.Steps) == 0 && ref < 0:
			ref = r.Ref
		}
	}
	switch {
	case len(deeper) > 0 && e.in[0] == '{':
		e.object(deeper)
	case len(deeper) > 0:
		e.array(deeper)
	case ref >= 0:
		end := valueEnd(e.in)
		text, keep := e.edit(ref, e.in[:end])
		e.in = e.in[end:]
		if keep {
			e.out = append(e.out, text...)
		}
		return keep
	default:
		e.take(valueEnd(e.in))
	}
	return true
}

func (e *editor) object(routes []Route) {
	names, seen := NamesOf(routes), map[string]bool{}
	e.each('}', func(int) bool {
		keep, end := true, stringEnd(e.in)
		name := unquote(e.in[:end])
		if names < 0 {
			e.take(end)
		} else {
			var text string
			text, keep = e.edit(names, e.in[:end])
			e.out, e.in = append(e.out, text...), e.in[end:]
			if is := unquote(text); keep && seen[is] {
				e.err = cmp.Or(e.err, fmt.Errorf("two members come to have the name %q", is))
			} else if keep {
				seen[is] = true
			}
		}
		e.space()
		e.take(1) // the colon
		e.space()
		if !e.value(Enter(routes, name, -1)) {
			e.out = append(e.out, "null"...)
		}
		return keep
	})
}

func (e *editor) array(routes []Route) {
	e.each(']', func(i int) bool {
		return e.value(follow(routes, func(s Step) bool { return s.index == i }))
	})
}

// each calls one for each member or element before the end, and leaves out those for which it returns false.
func (e *editor) each(end byte, one func(i int) (keep bool)) {
	e.take(1)
	written := 0
	for i := 0; ; i++ {
		start := len(e.out)
		if written > 0 {
			e.out = append(e.out, ',')
		}
		e.space()
		if e.in[0] == end {
			break
		}
		keep := one(i)
		e.space()
		if keep {
			written++
		} else {
			e.out = e.out[:start]
		}
		if e.in[0] == end {
			break
		}
		e.in = e.in[1:] // a comma
	}
	e.take(1)
}

// unquote returns the text of a JSON string.
func unquote(text string) (s string) {
	_ = json.Unmarshal([]byte(text), &s)
	return s
}

// follow returns the routes that go on into a member or element.
func follow(routes []Route, into func(Step) bool) []Route {
	var next []Route
	for _, r := range routes {
		if s := r.Steps[0]; !s.names && (s.index == wildcard || into(s)) {
			next = append(next, Route{r.Ref, r.Steps[1:]})
		}
	}
	return next
}

// valueEnd returns where the value ends that valid JSON begins with.
func valueEnd(text string) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i += stringEnd(text[i:]) - 1
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		case ',', ' ', '\t', '\r', '\n', ':':
			continue
		default: // a number or a word
			for i+1 < len(text) && !strings.ContainsRune(",]} \t\r\n", rune(text[i+1])) {
				i++
			}
		}
		if depth == 0 {
			return i + 1
		}
	}
	return len(text)
}

// stringEnd returns where the JSON string ends that a text begins with, or -1.
func stringEnd(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}
