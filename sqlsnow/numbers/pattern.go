package numbers

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	longestPattern   = 100 // bytes
	longestWidth     = 18  // digits; an int64 has room for them
	longestPartition = 32  // bytes of a name, and of a value
	mostPartitions   = 3
)

// A Pattern says how a number looks to people:
//
//	INV-{yyyy}-{000000}       INV-2026-000123
//	{tenant}/{yyMMdd}/{0000}  acme/261126/0007
//	{00000000}{luhn}          000000018
//
// What is not in braces is literal: printable ASCII without braces, and without spaces at the ends. In braces are
//
//   - {0000}: the number, padded with zeros to this width of 1 to 18. Every pattern has one. A number that needs more
//     digits is an [*OverflowError].
//   - {yyyy}, {yy}, {MM}, {dd}, also together, as in {yyMMdd}: the date
//   - {luhn} or {mod11-10}: a check digit over all digits before it (Luhn, or ISO 7064 MOD 11,10). It comes after the
//     number.
//   - any other name of lower-case letters, digits and underscores: a partition, such as {tenant}. Each of its values
//     has numbers of its own. Values are 1 to 32 ASCII letters, digits and underscores, and case counts.
//
// Between a partition and the number, and between two partitions, there is a literal character that is no letter, digit
// or underscore. So different values never give the same text, not even after the padding was widened.
type Pattern struct {
	text       string
	parts      []part
	partitions []string
	width      int
	years      int // digits of the year: 0, 2 or 4
	month, day bool
	match      *regexp.Regexp
}

type kind int

const (
	literal kind = iota
	number
	date
	partition
	luhn
	mod1110
)

type part struct {
	kind kind
	text string // what is in the braces, or the literal
}

// A PatternError says what is wrong with a pattern, and where.
type PatternError struct {
	Pattern string
	Offset  int // in bytes
	Reason  string
}

func (e *PatternError) Error() string {
	return fmt.Sprintf("pattern %q, offset %d: %s", e.Pattern[:min(len(e.Pattern), 2*longestPattern)], e.Offset, e.Reason)
}

// ParsePattern parses a pattern. The error is a [*PatternError].
func ParsePattern(text string) (Pattern, error) {
	p := Pattern{text: text}
	fail := func(offset int, format string, args ...any) (Pattern, error) {
		return Pattern{}, &PatternError{text, offset, fmt.Sprintf(format, args...)}
	}
	if len(text) > longestPattern {
		return fail(longestPattern, "it is longer than %d bytes", longestPattern)
	}
	if i := strings.IndexFunc(text, func(r rune) bool { return r < ' ' || r > '~' }); i >= 0 {
		return fail(i, "only printable ASCII can be in it")
	}
	check, apart := false, true // apart: a character that separates has followed the last partition or number
	for at := 0; at < len(text); {
		end := at + strings.IndexAny(text[at:]+"{", "{}")
		if end > at {
			p.parts = append(p.parts, part{literal, text[at:end]})
			apart = apart || strings.ContainsFunc(text[at:end], separates)
			at = end
			continue
		}
		size := strings.IndexByte(text[at:], '}')
		switch {
		case text[at] == '}':
			return fail(at, "there is no { before this }")
		case size < 0:
			return fail(at, "there is no } after this {")
		}
		inner := text[at+1 : at+size]
		kind, reason := p.kindOf(inner)
		switch {
		case reason != "":
			return fail(at, "%s", reason)
		case kind == number && p.width > 0:
			return fail(at, "the number is there twice")
		case (kind == luhn || kind == mod1110) && p.width == 0:
			return fail(at, "the check digit is in front of the number")
		case (kind == luhn || kind == mod1110) && check:
			return fail(at, "there are two check digits")
		case (kind == number && len(p.partitions) > 0 || kind == partition && (p.width > 0 || len(p.partitions) > 0)) && !apart:
			return fail(at, "a character that is no letter, digit or underscore must separate a partition from the number, and from another partition")
		case kind == partition && slices.Contains(p.partitions, inner):
			return fail(at, "the partition %s is there twice", inner)
		case kind == partition && len(p.partitions) == mostPartitions:
			return fail(at, "there are more than %d partitions", mostPartitions)
		}
		switch kind {
		case number:
			p.width, apart = len(inner), false
		case partition:
			p.partitions, apart = append(p.partitions, inner), false
		case luhn, mod1110:
			check = true
		}
		p.parts = append(p.parts, part{kind, inner})
		at += size + 1
	}
	switch {
	case p.width == 0:
		return fail(len(text), "there is no number, such as {0000}")
	case strings.TrimSpace(text) != text:
		return fail(len(text)-len(strings.TrimLeft(text, " ")), "there is a space at an end of it")
	}
	p.match = p.expression()
	return p, nil
}

