package refname

import (
	"regexp"
	"strings"
	"unicode"
)

var humps = []*regexp.Regexp{regexp.MustCompile(`(\p{Lu})(\p{Lu}\p{Ll})`), regexp.MustCompile(`(\p{Ll})(\p{Lu})`)}

// Words splits a name: playerID, player_id and PLAYER-ID are player and id.
func Words(name string) []string {
	for _, hump := range humps {
		name = hump.ReplaceAllString(name, "$1 $2")
	}
	all := strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i, word := range all {
		all[i] = strings.ToLower(word)
	}
	return all
}

// irregular are words whose plurals follow no rule, or look as if they followed another one.
var irregular = map[string]string{
	"people": "person", "children": "child", "men": "man", "women": "woman", "mice": "mouse", "feet": "foot", "teeth": "tooth", "geese": "goose", "oxen": "ox",
	"indices": "index", "vertices": "vertex", "matrices": "matrix", "appendices": "appendix", "criteria": "criterion", "analyses": "analysis", "quizzes": "quiz",
	"statuses": "status", "buses": "bus", "bonuses": "bonus", "viruses": "virus", "campuses": "campus", "aliases": "alias", "heroes": "hero", "caches": "cache",
	"leaves": "leaf", "lives": "life", "wives": "wife", "knives": "knife", "wolves": "wolf", "shelves": "shelf", "halves": "half", "thieves": "thief",
	"movies": "movie", "cookies": "cookie", "zombies": "zombie", "series": "series", "species": "species", "news": "news",
}

// Singular returns the singular of a word.
func Singular(word string) string {
	if one, ok := irregular[word]; ok {
		return one
	}
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
