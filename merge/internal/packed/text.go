package packed

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
)

// fixed finds numbers at fixed places of a text.
type fixed []fixedPlace

type fixedPlace struct {
	digits
	at int // its first byte
}

// A place is 8:dec6, 8:hex16 or 8:HEX16: the bytes before it, and how it is written.
func newFixed(places []string) (Codec, error) {
	var f fixed
	for _, place := range places {
		at, form, _ := strings.Cut(place, ":")
		d, ok := parseDigits(place, form)
		n, err := strconv.Atoi(at)
		if !ok || d.width == 0 || err != nil || strconv.Itoa(n) != at || n < 0 || n > 1<<24 {
			return nil, fmt.Errorf("place %q: want the number of bytes before it and how many digits it has, such as 8:dec10 or 0:hex16", place)
		}
		f = append(f, fixedPlace{d, n})
	}
	slices.SortFunc(f, func(a, b fixedPlace) int { return cmp.Compare(a.at, b.at) })
	for i := 1; i < len(f); i++ {
		if f[i-1].at+f[i-1].width > f[i].at {
			return nil, fmt.Errorf("places %q and %q overlap", f[i-1].place, f[i].place)
		}
	}
	return spans{f}, nil
}

func (f fixed) find(text string) (all []span, err error) {
	for _, p := range f {
		if len(text) < p.at+p.width {
			return nil, fmt.Errorf("%s has %d bytes, and place %q ends at %d", sample(text), len(text), p.place, p.at+p.width)
		}
		s, err := p.span(text, p.at, p.at+p.width)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// fields finds numbers between separators.
type fields struct {
	separator string
	places    []fieldPlace
}

type fieldPlace struct {
	digits
	from, step int // the fields from-1, from-1+step and so on; a step of 0 is of one field
}

// A place is 2, or 2+3 for each third field from the second on; behind a colon may be how the id is written.
func newFields(places []string, separator string) (Codec, error) {
	f := fields{separator: cmp.Or(separator, ",")}
	for _, place := range places {
		at, form, _ := strings.Cut(place, ":")
		from, step, several := strings.Cut(at, "+")
		p := fieldPlace{}
		var ok bool
		var err, bad error
		p.digits, ok = parseDigits(place, form)
		if p.from, err = strconv.Atoi(from); several {
			p.step, bad = strconv.Atoi(step)
		}
		if !ok || err != nil || bad != nil || p.from < 1 || p.from > 1<<20 || several && (p.step < 1 || p.step > 1<<20) {
			return nil, fmt.Errorf("place %q: want a field from 1 on, such as 2, 2:hex8, or 2+3 for each third one from the second on", place)
		}
		for _, other := range f.places {
			if p.meets(other) {
				return nil, fmt.Errorf("places %q and %q name the same field", other.place, place)
			}
		}
		f.places = append(f.places, p)
	}
	return spans{f}, nil
}

// meets reports whether two places have a field in common.
func (p fieldPlace) meets(o fieldPlace) bool {
	if p.step == 0 {
		p, o = o, p
	}
	switch n := o.from - p.from; {
	case p.step == 0:
		return n == 0
	case o.step == 0:
		return n >= 0 && n%p.step == 0
	default:
		a, b := p.step, o.step
		for b != 0 {
			a, b = b, a%b
		}
		return n%a == 0
	}
}

func (f fields) find(text string) (all []span, err error) {
	start := 0
	parts := strings.Split(text, f.separator)
	for _, p := range f.places {
		if p.step == 0 && p.from > len(parts) {
			return nil, fmt.Errorf("%s has %d fields, and no field %d", sample(text), len(parts), p.from)
		}
	}
	for i, part := range parts {
		for _, p := range f.places {
			if n := i + 1 - p.from; n != 0 && (n < 0 || p.step == 0 || n%p.step != 0) {
				continue
			}
			bare := strings.TrimSpace(part)
			at := start + strings.Index(part, bare)
			s, err := p.span(text, at, at+len(bare))
			if err != nil {
				return nil, err
			}
			all = append(all, s)
			break
		}
		start += len(part) + len(f.separator)
	}
	return all, nil
}

// pattern finds what named groups of a regular expression match.
type pattern struct {
	expr   *regexp.Regexp
	groups map[int]digits
}

// A place is the name of a group; behind a colon may be how the id is written. A group in a repetition is refused:
// a match has the last of its texts only, and ids in the others would stay as they are.
func newPattern(expr *regexp.Regexp, places []string) (Codec, error) {
	p := pattern{expr, map[int]digits{}}
	tree, err := syntax.Parse(expr.String(), syntax.Perl)
	if err != nil {
		return nil, err
	}
	again := repeated(tree, false)
	for _, place := range places {
		name, form, _ := strings.Cut(place, ":")
		d, ok := parseDigits(place, form)
		if !ok || name == "" || expr.SubexpIndex(name) < 0 {
			return nil, fmt.Errorf("place %q: want a group of the regular expression, (?P<%s>…), and then how it is written, such as :hex8", place, name)
		}
		found := false
		for i, group := range expr.SubexpNames() { // alternatives may have one group each of the same name
			if group == name {
				_, found = p.groups[i]
				p.groups[i] = d
			}
		}
		if found {
			return nil, fmt.Errorf("place %q: its group is there twice", place)
		}
		if slices.Contains(again, name) {
			return nil, fmt.Errorf("place %q: its group is in a repetition, of which only the last id would be found: let the expression match each id by itself, as it may match several times", place)
		}
	}
	return spans{p}, nil
}

// repeated returns the names of the groups that may match several times in one match.
func repeated(re *syntax.Regexp, within bool) (names []string) {
	switch re.Op {
	case syntax.OpCapture:
		if within {
			names = append(names, re.Name)
		}
	case syntax.OpStar, syntax.OpPlus:
		within = true
	case syntax.OpRepeat:
		within = within || re.Max != 1
	}
	for _, sub := range re.Sub {
		names = append(names, repeated(sub, within)...)
	}
	return names
}

func (p pattern) find(text string) (all []span, err error) {
	matches := p.expr.FindAllStringSubmatchIndex(text, -1)
	if len(matches) == 0 {
		return nil, fmt.Errorf("the regular expression does not match %s", sample(text))
	}
	for _, match := range matches {
		for i := 1; i < len(match)/2; i++ {
			d, ok := p.groups[i]
			if !ok || match[2*i] < 0 {
				continue
			}
			s, err := d.span(text, match[2*i], match[2*i+1])
			if err != nil {
				return nil, err
			}
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	for i := 1; i < len(all); i++ {
		if all[i-1].end > all[i].start {
			return nil, errors.New("groups of the regular expression match the same text")
		}
	}
	return all, nil
}
