package inspect

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/shardsnow/snow/merge/plan"
)

var humps = []*regexp.Regexp{regexp.MustCompile(`(\p{Lu})(\p{Lu}\p{Ll})`), regexp.MustCompile(`(\p{Ll})(\p{Lu})`)}

// words splits a name: playerID, player_id and PLAYER-ID are player and id.
func words(name string) []string {
	for _, hump := range humps {
		name = hump.ReplaceAllString(name, "$1 $2")
	}
	words := strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i, word := range words {
		words[i] = strings.ToLower(word)
	}
	return words
}

// singular returns the singular of a word.
func singular(word string) string {
	switch {
	case len(word) > 4 && strings.HasSuffix(word, "ies"):
		return word[:len(word)-3] + "y"
	case len(word) > 4 && (strings.HasSuffix(word, "sses") || strings.HasSuffix(word, "xes") || strings.HasSuffix(word, "ches") || strings.HasSuffix(word, "shes")):
		return word[:len(word)-2]
	case word == "ids":
		return "id"
	case len(word) > 3 && strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss") && !strings.HasSuffix(word, "us"):
		return word[:len(word)-1]
	}
	return word
}

// bare returns the name of a table without its database, which says nothing of its rows.
func bare(p *plan.Plan, table string) string {
	_, name := p.Split(table)
	return name
}
