package numbers

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shardsnow/snow"
)

var day = time.Date(2026, 11, 6, 23, 59, 0, 0, time.UTC)

func TestPatterns(t *testing.T) {
	for text, want := range map[string]string{
		"INV-{yyyy}-{000000}":             "INV-2026-000042",
		"{tenant}/{yyMMdd}/{0000}":        "acme/261106/0042",
		"{000}":                           "042",
		"R{yy}{MM}{dd}{00}":               "R26110642",
		"{ddMMyyyy}:{0000}{luhn}":         "06112026:00429",
		"{00000}{mod11-10}":               "000421",
		"{tenant}-{0000}{luhn}/{shop}":    "acme-00422/x_1",
		"{tenant}{yyyy}#{0000}":           "acme2026#0042",
		"{0000}-{luhn}":                   "0042-2",
		"{000000000000000000}":            "000000000000000042",
		"~!@#$%^&*()[];',.<>?`|\\\"{000}": "~!@#$%^&*()[];',.<>?`|\\\"042",
	} {
		p, err := ParsePattern(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		values := []string{"acme", "x_1"}[:len(p.Partitions())]
		got, err := p.Format(day, 42, values...)
		if err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", text, got, err, want)
		}
		if p.String() != text || len(got) > p.MaxLen() {
			t.Errorf("%s: String %q, MaxLen %d", text, p, p.MaxLen())
		}
		n, err := p.Parse(got)
		if err != nil || n.Number != 42 || !slices.Equal(n.Partitions, values) {
			t.Errorf("Parse(%q) = %+v, %v", got, n, err)
		}
	}
}

func TestBadPatterns(t *testing.T) {
	for text, want := range map[string]int{
		"":                                     0,
		"INV":                                  3,
		"INV-{yyyy}":                           10,
		"INV-{0000":                            4,
		"INV-0000}":                            8,
		"{{0}}":                                0,
		"{}{0}":                                0,
		"a{0}{0}":                              4,
		"{luhn}{0}":                            0,
		"{0}{luhn}{mod11-10}":                  9,
		"{0}{luhn}{luhn}":                      9,
		"{tenant}{0}":                          8,
		"{tenant}x_9{yyyy}{0}":                 17,
		"{0}{tenant}":                          3,
		"{a}/{b}{c}/{0}":                       7,
		"{a}/{a}/{0}":                          4,
		"{a}/{b}/{c}/{d}/{0}":                  12,
		"{yyyy}{yy}{0}":                        6,
		"{yyyyyy}{0}":                          0,
		"{MM}-{MMdd}{0}":                       5,
		"{Tenant}/{0}":                         0,
		"{9a}/{0}":                             0,
		"{00x}":                                0,
		"{mm}{0}":                              4,
		"é{0}":                                 0,
		"a\n{0}":                               1,
		" {0}":                                 1,
		"{0} ":                                 0,
		"{0000000000000000000}":                0,
		strings.Repeat("a", 98) + "{0}":        100,
		"{" + strings.Repeat("a", 33) + "}{0}": 0,
	} {
		_, err := ParsePattern(text)
		var bad *PatternError
		if !errors.As(err, &bad) || bad.Offset != want || bad.Pattern != text {
			t.Errorf("%q: got %v, want an error at %d", text, err, want)
		}
	}
}

func TestCheckDigits(t *testing.T) {
	for text, want := range map[string]byte{"7992739871": '3', "INV-7992 739871": '3', "0": '0', "": '0', "1": '8'} {
		if got := luhnDigit([]byte(text)); got != want {
			t.Errorf("Luhn of %q: got %c, want %c", text, got, want)
		}
	}
	for text, want := range map[string]byte{"0794": '5', "DE 0794": '5', "00200667308": '5'} {
		if got := mod1110Digit([]byte(text)); got != want {
			t.Errorf("MOD 11,10 of %q: got %c, want %c", text, got, want)
		}
	}
	// Each single wrong digit is found, by both.
	p, err := ParsePattern("{00000}{luhn}")
	if err != nil {
		t.Fatal(err)
	}
	q, err := ParsePattern("{00000}{mod11-10}")
	if err != nil {
		t.Fatal(err)
	}
	for n := int64(1); n < 1000; n += 7 {
		for _, p := range []Pattern{p, q} {
			text, err := p.Format(day, n)
			if err != nil {
				t.Fatal(err)
			}
			for i := range text {
				for c := byte('0'); c <= '9'; c++ {
					wrong := text[:i] + string(c) + text[i+1:]
					if _, err := p.Parse(wrong); err == nil && wrong != text {
						t.Fatalf("%s passes for %s", wrong, text)
					}
				}
			}
		}
	}
}

