package docs_test

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A section of a page: what must be the same in another language.
type section struct {
	level       int
	title       string
	code        []string        // its blocks, without comments
	names       map[string]bool // what is in backquotes, such as names and settings
	numbers     map[string]bool // in the text
	rows, items int             // of tables and lists
}

var (
	codeBlock = regexp.MustCompile("(?ms)^```\\w*\n(.*?)^```$")
	codeName  = regexp.MustCompile("`([^`]+)`")
	linked    = regexp.MustCompile(`\]\([^)]*\)`)
	number    = regexp.MustCompile(`\d[\d,.]*\d|\d`)
	titleLine = regexp.MustCompile(`^(#+) (.*)`)
	listItem  = regexp.MustCompile(`^(-|\d+\.) `)
)

// sections returns the sections of a page. What is above the first title belongs to none.
func sections(page string) (all []section) {
	var blocks []string
	page = codeBlock.ReplaceAllStringFunc(page, func(block string) string {
		blocks = append(blocks, uncommented(codeBlock.FindStringSubmatch(block)[1]))
		return "\x00"
	})
	for line := range strings.Lines(page) {
		if m := titleLine.FindStringSubmatch(line); m != nil {
			all = append(all, section{level: len(m[1]), title: m[2], names: make(map[string]bool), numbers: make(map[string]bool)})
			continue
		}
		if len(all) == 0 || strings.HasPrefix(line, "    ") {
			continue
		}
		s := &all[len(all)-1]
		switch {
		case strings.HasPrefix(line, "\x00"):
			s.code, blocks = append(s.code, blocks[0]), blocks[1:]
		case strings.HasPrefix(line, "|"):
			s.rows++
		case listItem.MatchString(line):
			s.items++
		}
		for _, m := range codeName.FindAllStringSubmatch(line, -1) {
			s.names[m[1]] = true
		}
		for _, n := range number.FindAllString(linked.ReplaceAllString(codeName.ReplaceAllString(line, ""), ""), -1) {
			s.numbers[n] = true
		}
	}
	return all
}

// uncommented returns code without comments and indentation.
func uncommented(code string) string {
	lines := strings.Split(code, "\n")
	for i, line := range lines {
		line, _, _ = strings.Cut(line, " // ")
		line, _, _ = strings.Cut(line, " -- ")
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "\n")
}

// missing returns what a has and b has not, sorted.
func missing(a, b map[string]bool) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if !b[name] {
			names = append(names, name)
		}
	}
	return names
}

// Pages that are several in English, and one in Chinese, with those that the page of the same name leads to.
var split = map[string][]string{
	"leases.md": {"docs/after-a-restore.md", "docs/proxies-and-clouds.md"},
}

// says checks that a page says nothing that those in English do not: its code, names and numbers are there, in any order.
func says(t *testing.T, name string, page, english []section) {
	t.Helper()
	all := section{names: make(map[string]bool), numbers: make(map[string]bool)}
	for _, s := range english {
		all.code = append(all.code, s.code...)
		maps.Copy(all.names, s.names)
		maps.Copy(all.numbers, s.numbers)
	}
	for _, s := range page {
		for _, code := range s.code {
			if !slices.Contains(all.code, code) {
				t.Errorf("%s: %s: this code is on no page in English:\n%s", name, s.title, code)
			}
		}
		if more := append(missing(s.names, all.names), missing(s.numbers, all.numbers)...); len(more) > 0 {
			t.Errorf("%s: %s: %q are on no page in English", name, s.title, more)
		}
	}
}

// Each page in Chinese, but for those of split, has the sections of its page in English, in the same order,
// each with the same code, names, numbers, rows and items: what changes in one must
// be changed in the other.
func TestChinesePages(t *testing.T) {
	t.Chdir("..")
	names, texts := pages(t, "README.zh-CN.md", "docs/zh-CN/*.md")
	for _, name := range names {
		english := "docs/" + path.Base(name)
		if name == "README.zh-CN.md" {
			english = "README.md"
		}
		_, originals := pages(t, english)
		got, want := sections(texts[name]), sections(originals[english])
		if more := split[path.Base(name)]; more != nil {
			_, texts := pages(t, more...)
			for _, page := range more {
				want = append(want, sections(texts[page])...)
			}
			says(t, name, got, want)
			continue
		}
		if len(got) != len(want) || len(got) < 2 {
			t.Errorf("%s has %d sections, want the %d of %s", name, len(got), len(want), english)
			continue
		}
		for i, w := range want {
			g := got[i]
			at := name + ": " + g.title
			if g.level != w.level || g.rows != w.rows || g.items != w.items {
				t.Errorf("%s: level %d, %d rows, %d items, want %d, %d, %d of %q", at, g.level, g.rows, g.items, w.level, w.rows, w.items, w.title)
			}
			if !slices.Equal(g.code, w.code) {
				t.Errorf("%s: the code is not that of %q", at, w.title)
			}
			if lost, more := missing(w.names, g.names), missing(g.names, w.names); len(lost)+len(more) > 0 {
				t.Errorf("%s: without %q, and with %q that are not in %q", at, lost, more, w.title)
			}
			if lost := missing(w.numbers, g.numbers); len(lost) > 0 {
				t.Errorf("%s: without the numbers %q", at, lost)
			}
		}
	}
}

// The check finds a difference of each kind.
func TestSections(t *testing.T) {
	const page = "above\n# One `a` 1\n- item of 2.5 `b`\n| row |\n    indented 3\n" +
		"```go\nx := 1 // why\n```\n## Two\n[4](5)\n"
	got := sections(page)
	if len(got) != 2 {
		t.Fatalf("found %+v", got)
	}
	one, two := got[0], got[1]
	if one.level != 1 || one.rows != 1 || one.items != 1 || !slices.Equal(one.code, []string{"x := 1\n"}) ||
		!maps.Equal(one.names, map[string]bool{"b": true}) || !maps.Equal(one.numbers, map[string]bool{"2.5": true}) {
		t.Errorf("the first section is %+v", one)
	}
	if two.level != 2 || two.title != "Two" || !maps.Equal(two.numbers, map[string]bool{"4": true}) {
		t.Errorf("the second section is %+v", two)
	}
	if lost := missing(one.numbers, two.numbers); !slices.Equal(lost, []string{"2.5"}) {
		t.Errorf("missing numbers: %q", lost)
	}
}
