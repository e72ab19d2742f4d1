package route

import "strings"

// A token is a piece of SQL.
type token struct {
	kind kind
	text string // of a name: without its quotes
	arg  int    // of a placeholder: the index of its value
}

type kind uint8

const (
	end   kind = iota
	name       // a word that is no keyword below, or something in quotes
	value      // a placeholder
	opened
	closed
	comma
	dot
	equal
	other // literals, operators and all that is not looked at

	// Keywords. What stands behind one of them is read by other rules.
	and
	or
	not
	in
	between
	where
	tail  // GROUP, HAVING, ORDER and others that end a condition, and may hold conditions themselves
	last  // LIMIT, FOR and others that end a condition, and hold none
	query // SELECT
	with  // UNION and others that bring in rows of a second query
	odd   // CASE and XOR, in which AND and OR don't end a condition
)

// A scanner splits SQL into tokens. It knows quotes and comments as MySQL, PostgreSQL and SQLite do, and it
// refuses what they read differently, or what depends on a setting of the server.
type scanner struct {
	sql     string
	dialect string
	pos     int
	values  int    // placeholders so far
	refused string // why the SQL can't be read
}

func (s *scanner) refuse(reason string) token {
	if s.refused == "" {
		s.refused = reason
	}
	s.pos = len(s.sql)
	return token{}
}

// next returns the next token.
func (s *scanner) next() token {
	for s.pos < len(s.sql) {
		c := s.sql[s.pos]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v':
			s.pos++
			continue
		case c == '/' && s.follows('*'):
			if !s.comment() {
				return token{}
			}
			continue
		case c == '-' && s.follows('-'), c == '#' && s.dialect == "mysql":
			return s.refuse("it has a comment")
		case letter(c):
			return s.word()
		case digit(c):
			for s.pos++; s.pos < len(s.sql) && (letter(s.sql[s.pos]) || digit(s.sql[s.pos])); s.pos++ {
			}
			return token{kind: other}
		case c == '\'' || c == '"' || c == '`' && s.dialect != "postgres" || c == '[' && s.dialect == "sqlite":
			return s.quoted(c)
		case c == '?' && s.dialect != "postgres":
			s.pos++
			if s.pos < len(s.sql) && digit(s.sql[s.pos]) {
				return s.refuse("it has a numbered placeholder")
			}
			s.values++
			return token{kind: value, arg: s.values - 1}
		case c == '$' && s.dialect == "postgres":
			return s.numbered()
		}
		s.pos++
		switch c {
		case '(':
			return token{kind: opened}
		case ')':
			return token{kind: closed}
		case ',':
			return token{kind: comma}
		case '.':
			return token{kind: dot}
		case '=':
			return token{kind: equal}
		case ';':
			return s.refuse("it has a semicolon")
		case '|':
			// On MySQL this is an OR.
			if s.dialect == "mysql" && s.pos < len(s.sql) && s.sql[s.pos] == '|' {
				return s.refuse("it has ||: write OR or CONCAT")
			}
		case '@', ':':
			// An assignment of MySQL takes in the OR after it. SQLite numbers its parameters with those of GORM.
			if s.dialect != "postgres" {
				return s.refuse("it has a variable or a named parameter")
			}
		case '$':
			return s.refuse("it has a variable or a named parameter")
		case 0:
			return s.refuse("it has a zero byte")
		case '*':
			return token{kind: other, text: "*"}
		}
		return token{kind: other}
	}
	return token{}
}

func (s *scanner) follows(c byte) bool { return s.pos+1 < len(s.sql) && s.sql[s.pos+1] == c }

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c >= 0x80 }
func digit(c byte) bool  { return c >= '0' && c <= '9' }

