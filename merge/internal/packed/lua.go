package packed

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/merge/internal/jsonpath"
)

// lua finds ids in a table of Lua, behind return or not, or in assignments of values to names: these are the
// members of the outermost value then. Ids are numbers, and strings of digits. A member without a name has the
// index that Lua gives it, from 1 on.
type lua struct {
	places []string
	routes []jsonpath.Route
}

func (l lua) find(text string) ([]span, error) {
	r := &luaReader{lua: l, text: text}
	err := r.chunk()
	if err != nil {
		return nil, fmt.Errorf("%s is no table of Lua: at byte %d: %w", sample(text), r.at, err)
	}
	return r.found, nil
}

type luaReader struct {
	lua
	text  string
	at    int
	found []span
}

var (
	luaName   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*`)
	luaNumber = regexp.MustCompile(`^-?(?:0[xX][0-9A-Fa-f]+|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)`)
)

func (r *luaReader) rest() string { return r.text[r.at:] }

// space goes behind space and comments. A comment that does not end, or begins as --[=, is none.
func (r *luaReader) space() {
	for {
		rest := strings.TrimLeft(r.rest(), " \t\r\n\f\v")
		r.at = len(r.text) - len(rest)
		var end int
		switch {
		case !strings.HasPrefix(rest, "--"), strings.HasPrefix(rest, "--[="):
			return
		case strings.HasPrefix(rest, "--[["):
			if end = strings.Index(rest, "]]"); end < 0 {
				return
			}
			end += 2
		default:
			if end = strings.IndexByte(rest, '\n'); end < 0 {
				end = len(rest)
			}
		}
		r.at += end
	}
}

// take goes behind a text, and the space behind it, if it is there.
func (r *luaReader) take(text string) bool {
	if !strings.HasPrefix(r.rest(), text) {
		return false
	}
	r.at += len(text)
	r.space()
	return true
}

// word goes behind a name, and the space behind it, and returns it.
func (r *luaReader) word() string {
	name := luaName.FindString(r.rest())
	if name != "" {
		r.at += len(name)
		r.space()
	}
	return name
}

func (r *luaReader) chunk() error {
	r.space()
	start := r.at
	if name := r.word(); name != "" && name != "return" && strings.HasPrefix(r.rest(), "=") {
		r.at = start
		return r.assignments()
	} else if name != "return" {
		r.at = start
	}
	if err := r.value(r.routes, 0); err != nil {
		return err
	}
	r.take(";")
	if r.at != len(r.text) {
		return errors.New("something follows the value")
	}
	return nil
}

func (r *luaReader) assignments() error {
	if ref := jsonpath.NamesOf(r.routes); ref >= 0 {
		return fmt.Errorf("place %q: the names of variables are no ids", r.places[ref])
	}
	if ref := jsonpath.EndOf(r.routes); ref >= 0 {
		return fmt.Errorf("place %q: these are assignments, of which none is an id", r.places[ref])
	}
	for r.at < len(r.text) {
		name := r.word()
		if name == "" || !r.take("=") {
			return errors.New("want a name and =")
		}
		if err := r.value(jsonpath.Enter(r.routes, name, -1), 0); err != nil {
			return err
		}
		r.take(";")
	}
	return nil
}

// str reads a string, and returns where what is in it begins and ends. It may have escapes.
func (r *luaReader) str() (start, end int, err error) {
	rest := r.rest()
	if strings.HasPrefix(rest, "[[") {
		n := strings.Index(rest, "]]")
		if n < 0 {
			return 0, 0, errors.New("a string does not end")
		}
		start, end = r.at+2, r.at+n
		r.at = end + 2
		return start, end, nil
	}
	for i := 1; i < len(rest); i++ {
		switch rest[i] {
		case '\\':
			i++
		case '\n':
			return 0, 0, errors.New("a string does not end in its line")
		case rest[0]:
			start, end = r.at+1, r.at+i
			r.at = end + 1
			return start, end, nil
		}
	}
	return 0, 0, errors.New("a string does not end")
}

func (r *luaReader) note(ref, start, end int) {
	if ref >= 0 {
		r.found = append(r.found, span{r.places[ref], start, end, r.text[start:end], nil})
	}
}

// scalar reads a string, a number, true, false or nil, and returns where it begins and ends.
func (r *luaReader) scalar() (start, end int, word bool, err error) {
	rest := r.rest()
	if strings.HasPrefix(rest, `"`) || strings.HasPrefix(rest, "'") || strings.HasPrefix(rest, "[[") {
		start, end, err = r.str()
		r.space()
		return start, end, false, err
	}
	start = r.at
	if number := luaNumber.FindString(rest); number != "" {
		end = start + len(number)
	} else if name := luaName.FindString(rest); name == "true" || name == "false" || name == "nil" {
		end, word = start+len(name), true
	} else {
		return 0, 0, false, errors.New("want a value")
	}
	if r.at = end; luaName.MatchString(r.rest()) || strings.HasPrefix(r.rest(), ".") {
		return 0, 0, false, errors.New("want a number")
	}
	r.space()
	return start, end, word, nil
}

