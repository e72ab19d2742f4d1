package catalog

import "strings"

// A token is a word, a quoted name or text, or a sign of a statement.
type token struct {
	text  string
	at    int // where it begins, in bytes
	depth int // how many parentheses it is in; they are outside of themselves
}

// tokenize takes apart an SQLite statement, without comments and spaces.
func tokenize(statement string) (tokens []token) {
	word := func(c byte) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$' || c >= 0x80
	}
	depth := 0
	for s := statement; s != ""; {
		end := 1
		switch c := s[0]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f':
			s = s[1:]
			continue
		case strings.HasPrefix(s, "--"):
			_, s, _ = strings.Cut(s, "\n")
			continue
		case strings.HasPrefix(s, "/*"):
			_, s, _ = strings.Cut(s[2:], "*/")
			continue
		case c == '[':
			end = strings.IndexByte(s, ']') + 1
		case c == '\'' || c == '"' || c == '`':
			end = closingQuote(s)
		case word(c):
			for end < len(s) && word(s[end]) {
				end++
			}
		}
		if end == 0 { // a quote without an end
			end = len(s)
		}
		if s[:end] == ")" {
			depth--
		}
		tokens = append(tokens, token{s[:end], len(statement) - len(s), depth})
		if s[:end] == "(" {
			depth++
		}
		s = s[end:]
	}
	return tokens
}

// closingQuote returns the index after the quote that ends s, or 0. Two quotes
// stand for one inside.
func closingQuote(s string) int {
	for i := 1; i < len(s); i++ {
		if s[i] != s[0] {
			continue
		}
		if i+1 == len(s) || s[i+1] != s[0] {
			return i + 1
		}
		i++
	}
	return 0
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