// separates reports whether a literal character can't be in the value of a partition.
func separates(r rune) bool { return !inValue(r) }

func inValue(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_'
}

// kindOf returns what the text in a pair of braces stands for, and notes the parts of a date.
func (p *Pattern) kindOf(inner string) (k kind, reason string) {
	switch inner {
	case "":
		return 0, "there is nothing in the braces"
	case "luhn":
		return luhn, ""
	case "mod11-10":
		return mod1110, ""
	}
	if strings.Trim(inner, "0") == "" {
		if len(inner) > longestWidth {
			return 0, fmt.Sprintf("the number is wider than %d digits", longestWidth)
		}
		return number, ""
	}
	units := dateUnits(inner)
	for _, unit := range units {
		twice := false
		switch unit {
		case "yyyy", "yy":
			twice, p.years = p.years > 0, len(unit)
		case "MM":
			twice, p.month = p.month, true
		case "dd":
			twice, p.day = p.day, true
		}
		if twice {
			return 0, "the date has " + unit + " twice, or two years"
		}
	}
	switch {
	case units != nil:
		return date, ""
	case len(inner) > longestPartition || inner[0] < 'a' || inner[0] > 'z' ||
		strings.ContainsFunc(inner, func(r rune) bool { return !inValue(r) || r >= 'A' && r <= 'Z' }):
		return 0, strconv.Quote(inner) + " is no number such as 0000, no date of yyyy, yy, MM and dd, no check digit (luhn, mod11-10)," +
			" and no name of up to 32 lower-case letters, digits and underscores"
	}
	return partition, ""
}

// dateUnits splits text into the units of a date, or returns nil.
func dateUnits(text string) (units []string) {
next:
	for text != "" {
		for _, unit := range []string{"yyyy", "yy", "MM", "dd"} {
			if rest, ok := strings.CutPrefix(text, unit); ok {
				units, text = append(units, unit), rest
				continue next
			}
		}
		return nil
	}
	return units
}

// String returns the text that p was parsed from.
func (p Pattern) String() string { return p.text }

// Partitions returns the names of the partitions, in order.
func (p Pattern) Partitions() []string { return slices.Clone(p.partitions) }

// Highest returns the highest number that the padding has room for.
func (p Pattern) Highest() int64 {
	most := int64(1)
	for range p.width {
		most *= 10
	}
	return most - 1
}

// MaxLen returns the length of the longest text that p gives, for the column that stores it.
func (p Pattern) MaxLen() (n int) {
	for _, part := range p.parts {
		switch part.kind {
		case luhn, mod1110:
			n++
		case partition:
			n += longestPartition
		default:
			n += len(part.text) // digits of a date and of a number are as long as their names
		}
	}
	return n
}

// shape is the pattern without the width of its number, which may change.
func (p Pattern) shape() string {
	return strings.Replace(p.text, "{"+strings.Repeat("0", p.width)+"}", "{0}", 1)
}

// Format returns the text of the n-th number on the day of t, in t's location.
func (p Pattern) Format(t time.Time, n int64, partitions ...string) (string, error) {
	if err := p.checkValues(partitions); err != nil {
		return "", err
	}
	if n < 1 || n > p.Highest() {
		return "", &OverflowError{Pattern: p.text, Highest: p.Highest()}
	}
	return string(p.append(nil, t, n, partitions)), nil
}