func (r *luaReader) value(routes []jsonpath.Route, depth int) error {
	ref := jsonpath.EndOf(routes)
	if !strings.HasPrefix(r.rest(), "{") {
		start, end, _, err := r.scalar()
		if err == nil && r.text[start:end] != "nil" {
			r.note(ref, start, end)
		}
		return err
	}
	if ref >= 0 && !deeper(routes) {
		return fmt.Errorf("at place %q is a table, which is no id: say what is in it that is one", r.places[ref])
	}
	if depth == deepest {
		return fmt.Errorf("more than %d tables are inside of each other", deepest)
	}
	r.take("{")
	names, seen := jsonpath.NamesOf(routes), map[string]bool{}
	for index := 1; !r.take("}"); {
		name, at, named, err := r.key(names, index)
		if err != nil {
			return err
		}
		if !named {
			index++
		}
		if names >= 0 && seen[name] {
			return fmt.Errorf("two members have the name %s", sample(name))
		}
		seen[name] = names >= 0
		if err := r.value(jsonpath.Enter(routes, name, at), depth+1); err != nil {
			return err
		}
		if !r.take(",") && !r.take(";") && !strings.HasPrefix(r.rest(), "}") {
			return errors.New("want a comma or }")
		}
	}
	return nil
}

// key reads [key] = or name =, and returns the name, and the index if it is an integer, or else -1. Where there is
// no key it is next.
func (r *luaReader) key(names, next int) (name string, index int, named bool, err error) {
	begin := r.at
	if strings.HasPrefix(r.rest(), "[") && !strings.HasPrefix(r.rest(), "[[") {
		r.take("[")
		quoted := strings.HasPrefix(r.rest(), `"`) || strings.HasPrefix(r.rest(), "'") || strings.HasPrefix(r.rest(), "[[")
		start, end, word, err := r.scalar()
		if err != nil {
			return "", 0, false, err
		}
		if word || !r.take("]") || !r.take("=") {
			return "", 0, false, errors.New("want a number or string, ] and =")
		}
		r.note(names, start, end)
		name, index = r.text[start:end], -1
		if n, err := strconv.Atoi(name); err == nil && !quoted {
			index = n
		}
		return name, index, true, nil
	}
	if name = r.word(); name != "" && strings.HasPrefix(r.rest(), "=") {
		start := begin
		r.take("=")
		r.note(names, start, start+len(name))
		return name, -1, true, nil
	}
	r.at = begin
	if names >= 0 {
		return "", 0, false, fmt.Errorf("place %q: a member has no name, so that its index can't be an id", r.places[names])
	}
	return strconv.Itoa(next), next, false, nil
}
