package mysql

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/shardsnow/snow/convert/plan"
)

// shadowText returns the statement that makes the wider table. It is what SHOW CREATE TABLE says, with other names and
// types. Comments and defaults have no line ends there, so each line is a column, a key or a part of the end.
func shadowText(g *group, r *relation) (string, error) {
	lines := strings.Split(r.text, "\n")
	widened := map[string]bool{}
	for i, line := range lines {
		switch {
		case i == 0:
			lines[i] = strings.Replace(line, quote(r.name), quote(shadowOf(r.name)), 1)
		case strings.HasPrefix(line, "  `"):
			name := unquote(nameIn().FindString(line))
			c := planned(r.plan, name)
			if c == nil {
				continue
			}
			wider, err := withType(line, c.To)
			if err != nil {
				return "", fmt.Errorf("mysql: column %q of %q: %w", name, r.name, err)
			}
			lines[i], widened[c.Name] = wider, true
		case strings.HasPrefix(line, "  CONSTRAINT "):
			renamed, err := constraint(g, r.name, line)
			if err != nil {
				return "", err
			}
			lines[i] = renamed
		case strings.HasPrefix(line, ") "):
			lines[i] = counterOption().ReplaceAllString(line, "")
		}
	}
	for _, c := range r.plan.Columns {
		if !widened[c.Name] {
			return "", fmt.Errorf("mysql: table %q has no column %q", r.name, c.Name)
		}
	}
	return strings.Join(lines, "\n"), nil
}

func counterOption() *regexp.Regexp { return regexp.MustCompile(` AUTO_INCREMENT=\d+`) }

func planned(t *plan.Table, column string) *plan.Column {
	i := slices.IndexFunc(t.Columns, func(c *plan.Column) bool { return strings.EqualFold(c.Name, column) })
	if i < 0 {
		return nil
	}
	return t.Columns[i]
}

// withType returns a column's line with another type.
func withType(line, to string) (string, error) {
	integer := regexp.MustCompile("^(  " + aName + ") (?:tiny|small|medium|big)?int(?:\\(\\d+\\))?(?: unsigned)?(?: zerofill)?( |,|$)")
	m := integer.FindStringSubmatchIndex(line)
	if m == nil {
		return "", fmt.Errorf("%q is no integer", line)
	}
	return line[:m[3]] + " " + to + line[m[4]:], nil
}

// constraint returns the line of a constraint with the name that it has in the wider table. A name that the server has
// made follows the table's name. Another one is given back when the table of old is dropped, because a database can
// have it once.
func constraint(g *group, table, line string) (string, error) {
	m := foreignKeyLine().FindStringSubmatchIndex(line)
	if m == nil {
		check := checkLine().FindStringSubmatchIndex(line)
		if check == nil {
			return line, nil
		}
		name := unquote(line[check[2]:check[3]])
		if rest, made := strings.CutPrefix(name, table+"_chk_"); made {
			return line[:check[2]] + quote(shadowOf(table)+"_chk_"+rest) + line[check[3]:], nil
		}
		return line, nil // see checkNames
	}
	refers := line[m[6]:m[7]]
	if to := namesIn(refers); len(to) == 1 && g.has(to[0]) {
		refers = quote(shadowOf(to[0]))
	}
	return line[:m[2]] + quote(shadowKey(table, unquote(line[m[2]:m[3]]))) + line[m[3]:m[6]] + refers + line[m[7]:], nil
}

// shadowKey returns the name that a foreign key has in the wider table.
func shadowKey(table, name string) string {
	if rest, made := strings.CutPrefix(name, table+"_ibfk_"); made {
		return shadowOf(table) + "_ibfk_" + rest
	}
	return derived("", name)
}

// checkNames returns an error if the server can't give constraints back their names, which is so for CHECK on MySQL.
func checkNames(r *relation, mariaDB bool) error {
	if mariaDB {
		return nil // there, names of checks belong to the table
	}
	for line := range strings.Lines(r.text) {
		m := checkLine().FindStringSubmatch(line)
		if m != nil && !strings.HasPrefix(unquote(m[1]), r.name+"_chk_") {
			return fmt.Errorf("mysql: table %q can't be converted online: the name of its check %q can't be given to a second table. "+
				"Set its method to %q", r.name, unquote(m[1]), plan.Alter)
		}
	}
	return nil
}

// logText returns the statement that makes a list of rows that may differ. Each has the values of the tracked columns
// before and after a change.
func logText(r *relation, name, mark string) (string, error) {
	columns := []string{"`seq` BIGINT UNSIGNED NOT NULL PRIMARY KEY", "`depth` TINYINT UNSIGNED NOT NULL"}
	for _, side := range []string{"o", "n"} {
		for i, c := range r.tracked {
			f := r.field(c)
			if f == nil {
				return "", fmt.Errorf("mysql: table %q has no column %q", r.name, c)
			}
			columns = append(columns, fmt.Sprintf("`%s%d` %s NULL", side, i, trackedType(r, f)))
		}
	}
	return fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s (%s) ENGINE=InnoDB COMMENT=%s",
		quote(name), strings.Join(columns, ", "), literal(mark)), nil
}

// trackedType returns the type for a copy of a column's values.
func trackedType(r *relation, f *field) string {
	if c := planned(r.plan, f.name); c != nil {
		return c.To
	}
	if f.charset != "" {
		return f.full + " CHARACTER SET " + f.charset + " COLLATE " + f.collation
	}
	return f.full
}
