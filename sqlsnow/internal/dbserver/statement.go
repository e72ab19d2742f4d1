package dbserver

import (
	"regexp"
	"strings"
)

// A Statement is SQL whose parameters have names.
type Statement struct {
	Text  string
	names []string
}

// NoLimit ends a query of all rows. A MySQL session can have a sql_select_limit, which cuts off queries that have no limit.
const NoLimit = " LIMIT 9223372036854775807"

// A value is an expression that a statement gives to its caller, such as {returning now}.
var value = regexp.MustCompile(`\{(one|returning) ([^{}]+)\}`)

// Compile replaces the names in braces and the :names of a text:
//
//	{now}            the database's clock in microseconds since 1970 UTC; it stands still during a statement
//	{div}            the operator of integer division
//	{greatest}       the function; so is {least}
//	{bound} {guard}  conditions of an UPDATE: it commits by itself, and is durable once it is confirmed
//	{from}           what the guard reads from
//	{durable}        the condition that the server syncs what it confirms, where {bound} and {guard} don't see to it
//	{one x}          1; on a server without RETURNING, the UPDATE gives x to its caller as the insert id
//	{returning x}    RETURNING x, or nothing on a server that doesn't have it; now stands for {now}
func (e *Engine) Compile(text string) Statement {
	text = value.ReplaceAllStringFunc(text, func(match string) string {
		parts := value.FindStringSubmatch(match)
		expression := parts[2]
		if expression == "now" {
			expression = e.Now
		}
		switch {
		case parts[1] == "one" && e.insertID != nil:
			return e.insertID(expression)
		case parts[1] == "one":
			return "1"
		case e.insertID != nil:
			return ""
		}
		return "RETURNING " + expression
	})
	text = strings.NewReplacer(
		"{durable}", e.durable,
		"{bound}", e.bound,
		"{guard}", e.guard,
		"{from}", e.from,
		"{now}", e.Now,
		"{div}", e.div,
		"{greatest}", e.greatest,
		"{least}", e.least,
	).Replace(text)
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
		b.WriteString(e.Dialect.Placeholder(len(s.names)))
		text = rest[end:]
	}
	s.Text = strings.Join(strings.Fields(b.String()), " ")
	return s
}

// Names returns the names of the statement's parameters in their order.
func (s Statement) Names() []string { return s.names }

// Args returns the values of the statement's parameters in their order.
func (s Statement) Args(values map[string]any) []any {
	args := make([]any, len(s.names))
	for i, name := range s.names {
		args[i] = values[name]
	}
	return args
}
