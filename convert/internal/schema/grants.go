package schema

import "strings"

// grants are the rights of an account of MySQL or MariaDB.
type grants struct {
	database    string
	all         bool // all on everything, or on the database
	global, own map[string]bool
}

// add reads a line such as GRANT SELECT, ALTER ON `shop`.* TO `app`@`%`. Rights on single tables and routines do not
// count.
func (g *grants) add(line string) {
	rest, ok := strings.CutPrefix(line, "GRANT ")
	if !ok {
		return
	}
	rights, on, ok := strings.Cut(rest, " ON ")
	if !ok {
		return // a role
	}
	where, ok := strings.CutSuffix(object(on), ".*")
	if !ok {
		return
	}
	everywhere := where == "*"
	if !everywhere && !like(unquote(where), g.database) {
		return
	}
	for _, right := range strings.Split(rights, ",") {
		switch right = strings.ToUpper(strings.TrimSpace(right)); {
		case right == "ALL PRIVILEGES" || right == "ALL":
			g.all = true
			if everywhere {
				g.global["SUPER"], g.global["SELECT"], g.global["TRIGGER"], g.global["PROCESS"] = true, true, true, true
			}
		case everywhere:
			g.global[right] = true
		default:
			g.own[right] = true
		}
	}
}

// object returns what precedes the word TO in the rest of a line. Names in quotes may have that word.
func object(rest string) string {
	quoted := false
	for i, r := range rest {
		if r == '`' {
			quoted = !quoted
		}
		if !quoted && strings.HasPrefix(rest[i:], " TO ") {
			return rest[:i]
		}
	}
	return rest
}

func quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

func unquote(name string) string {
	if inner, ok := strings.CutPrefix(name, "`"); ok {
		return strings.ReplaceAll(strings.TrimSuffix(inner, "`"), "``", "`")
	}
	return name
}

// like reports whether a name is as a pattern of LIKE says, in which a backslash makes the next character one of its
// own.
func like(pattern, name string) bool {
	p, n := []rune(pattern), []rune(name)
	if len(p) == 0 {
		return len(n) == 0
	}
	switch {
	case p[0] == '%':
		return like(string(p[1:]), name) || len(n) > 0 && like(pattern, string(n[1:]))
	case len(n) == 0:
		return false
	case p[0] == '\\' && len(p) > 1:
		return p[1] == n[0] && like(string(p[2:]), string(n[1:]))
	case p[0] == '_' || p[0] == n[0]:
		return like(string(p[1:]), string(n[1:]))
	}
	return false
}