func TestTexts(t *testing.T) {
	p, err := ParsePattern("INV-{yyyy}-{0000}{luhn}")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := p.Parse("INV-2026-0000425"); err != nil || n.Number != 42 || n.Date != "2026" {
		t.Errorf("with other padding: got %+v, %v", n, err)
	}
	for _, text := range []string{"", "INV-2026-00421", "inv-2026-00427", "INV-2026-00427 ", "INV-2026-", "INV-2026-00000", "INV-26-00427"} {
		if n, err := p.Parse(text); !errors.As(err, new(*TextError)) {
			t.Errorf("%q: got %+v, %v", text, n, err)
		}
	}
	if _, err := p.Format(day, 10000); !errors.As(err, new(*OverflowError)) {
		t.Errorf("Format of a long number: got %v", err)
	}
	q, err := ParsePattern("{tenant}/{0000}")
	if err != nil {
		t.Fatal(err)
	}
	for _, values := range [][]string{nil, {"a", "b"}, {""}, {"a/b"}, {"ä"}, {strings.Repeat("a", 33)}, {"a b"}} {
		if text, err := q.Format(day, 1, values...); !errors.As(err, new(*ValueError)) {
			t.Errorf("%q: got %q, %v", values, text, err)
		}
	}
}

func TestRestarts(t *testing.T) {
	for _, test := range []struct {
		pattern string
		restart Restart
		scope   string // empty: it must be refused
	}{
		{"{0}", Never, "-"},
		{"{yyyy}{0}", Never, "-"},
		{"{t}/{0}", Never, "a"},
		{"{yyyy}{0}", Yearly, "2026"},
		{"{yy}{0}", Yearly, "26"},
		{"{yyMMdd}{0}", Yearly, "26"},
		{"{MM}{yy}{0}", Monthly, "26-11"},
		{"{t}/{yyyyMMdd}/{0}/{u}", Daily, "2026-11-06/a/b"},
		{"{MM}{0}", Yearly, ""},
		{"{yyyy}{0}", Monthly, ""},
		{"{MMdd}{0}", Daily, ""},
		{"{yyyyMM}{0}", Daily, ""},
		{"{yyyyMMdd}{0}", Daily + 1, ""},
		{"{yyyyMMdd}{0}", -1, ""},
	} {
		p, err := ParsePattern(test.pattern)
		if err != nil {
			t.Fatal(err)
		}
		err = test.restart.check(p)
		if test.scope == "" {
			if !errors.As(err, new(*snow.FieldError)) {
				t.Errorf("%s, %v: got %v", test.pattern, test.restart, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s, %v: %v", test.pattern, test.restart, err)
		}
		s := &series{pattern: p, restart: test.restart}
		scope := s.scope(window{day: day}, []string{"a", "b"}[:len(p.partitions)])
		if scope != test.scope || s.checkScope(scope) != nil {
			t.Errorf("%s, %v: scope %q, %v, want %q", test.pattern, test.restart, scope, s.checkScope(scope), test.scope)
		}
	}
	for r := Never; r <= Daily; r++ {
		if got, err := ParseRestart(r.String()); err != nil || got != r {
			t.Errorf("ParseRestart(%v) = %v, %v", r, got, err)
		}
	}
	if _, err := ParseRestart("weekly"); !errors.As(err, new(*snow.FieldError)) {
		t.Errorf("weekly: got %v", err)
	}
}

// step is short where the offset of a zone changes, or the year.
func step(t time.Time) time.Duration {
	_, end := t.ZoneBounds()
	if begin, _ := t.Add(26 * time.Hour).ZoneBounds(); t.YearDay() > 1 && t.YearDay() < 365 &&
		(end.IsZero() || end.Sub(t) > 26*time.Hour) && (begin.IsZero() || t.Sub(begin) > 26*time.Hour) {
		return 25 * time.Hour
	}
	return 17 * time.Minute
}

// In a window the dates of a text do not change, also where midnight is skipped or repeated.
func TestWindows(t *testing.T) {
	for _, name := range []string{"", "Asia/Shanghai", "America/Sao_Paulo", "America/Havana", "America/St_Johns", "Pacific/Apia", "Europe/Berlin"} {
		zone, err := loadZone(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"{yyyy}{0}", "{yyMM}{0}", "{yyMMdd}{0}", "{0}"} {
			p, err := ParsePattern(text)
			if err != nil {
				t.Fatal(err)
			}
			s := &series{pattern: p, zone: zone}
			for _, year := range []int{1987, 2008, 2011, 2026} {
				begin := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
				for at := begin; at.Year() == year; at = at.Add(step(at.In(zone))) {
					now := at.UnixMicro()
					w := s.windowAt(now)
					if !w.has(now) {
						t.Fatalf("%s, %s: %v is not in its window", name, text, at)
					}
					want := string(p.append(nil, w.day, 1, nil))
					for _, edge := range []int64{w.begin, w.end - 1} {
						if text == "{0}" {
							break
						}
						if got := string(p.append(nil, time.UnixMicro(edge).In(zone), 1, nil)); got != want {
							t.Fatalf("%s, %s: %v is %s, an edge of its window is %s", name, text, at, want, got)
						}
					}
				}
			}
		}
	}
	for _, name := range []string{"Mars/Olympus", "Local", "../etc", "Europe/Berlin\x00"} {
		if _, err := loadZone(name); !errors.As(err, new(*snow.FieldError)) {
			t.Errorf("zone %q: got %v", name, err)
		}
	}
}

// A pattern that is accepted gives texts that say what they were made of, with any padding.
func FuzzPattern(f *testing.F) {
	for _, text := range []string{
		"INV-{yyyy}-{000000}", "{tenant}/{yyMMdd}/{0000}", "{0000}{luhn}", "x{dd}{0}{mod11-10}-{a}", "{a}1/2{b}{MM}-{00}{yy}", "{{0}", "}", "{tenant}{0}",
	} {
		f.Add(text, int64(7), int64(70_000), "a1", "a", "_", uint8(3))
	}
	f.Fuzz(func(t *testing.T, text string, n, m int64, a, b, c string, wider uint8) {
		p, err := ParsePattern(text)
		if err != nil {
			var bad *PatternError
			if !errors.As(err, &bad) || bad.Offset < 0 || bad.Offset > len(text) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if again, err := ParsePattern(p.String()); err != nil || again.String() != text {
			t.Fatalf("%q: %v", text, err)
		}
		zeros := "{" + strings.Repeat("0", p.width)
		wide, err := ParsePattern(strings.Replace(text, zeros, zeros+strings.Repeat("0", min(int(wider), longestWidth-p.width)), 1))
		if err != nil {
			return // it is too long now
		}
		if wide.shape() != p.shape() {
			t.Fatalf("%q has another shape than %q", wide, p)
		}
		read := func(p Pattern, n int64, values ...string) string {
			values = values[:len(p.partitions)]
			got, err := p.Format(day, n, values...)
			if err != nil {
				return ""
			}
			found, err := p.Parse(got)
			if err != nil || found.Number != n || !slices.Equal(found.Partitions, values) || len(got) > p.MaxLen() {
				t.Fatalf("%q: %q is read as %+v, %v; want %d, %q", p, got, found, err, n, values)
			}
			return got
		}
		one := read(p, n, a, b, c)
		for _, other := range []string{read(wide, m, a, b, c), read(wide, m, b, a, c), read(wide, n, b, c, a)} {
			if one == other && one != "" && (n != m || a != b || b != c) {
				if found, err := p.Parse(one); err != nil || found.Number != n {
					t.Fatalf("%q and %q give %q", p, wide, one)
				}
			}
		}
	})
}
