package packed

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/merge/internal/jsonpath"
)

// deepest is how many values may be inside of each other.
const deepest = 500

// php finds ids in what PHP's serialize returns: integers, and strings of digits. The elements of an array are
// members with the names of their keys; members with integer keys are elements too.
type php struct {
	places []string
	routes []jsonpath.Route
}

func (p php) find(text string) ([]span, error) {
	r := &phpReader{php: p, text: text}
	err := r.value(p.routes, 0)
	if err == nil && r.at != len(text) {
		err = errors.New("something follows the value")
	}
	if err != nil {
		return nil, fmt.Errorf("%s is no serialised value of PHP: at byte %d: %w", sample(text), r.at, err)
	}
	return r.found, nil
}

type phpReader struct {
	php
	text  string
	at    int
	found []span
}

// upto returns what is before the next end, and goes behind it.
func (r *phpReader) upto(end byte) (string, error) {
	n := strings.IndexByte(r.text[r.at:], end)
	if n < 0 {
		return "", fmt.Errorf("%q is missing", end)
	}
	part := r.text[r.at : r.at+n]
	r.at += n + 1
	return part, nil
}

func (r *phpReader) expect(text string) error {
	if !strings.HasPrefix(r.text[r.at:], text) {
		return fmt.Errorf("want %q", text)
	}
	r.at += len(text)
	return nil
}

func (r *phpReader) count() (int, error) {
	text, err := r.upto(':')
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || strconv.Itoa(n) != text || n > len(r.text) {
		return 0, fmt.Errorf("%s is no length", sample(text))
	}
	return n, nil
}

// quoted reads 3:"abc".
func (r *phpReader) quoted() (string, error) {
	n, err := r.count()
	if err == nil {
		err = r.expect(`"`)
	}
	if err != nil {
		return "", err
	}
	if n > len(r.text)-r.at {
		return "", fmt.Errorf("a string of %d bytes is cut off", n)
	}
	s := r.text[r.at : r.at+n]
	r.at += n
	return s, r.expect(`"`)
}

func quotePHP(id string) (string, error) { return strconv.Itoa(len(id)) + `:"` + id + `"`, nil }

// scalar notes what is at a place.
func (r *phpReader) scalar(ref, start, end int, id string, write func(string) (string, error)) {
	if ref >= 0 {
		r.found = append(r.found, span{r.places[ref], start, end, id, write})
	}
}

func (r *phpReader) value(routes []jsonpath.Route, depth int) error {
	ref := jsonpath.EndOf(routes)
	kind := ""
	if len(r.text)-r.at >= 2 {
		kind = r.text[r.at : r.at+2]
	}
	switch kind {
	case "N;":
		r.at += 2
		return nil
	case "b:", "i:", "d:", "r:", "R:":
		r.at += 2
		start := r.at
		text, err := r.upto(';')
		if err != nil {
			return err
		}
		id := text
		switch kind {
		case "b:":
			if id = map[string]string{"0": "false", "1": "true"}[text]; id == "" {
				return fmt.Errorf("%s is no boolean", sample(text))
			}
		case "d:":
			id += " as a float"
			_, err = strconv.ParseFloat(strings.TrimPrefix(text, "+"), 64)
		case "i:":
			_, err = strconv.ParseInt(text, 10, 64)
		default:
			id = "reference " + text
			_, err = strconv.ParseUint(text, 10, 64)
		}
		if err != nil {
			return fmt.Errorf("%s is no number", sample(text))
		}
		r.scalar(ref, start, r.at-1, id, nil)
		return nil
	case "s:":
		r.at += 2
		start := r.at
		text, err := r.quoted()
		if err != nil {
			return err
		}
		r.scalar(ref, start, r.at, text, quotePHP)
		return r.expect(";")
	case "E:":
		r.at += 2
		if _, err := r.quoted(); err != nil {
			return err
		}
		return r.expect(";")
	case "C:":
		r.at += 2
		if _, err := r.quoted(); err != nil {
			return err
		}
		if err := r.expect(":"); err != nil {
			return err
		}
		if len(routes) > 0 {
			return errors.New("an object serialises itself in a way of its own, so that nothing in it can be found")
		}
		n, err := r.count()
		if err == nil {
			err = r.expect("{")
		}
		if err != nil {
			return err
		}
		if n > len(r.text)-r.at {
			return errors.New("an object is cut off")
		}
		r.at += n
		return r.expect("}")
	case "O:":
		r.at += 2
		if _, err := r.quoted(); err != nil {
			return err
		}
		if err := r.expect(":"); err != nil {
			return err
		}
	case "a:":
		r.at += 2
	default:
		return errors.New("want a value")
	}
	if ref >= 0 && !deeper(routes) {
		return fmt.Errorf("at place %q is an array or an object, which is no id: say what is in it that is one", r.places[ref])
	}
	if depth == deepest {
		return fmt.Errorf("more than %d values are inside of each other", deepest)
	}
	return r.members(routes, depth)
}

// deeper reports whether a route goes on.
func deeper(routes []jsonpath.Route) bool {
	for _, r := range routes {
		if len(r.Steps) > 0 {
			return true
		}
	}
	return false
}

// members reads 1:{i:0;s:1:"a";}.
func (r *phpReader) members(routes []jsonpath.Route, depth int) error {
	n, err := r.count()
	if err == nil {
		err = r.expect("{")
	}
	if err != nil {
		return err
	}
	names, seen := jsonpath.NamesOf(routes), map[string]bool{}
	for range n {
		name, index, err := r.key(names)
		if err != nil {
			return err
		}
		if names >= 0 && seen[name] {
			return fmt.Errorf("two members have the name %s", sample(name))
		}
		seen[name] = names >= 0
		if err := r.value(jsonpath.Enter(routes, name, index), depth+1); err != nil {
			return err
		}
	}
	return r.expect("}")
}

// key reads the name of a member, and returns its index too if it is an integer, or else -1.
func (r *phpReader) key(names int) (name string, index int, err error) {
	switch {
	case strings.HasPrefix(r.text[r.at:], "i:"):
		r.at += 2
		start := r.at
		if name, err = r.upto(';'); err != nil {
			return "", 0, err
		}
		n, err := strconv.ParseInt(name, 10, 64)
		if err != nil {
			return "", 0, fmt.Errorf("%s is no number", sample(name))
		}
		if index = int(n); int64(index) != n { // no list is as long
			index = -1
		}
		r.scalar(names, start, r.at-1, name, nil)
		return name, index, nil
	case strings.HasPrefix(r.text[r.at:], "s:"):
		r.at += 2
		start := r.at
		if name, err = r.quoted(); err != nil {
			return "", 0, err
		}
		r.scalar(names, start, r.at, name, quotePHP)
		if last := strings.LastIndexByte(name, 0); last >= 0 { // of a private property, after the name of its class
			name = name[last+1:]
		}
		return name, -1, r.expect(";")
	}
	return "", 0, errors.New("want a key")
}
