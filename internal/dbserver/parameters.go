package dbserver

import (
	"encoding/hex"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Statement is SQL whose parameters have names.
type Statement struct {
	Text  string
	names []string
	plain bool // values are sent in the text
}

// NoLimit ends a query that returns all rows. Without it, a session's sql_select_limit on MySQL would cut off rows.
const NoLimit = " LIMIT 9223372036854775807"

// Names returns the names of the statement's parameters, in order.
func (s Statement) Names() []string { return s.names }

// Args returns the values of the statement's parameters, in order.
func (s Statement) Args(values map[string]any) []any {
	args := make([]any, len(s.names))
	for i, name := range s.names {
		args[i] = values[name]
	}
	return args
}

// Bind returns the text and the arguments to send. For MySQL and MariaDB the values are in the text: otherwise a driver
// prepares the statement, executes it and forgets it again, which is three round trips, and a server has a limit of
// statements that are prepared at the same time.
func (s Statement) Bind(values map[string]any) (text string, args []any) {
	args = s.Args(values)
	if !s.plain {
		return s.Text, args
	}
	parts := strings.Split(s.Text, "?")
	if len(parts) != len(args)+1 { // a question mark that is no parameter
		return s.Text, args
	}
	var b strings.Builder
	for i, arg := range args {
		literal, ok := mysqlLiteral(arg)
		if !ok {
			return s.Text, args
		}
		b.WriteString(parts[i])
		b.WriteString(literal)
	}
	b.WriteString(parts[len(args)])
	return b.String(), nil
}

// mysqlLiteral returns a value as a literal that means the same in every sql_mode and character set, or false for what
// has none.
func mysqlLiteral(value any) (string, bool) {
	switch v := value.(type) {
	case int64:
		return strconv.FormatInt(v, 10), true
	case string:
		if strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r > '~' || r == '\'' || r == '\\' }) {
			return "_utf8mb4 X'" + hex.EncodeToString([]byte(v)) + "'", utf8.ValidString(v)
		}
		return "'" + v + "'", true
	}
	return "", false
}

// parse replaces each :name of a text by the placeholder of a parameter.
func parse(text string, placeholder func(n int) string) Statement {
	var s Statement
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, ":")
		b.WriteString(before)
		if !found {
			break
		}
		end := strings.IndexFunc(rest, func(r rune) bool { return (r < 'a' || r > 'z') && r != '_' })
		if end < 0 {
			end = len(rest)
		}
		s.names = append(s.names, rest[:end])
		b.WriteString(placeholder(len(s.names)))
		text = rest[end:]
	}
	s.Text = strings.Join(strings.Fields(b.String()), " ")
	return s
}
