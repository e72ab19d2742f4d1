// Package sqldialect has the dialects of SQL, for all packages that write SQL: placeholders, quoted names and the
// codes of errors. It imports no driver.
package sqldialect

import (
	"strconv"
	"strings"
)

// A Dialect is the SQL that a database speaks.
type Dialect int

// The dialects. The zero Dialect is none of them.
const (
	MySQL    Dialect = iota + 1 // also MariaDB, Galera and TiDB
	Postgres                    // PostgreSQL
	SQLite                      // SQLite
)

// IsKnown reports whether d is one of the dialects.
func (d Dialect) IsKnown() bool { return d >= MySQL && d <= SQLite }

// String returns "MySQL", "PostgreSQL" or "SQLite".
func (d Dialect) String() string {
	switch d {
	case MySQL:
		return "MySQL"
	case Postgres:
		return "PostgreSQL"
	case SQLite:
		return "SQLite"
	}
	return "Dialect(" + strconv.Itoa(int(d)) + ")"
}

// Placeholder returns the placeholder of the n-th parameter, counted from 1.
func (d Dialect) Placeholder(n int) string {
	switch d {
	case Postgres:
		return "$" + strconv.Itoa(n)
	case SQLite:
		return "?" + strconv.Itoa(n)
	}
	return "?"
}

// QuoteAll returns names as SQL, with commas.
func (d Dialect) QuoteAll(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = d.Quote(name)
	}
	return strings.Join(quoted, ", ")
}

// Quote returns a name, of a table or a column for example, as SQL.
func (d Dialect) Quote(name string) string {
	mark := `"`
	if d == MySQL {
		mark = "`"
	}
	return mark + strings.ReplaceAll(name, mark, mark+mark) + mark
}

// Literal returns a text as an SQL literal. A server of MySQL must not have NO_BACKSLASH_ESCAPES in its sql_mode. A
// server of PostgreSQL must have standard_conforming_strings on.
func (d Dialect) Literal(text string) string {
	if d == MySQL {
		text = strings.ReplaceAll(text, `\`, `\\`)
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}
