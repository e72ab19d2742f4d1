package questions

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/shardsnow/snow/merge/plan"
)

// longest is how many characters of a value are shown.
const longest = 48

// valueText writes a value for people. What could control a terminal is written as an escape.
func valueText(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case []byte:
		if !utf8.Valid(v) {
			return shortened("0x" + hex.EncodeToString(v[:min(len(v), longest)]))
		}
		return shortened(printable(string(v)))
	case string:
		return shortened(printable(v))
	case time.Time:
		return v.Format("2006-01-02 15:04:05")
	case bool:
		return strconv.FormatBool(v)
	}
	return shortened(printable(fmt.Sprint(v)))
}

func shortened(text string) string {
	if runes := []rune(text); len(runes) > longest {
		return string(runes[:longest-1]) + "…"
	}
	return text
}

// printable writes characters that are not to be seen as Go does.
func printable(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return b.String()
}

// names are what columns are called that tell people which row it is, the best first, also at the end of a name; and
// others are worse ones. Other texts may be secrets: they are not shown unless they are asked about.
var (
	names  = []string{"name", "username", "login", "title", "label", "nick"}
	others = []string{"nickname", "caption", "subject", "code"}
)

// nameOf returns the column that tells people which row it is, or "".
func nameOf(t *plan.Table) string {
	ranks := []func(name string) int{
		func(name string) int { return slices.Index(names, name) },
		func(name string) int {
			return slices.IndexFunc(names, func(known string) bool { return strings.HasSuffix(name, known) })
		},
		func(name string) int { return slices.Index(others, name) },
	}
	for _, rank := range ranks {
		best, at := "", len(names)
		for _, c := range t.Columns {
			kind := strings.ToLower(c.Type)
			isText := strings.Contains(kind, "char") || strings.Contains(kind, "text")
			if r := rank(strings.ToLower(c.Name)); isText && c.Role == plan.RolePlain && c.Generated == "" && r >= 0 && r < at {
				best, at = c.Name, r
			}
		}
		if best != "" {
			return best
		}
	}
	return ""
}

// choose returns some rows whose values in a column differ and say something: first one whose value is not known, if there
// is one.
func choose(rows [][]string, at int, known func(value string) bool) (chosen [][]string) {
	seen := map[string]bool{"0": true, "": true, "-1": true}
	take := func(most int, is func(string) bool) {
		for _, row := range rows {
			if value := row[at]; !seen[value] && len(chosen) < most && is(value) {
				seen[value] = true
				chosen = append(chosen, row)
			}
		}
	}
	take(1, func(value string) bool { return !known(value) })
	take(mostRows, known)
	take(mostRows, func(string) bool { return true })
	if len(chosen) == 0 {
		chosen = rows[:min(len(rows), mostRows)]
	}
	return chosen
}

// telling returns some parts, each with other names of columns. Those with rare names are first in a question.
func telling(parts []*Part, most int) (some []*Part) {
	seen := map[string]bool{}
	for _, p := range parts {
		name := strings.Join(p.columns, ", ")
		if !seen[name] && len(some) < most {
			some = append(some, p)
		}
		seen[name] = true
	}
	return some
}

// elements returns the numbers of a list, or the value itself if it is none.
func elements(value string) []string {
	if cut, is := strings.CutSuffix(value, "…"); is { // its last number may be part of one
		if at := strings.LastIndexAny(cut, ",;|:/ "); at > 0 {
			value = cut[:at]
		}
	}
	isOther := func(r rune) bool { return (r < '0' || r > '9') && !strings.ContainsRune(",;|:/ {}[]", r) }
	if strings.ContainsFunc(value, isOther) || value == "" {
		return []string{value}
	}
	return strings.FieldsFunc(value, func(r rune) bool { return r < '0' || r > '9' })
}

// rowText says which row a value leads to, or how many rows the numbers of a list do.
func rowText(values []string, found map[string]string) string {
	hits := 0
	for _, value := range values {
		if found[value] != "" {
			hits++
		}
	}
	switch {
	case len(values) > 1:
		return fmt.Sprintf("%d of %d", hits, len(values))
	case hits == 1:
		return found[values[0]]
	}
	return "no such row"
}
