package docs_test

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// facts are what a page says in every language, wherever it says it: a page in Chinese has its own sections.
type facts struct {
	code    []string        // blocks of code, and indented lines, without comments, sorted
	rows    []string        // rows of tables: the names and numbers of each, sorted
	names   map[string]bool // what is in backquotes, such as names and settings
	numbers map[string]int  // how often each number is in the text
	words   map[string]bool // numbers that are written as words in English
}

var (
	codeBlock = regexp.MustCompile("(?ms)^```\\w*\n(.*?)^```$")
	codeName  = regexp.MustCompile("`([^`]+)`")
	linked    = regexp.MustCompile(`\]\([^)]*\)`)
	number    = regexp.MustCompile(`\d[\d,.]*\d|\d`)
	counted   = regexp.MustCompile(`(\d[\d,]*) ?(万|亿|million)`)
	millions  = regexp.MustCompile(`(\d+) to (\d+) million`)
	word      = regexp.MustCompile(`[a-z]+`)
)

// spelled are numbers that English writes as words, and Chinese as digits where it reads better.
var spelled = map[string]string{
	"one": "1", "once": "1", "first": "1", "two": "2", "twice": "2", "both": "2", "second": "2", "half": "2", "three": "3", "third": "3",
	"four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9", "ten": "10", "eleven": "11", "twelve": "12", "sixteen": "16", "fifty": "50",
}

// factsOf returns the facts of a page. Titles are not compared.
func factsOf(page string) facts {
	f := facts{names: make(map[string]bool), numbers: make(map[string]int), words: make(map[string]bool)}
	page = codeBlock.ReplaceAllStringFunc(page, func(block string) string {
		f.code = append(f.code, uncommented(codeBlock.FindStringSubmatch(block)[1]))
		return ""
	})
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		if strings.HasPrefix(line, "    ") {
			line, _, _ = strings.Cut(line, " # ")
			f.code = append(f.code, strings.TrimSpace(line))
			continue
		}
		var row []string
		for _, m := range codeName.FindAllStringSubmatch(line, -1) {
			f.names[m[1]] = true
			row = append(row, "`"+m[1]+"`")
		}
		text := linked.ReplaceAllString(codeName.ReplaceAllString(line, ""), "")
		text = millions.ReplaceAllString(text, "$1 million to $2 million")
		text = counted.ReplaceAllStringFunc(text, inDigits)
		for _, n := range number.FindAllString(text, -1) {
			f.numbers[n]++
			row = append(row, n)
		}
		for _, w := range word.FindAllString(strings.ToLower(text), -1) {
			if n, ok := spelled[w]; ok {
				f.words[n] = true
			}
		}
		if strings.HasPrefix(line, "|") {
			slices.Sort(row)
			f.rows = append(f.rows, strings.Join(slices.Compact(row), " "))
		}
	}
	slices.Sort(f.code)
	slices.Sort(f.rows)
	return f
}

