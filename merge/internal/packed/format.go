package packed

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/merge/internal/jsonpath"
)

// A Kind is the first word of a format.
type Kind string

// The kinds of formats.
const (
	Bits   Kind = "bits"   // of an integer the lower ones are the id, and the others say of what
	High   Kind = "high"   // the upper half of an id whose rest is in another column
	Low    Kind = "low"    // the lower half
	Fixed  Kind = "fixed"  // numbers of fixed width at fixed places of a text
	Fields Kind = "fields" // numbers between separators
	Regexp Kind = "regexp" // what groups of a regular expression match
	PHP    Kind = "php"    // what PHP's serialize returns
	Lua    Kind = "lua"    // a table of Lua, or assignments of some
	Hooks  Kind = "codec"  // a codec that the program gives
)

// A Format is what a plan says of how ids are packed: a Kind and, for some of them, an argument behind a space.
type Format struct {
	Kind  Kind
	Bits  int            // Bits, High, Low: of the lower part
	Expr  *regexp.Regexp // Regexp
	Codec string         // Hooks: its name
}

// ParseFormat parses a format.
func ParseFormat(text string) (f Format, err error) {
	kind, argument, has := strings.Cut(text, " ")
	f.Kind = Kind(kind)
	switch f.Kind {
	case Bits, High, Low:
		f.Bits, err = strconv.Atoi(argument)
		if err != nil || strconv.Itoa(f.Bits) != argument || f.Bits < 1 || f.Bits > 63 {
			return f, fmt.Errorf("format %q: want how many bits the lower part has, 1 to 63: %s 32", text, kind)
		}
	case Regexp:
		if f.Expr, err = regexp.Compile(argument); err != nil || argument == "" {
			return f, fmt.Errorf("format %q: want a regular expression, such as regexp player:(?P<who>[0-9]+): %w", text, err)
		}
	case Hooks:
		if f.Codec = argument; argument == "" {
			return f, fmt.Errorf("format %q: want the name of a codec: codec NAME", text)
		}
	case Fixed, Fields, PHP, Lua:
		if has {
			return f, fmt.Errorf("format %q: nothing follows %s", text, kind)
		}
	default:
		return f, fmt.Errorf("format %q: want bits, high, low, fixed, fields, regexp, php, lua or codec", text)
	}
	return f, nil
}

// Half reports whether values have half of an id.
func (f Format) Half() bool { return f.Kind == High || f.Kind == Low }

// Number reports whether values are integers.
func (f Format) Number() bool { return f.Kind == Bits || f.Half() }

// New returns the codec of a format that is not of Hooks. The separator is for Fields, and none means a comma;
// signed is for halves in a signed type of as many bits: the high one and the low one. Places
// are what a plan names.
func (f Format) New(places []string, separator string, signed [2]bool) (Codec, error) {
	if separator != "" && f.Kind != Fields {
		return nil, errors.New("separator is for fields")
	}
	switch f.Kind {
	case Bits:
		return newBits(f.Bits, places)
	case High, Low:
		if len(places) != 1 || places[0] != "id" {
			return nil, fmt.Errorf("halves have one place, %q", "id")
		}
		return halves{f.Bits, signed}, nil
	case Fixed:
		return newFixed(places)
	case Fields:
		return newFields(places, separator)
	case Regexp:
		return newPattern(f.Expr, places)
	case PHP, Lua:
		var routes []jsonpath.Route
		for i, place := range places {
			steps, err := jsonpath.Parse(place)
			if err != nil {
				return nil, err
			}
			routes = append(routes, jsonpath.Route{Ref: i, Steps: steps})
		}
		if f.Kind == PHP {
			return spans{php{slices.Clone(places), routes}}, nil
		}
		return spans{lua{slices.Clone(places), routes}}, nil
	}
	return nil, fmt.Errorf("%q is no codec of its own", f.Kind)
}
