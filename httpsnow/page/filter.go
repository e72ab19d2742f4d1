package page

import (
	"slices"
	"strconv"
	"strings"
)

// longestQuery bounds the text of a filter, in bytes.
const longestQuery = 256

// A filter chooses the numbers and counters that have all words of a text. Its zero value chooses all.
type filter struct {
	text  string
	words []string // in lower case
}

// filterOf reads what somebody typed.
func filterOf(text string) filter {
	text = strings.ToValidUTF8(text[:min(len(text), longestQuery)], "")
	text = strings.Join(strings.Fields(text), " ")
	return filter{text, strings.Fields(strings.ToLower(text))}
}

// number reports whether a number is chosen. A word is a part of the namespace's name or of the holder, or
// it is the number or the state.
func (f filter) number(namespace, state, holder string, number uint64) bool {
	if len(f.words) == 0 {
		return true
	}
	namespace, holder = strings.ToLower(namespace), strings.ToLower(holder)
	digits := strconv.FormatUint(number, 10)
	return !slices.ContainsFunc(f.words, func(word string) bool {
		return word != state && word != digits && !strings.Contains(namespace, word) && !strings.Contains(holder, word)
	})
}

// tag reports whether a counter is chosen.
func (f filter) tag(tag string) bool {
	tag = strings.ToLower(tag)
	return !slices.ContainsFunc(f.words, func(word string) bool { return !strings.Contains(tag, word) })
}