// inDigits writes a number such as 90 亿 or 9 million with all of its digits.
func inDigits(text string) string {
	m := counted.FindStringSubmatch(text)
	digits := strings.ReplaceAll(m[1], ",", "") + strings.Repeat("0", map[string]int{"万": 4, "亿": 8, "million": 6}[m[2]])
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// uncommented returns code without comments and indentation.
func uncommented(code string) string {
	lines := strings.Split(code, "\n")
	for i, line := range lines {
		line, _, _ = strings.Cut(" "+line, " // ")
		line, _, _ = strings.Cut(line, " -- ")
		line, _, _ = strings.Cut(line, " # ")
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "\n")
}

// differences says what a translation lacks, and what it has that the original has not.
func differences(translation, original facts) (all []string) {
	say := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	for _, c := range only(original.code, translation.code) {
		say("without the code %q", c)
	}
	for _, c := range only(translation.code, original.code) {
		say("with the code %q", c)
	}
	for _, r := range only(original.rows, translation.rows) {
		say("without the row of %s", cmp.Or(r, "words only"))
	}
	for _, r := range only(translation.rows, original.rows) {
		say("with the row of %s", cmp.Or(r, "words only"))
	}
	for _, n := range slices.Sorted(maps.Keys(original.names)) {
		if !translation.names[n] {
			say("without the name %q", n)
		}
	}
	for _, n := range slices.Sorted(maps.Keys(translation.names)) {
		if !original.names[n] {
			say("with the name %q", n)
		}
	}
	for _, n := range slices.Sorted(maps.Keys(original.numbers)) {
		if got, want := translation.numbers[n], original.numbers[n]; got < want {
			say("with the number %s %d times, want %d", n, got, want)
		}
	}
	for _, n := range slices.Sorted(maps.Keys(translation.numbers)) {
		if original.numbers[n] == 0 && !original.words[n] {
			say("with the number %s", n)
		}
	}
	return all
}

// only returns what the sorted list a has and the sorted list b has not, or has less often.
func only(a, b []string) (more []string) {
	for _, s := range a {
		i, ok := slices.BinarySearch(b, s)
		if !ok {
			more = append(more, s)
			continue
		}
		b = slices.Delete(slices.Clone(b), i, i+1)
	}
	return more
}

// split are the pages that go on with a page in English, where the one in Chinese is whole.
var split = map[string][]string{
	"merge.md": {"docs/merge-decisions.md", "docs/merge-verification.md", "docs/merge-many.md", "docs/merge-troubleshooting.md"},
}

// Each page in Chinese has the code, rows, names and numbers of its page in English: what changes in one must be
// changed in the other. Sections, sentences and their order are its own.
func TestChinesePages(t *testing.T) {
	t.Chdir("..")
	names, texts := pages(t, "README.zh-CN.md", "docs/zh-CN/*.md")
	for _, name := range names {
		english := "docs/" + path.Base(name)
		if name == "README.zh-CN.md" {
			english = "README.md"
		}
		more, originals := pages(t, append(split[path.Base(name)], english)...)
		var original strings.Builder
		for _, page := range more {
			original.WriteString(originals[page] + "\n")
		}
		for _, d := range differences(factsOf(texts[name]), factsOf(original.String())) {
			t.Errorf("%s: %s, unlike %s", name, d, english)
		}
	}
}

// The comparison finds a difference of each kind, and none in another order.
func TestFacts(t *testing.T) {
	const page = "# Title 9\nTakes 2.5 s, twice, of 9,000,000,000, or 11 to 19 million. It is `a`.\n\n- 7 of `b`\n\n| row | 3 |\n\n    snow serve 8 # eight\n" +
		"```go\nx := 1 // why\n```\n## Two\n[4](5)\n"
	const other = "# 题 6\n    snow serve 8 # 八\n[4](51)\n## 二\n```go\nx := 1 // 原因\n```\n| 行 | 3 |\n\n`b` 有 7 个，`a` 花 2 次、2.5 s，共 90 亿，或 1,100 万到 1,900 万。\n"
	original := factsOf(page)
	if got := differences(factsOf(other), original); len(got) > 0 {
		t.Errorf("another order: %q", got)
	}
	for _, tt := range []struct{ old, new, want string }{
		{"2.5 s", "2.6 s", "with the number 2.5 0 times, want 1"},
		{"2.5 s", "2.5 s、9 s", "with the number 9"},
		{"90 亿", "80 亿", "with the number 8,000,000,000"},
		{"7 个", "4 个", "with the number 7 0 times, want 1"},
		{"[4](51)", "", "with the number 4 0 times, want 1"},
		{"`a`", "`c`", `without the name "a"`},
		{"`a`", "`a`、`c`", `with the name "c"`},
		{"| 3 |", "| 4 |", "without the row of 3"},
		{"| 行 | 3 |\n", "| 行 | 3 |\n| 行 | 3 |\n", "with the row of 3"},
		{"x := 1", "x := 2", `without the code "x := 1\n"`},
		{"serve 8", "serve 9", `with the code "snow serve 9"`},
	} {
		got := differences(factsOf(strings.Replace(other, tt.old, tt.new, 1)), original)
		if !slices.Contains(got, tt.want) {
			t.Errorf("%q for %q: found %q, want %q", tt.new, tt.old, got, tt.want)
		}
	}
}
