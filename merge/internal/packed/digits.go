package packed

import (
	"fmt"
	"strconv"
	"strings"
)

// digits is how an id is written in a text.
type digits struct {
	place string
	base  int
	upper bool
	width int // with leading zeros; 0 for as many as there are
}

// parseDigits parses dec, hex or HEX with a width behind it, which may be missing. Default: dec.
func parseDigits(place, text string) (d digits, ok bool) {
	d = digits{place: place, base: 10}
	rest, isHex := strings.CutPrefix(strings.ToLower(text), "hex")
	switch {
	case isHex && (strings.HasPrefix(text, "hex") || strings.HasPrefix(text, "HEX")):
		d.base, d.upper = 16, strings.HasPrefix(text, "HEX")
	case strings.HasPrefix(text, "dec"):
		rest = text[len("dec"):]
	case text != "":
		return d, false
	}
	if rest == "" {
		return d, true
	}
	n, err := strconv.Atoi(rest)
	d.width = n
	return d, err == nil && strconv.Itoa(n) == rest && n > 0 && n <= 64
}

// read returns the decimal digits of what is written. Without base and width it is for the caller to say whether
// that is an id.
func (d digits) read(text string) (string, error) {
	if d.base == 10 && d.width == 0 {
		return text, nil
	}
	n, err := strconv.ParseUint(text, d.base, 63)
	if err != nil || d.width > 0 && len(text) != d.width {
		return text, fmt.Errorf("at place %q, %s is no number of base %d%s", d.place, sample(text), d.base, d.wide())
	}
	return strconv.FormatUint(n, 10), nil
}

func (d digits) wide() string {
	if d.width == 0 {
		return ""
	}
	return fmt.Sprintf(" and of %d digits", d.width)
}

func (d digits) write(id string) (string, error) {
	if d.base == 10 && d.width == 0 {
		return id, nil
	}
	n, err := strconv.ParseUint(id, 10, 63)
	if err != nil {
		return "", fmt.Errorf("at place %q, the id %s can't be written", d.place, sample(id))
	}
	text := strconv.FormatUint(n, d.base)
	if d.upper {
		text = strings.ToUpper(text)
	}
	if d.width == 0 || len(text) == d.width {
		return text, nil
	}
	if len(text) > d.width {
		most := strings.Repeat("9", d.width)
		if d.base == 16 {
			most = strconv.FormatUint(1<<(4*d.width)-1, 10)
		}
		return "", tooWide(d.place, id, most)
	}
	return strings.Repeat("0", d.width-len(text)) + text, nil
}

// span returns where an id is.
func (d digits) span(text string, start, end int) (span, error) {
	id, err := d.read(text[start:end])
	return span{d.place, start, end, id, d.write}, err
}