// comment skips a comment, as hints and tracing put them into statements.
func (s *scanner) comment() bool {
	length := strings.Index(s.sql[s.pos+2:], "*/")
	if length < 0 {
		s.refuse("a comment has no end")
		return false
	}
	// MySQL runs what is in /*! */, MariaDB also in /*M! */, and PostgreSQL nests comments.
	text := s.sql[s.pos+2 : s.pos+2+length]
	if strings.HasPrefix(text, "!") || strings.HasPrefix(text, "M!") || strings.ContainsAny(text, "?$") || strings.Contains(text, "/*") {
		s.refuse("a comment has a meaning that differs among databases")
		return false
	}
	s.pos += length + 4
	return true
}

// quoted reads what is in quotes. Backslashes, and placeholders that GORM may have put in, would make it end
// elsewhere, or shift the values.
func (s *scanner) quoted(quote byte) token {
	from := s.pos + 1
	if quote == '[' {
		quote = ']'
	}
	length := strings.IndexByte(s.sql[from:], quote)
	if length < 0 {
		return s.refuse("a quote has no end")
	}
	text, i := s.sql[from:from+length], from+length+1
	placeholder := byte('?')
	if s.dialect == "postgres" {
		placeholder = '$'
	}
	switch {
	case quote != ']' && i < len(s.sql) && s.sql[i] == quote:
		return s.refuse("it has a quote within quotes: pass the text as a value")
	case strings.IndexByte(text, '\\') >= 0:
		return s.refuse("it has a backslash within quotes: pass the text as a value")
	case strings.IndexByte(text, placeholder) >= 0:
		return s.refuse("it has a placeholder within quotes: pass the text as a value")
	}
	s.pos = i
	if quote == '\'' || quote == '"' && s.dialect == "mysql" {
		return token{kind: other}
	}
	return token{kind: name, text: text}
}

// numbered reads a placeholder of PostgreSQL.
func (s *scanner) numbered() token {
	n := 0
	i := s.pos + 1
	for ; i < len(s.sql) && digit(s.sql[i]) && n < 1<<20; i++ {
		n = n*10 + int(s.sql[i]-'0')
	}
	if n == 0 {
		return s.refuse("it has text in dollar quotes")
	}
	s.pos = i
	s.values = max(s.values, n)
	return token{kind: value, arg: n - 1}
}

func (s *scanner) word() token {
	from := s.pos
	for s.pos < len(s.sql) && (letter(s.sql[s.pos]) || digit(s.sql[s.pos]) || s.sql[s.pos] == '$') {
		s.pos++
	}
	text := s.sql[from:s.pos]
	return token{kind: keyword(text, s.dialect), text: text}
}

// keyword returns the kind of an unquoted word.
func keyword(word, dialect string) kind {
	is := func(w string) bool { return len(word) == len(w) && strings.EqualFold(word, w) }
	switch word[0] | 0x20 {
	case 'a':
		if is("AND") {
			return and
		}
	case 'b':
		if is("BETWEEN") {
			return between
		}
	case 'c':
		if is("CASE") {
			return odd
		}
	case 'e':
		if is("EXCEPT") {
			return with
		}
	case 'f':
		if is("FOR") && dialect != "sqlite" || is("FETCH") && dialect == "postgres" {
			return last
		}
	case 'g':
		if is("GROUP") {
			return tail
		}
	case 'h':
		if is("HAVING") {
			return tail
		}
	case 'i':
		switch {
		case is("IN"):
			return in
		case is("INTERSECT"):
			return with
		}
	case 'l':
		if is("LIMIT") || is("LOCK") && dialect == "mysql" {
			return last
		}
	case 'n':
		if is("NOT") {
			return not
		}
	case 'o':
		switch {
		case is("OR"):
			return or
		case is("ORDER"):
			return tail
		case is("OFFSET") && dialect == "postgres":
			return last
		}
	case 'r':
		if is("RETURNING") {
			return last
		}
	case 's':
		if is("SELECT") {
			return query
		}
	case 't':
		if is("TABLE") {
			return with
		}
	case 'u':
		if is("UNION") {
			return with
		}
	case 'w':
		switch {
		case is("WHERE"):
			return where
		case is("WITH"):
			return with
		case is("WINDOW") && dialect != "sqlite":
			return tail
		}
	case 'x':
		if is("XOR") {
			return odd
		}
	}
	return name
}