// append appends the text to b. All values were checked.
func (p Pattern) append(b []byte, t time.Time, n int64, partitions []string) []byte {
	begin := len(b)
	for _, part := range p.parts {
		switch part.kind {
		case literal:
			b = append(b, part.text...)
		case number:
			b = appendPadded(b, n, p.width)
		case date:
			b = p.appendDate(b, t, part.text)
		case partition:
			b, partitions = append(b, partitions[0]...), partitions[1:]
		case luhn:
			b = append(b, luhnDigit(b[begin:]))
		case mod1110:
			b = append(b, mod1110Digit(b[begin:]))
		}
	}
	return b
}

func (p Pattern) appendDate(b []byte, t time.Time, text string) []byte {
	for _, unit := range dateUnits(text) {
		switch unit {
		case "yyyy":
			b = appendPadded(b, int64(t.Year()), 4)
		case "yy":
			b = appendPadded(b, int64(t.Year()%100), 2)
		case "MM":
			b = appendPadded(b, int64(t.Month()), 2)
		case "dd":
			b = appendPadded(b, int64(t.Day()), 2)
		}
	}
	return b
}

func appendPadded(b []byte, n int64, width int) []byte {
	text := strconv.FormatInt(n, 10)
	for range width - len(text) {
		b = append(b, '0')
	}
	return append(b, text...)
}

// checkValues returns a *ValueError unless there is a valid value for each partition.
func (p Pattern) checkValues(values []string) error {
	if len(values) != len(p.partitions) {
		return &ValueError{Reason: fmt.Sprintf("the pattern has %d partitions (%s), and the call has %d values",
			len(p.partitions), strings.Join(p.partitions, ", "), len(values))}
	}
	for i, v := range values {
		if v == "" || len(v) > longestPartition || strings.ContainsFunc(v, separates) {
			return &ValueError{
				Partition: p.partitions[i], Value: v[:min(len(v), 2*longestPartition)],
				Reason: "want 1 to 32 ASCII letters, digits and underscores",
			}
		}
	}
	return nil
}

// A Number is what the text of a number says.
type Number struct {
	Date       string // its digits, as they stand in the text; empty without a date
	Partitions []string
	Number     int64
}

// Parse reads a text that p, or p with other padding, has given, and checks its check digit. The error is a
// [*TextError].
func (p Pattern) Parse(text string) (Number, error) {
	found := p.match.FindStringSubmatchIndex(text)
	if found == nil {
		return Number{}, &TextError{Text: text[:min(len(text), 2*longestPattern)], Reason: "it does not fit the pattern " + p.text}
	}
	var n Number
	group := 1
	for _, part := range p.parts {
		if part.kind == literal {
			continue
		}
		begin, end := found[2*group], found[2*group+1]
		value := text[begin:end]
		group++
		var want byte
		switch part.kind {
		case number:
			n.Number, _ = strconv.ParseInt(value, 10, 64) // at most 18 digits
			if n.Number == 0 {
				return Number{}, &TextError{Text: text, Reason: "there is no number 0"}
			}
		case date:
			n.Date += value
		case partition:
			n.Partitions = append(n.Partitions, value)
		case luhn:
			want = luhnDigit([]byte(text[:begin]))
		case mod1110:
			want = mod1110Digit([]byte(text[:begin]))
		}
		if want != 0 && value[0] != want {
			return Number{}, &TextError{Text: text, Reason: "the check digit is wrong: a digit was mistyped, or two were swapped"}
		}
	}
	return n, nil
}

// expression matches the texts of p with any padding. The number is as long as what remains, because only it and
// partitions differ in length, and a separator is between these.
func (p Pattern) expression() *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`\A`)
	for _, part := range p.parts {
		switch part.kind {
		case literal:
			b.WriteString(regexp.QuoteMeta(part.text))
		case number:
			fmt.Fprintf(&b, `([0-9]{1,%d})`, longestWidth)
		case date:
			fmt.Fprintf(&b, `([0-9]{%d})`, len(part.text))
		case partition:
			fmt.Fprintf(&b, `([A-Za-z0-9_]{1,%d})`, longestPartition)
		case luhn, mod1110:
			b.WriteString(`([0-9])`)
		}
	}
	b.WriteString(`\z`)
	return regexp.MustCompile(b.String())
}
