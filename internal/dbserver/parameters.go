package dbserver

import "strings"

// A Statement is SQL whose parameters have names.
type Statement struct {
	Text  string
	names []string
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
