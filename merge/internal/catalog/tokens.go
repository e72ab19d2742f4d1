package catalog

import (
	"regexp"
	"strings"
)

// A token is a word, a quoted name or text, or a sign of a statement.
type token struct {
	text  string
	at    int // where it begins, in bytes
	depth int // how many parentheses it is in; they are outside of themselves
}

// A comment, a name or text in quotes, where two quotes stand for one inside, a word, or a sign.
var tokenPattern = regexp.MustCompile("(?s)--[^\n]*|/\\*.*?(?:\\*/|$)|\\[[^]]*(?:]|$)|'(?:[^']|'')*(?:'|$)|\"(?:[^\"]|\"\")*(?:\"|$)|" +
	"`(?:[^`]|``)*(?:`|$)|[A-Za-z0-9_$\\x{80}-\\x{10FFFF}]+|[^ \t\n\r\f]")

// tokenize takes apart an SQLite statement, without comments and spaces.
func tokenize(statement string) (tokens []token) {
	depth := 0
	for _, at := range tokenPattern.FindAllStringIndex(statement, -1) {
		text := statement[at[0]:at[1]]
		if strings.HasPrefix(text, "--") || strings.HasPrefix(text, "/*") {
			continue
		}
		if text == ")" {
			depth--
		}
		tokens = append(tokens, token{text, at[0], depth})
		if text == "(" {
			depth++
		}
	}
	return tokens
}

// unquote returns the name that a token is.
func unquote(token string) string {
	if len(token) < 2 {
		return token
	}
	switch quote := token[:1]; quote {
	case "'", `"`, "`":
		return strings.ReplaceAll(token[1:len(token)-1], quote+quote, quote)
	case "[":
		return token[1 : len(token)-1]
	}
	return token
}
