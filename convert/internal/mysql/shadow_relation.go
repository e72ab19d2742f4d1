package mysql

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/shardsnow/snow/convert/plan"
)

// A relation is what the server says of a table.
type relation struct {
	plan     *plan.Table
	number   int // in its group
	name     string
	text     string // SHOW CREATE TABLE
	fields   []*field
	key      []string // the primary key
	prefixed bool     // the primary key has only the beginning of a column
	// tracked are the columns by which rows are found: the primary key, and what foreign keys of the group refer to.
	tracked  []string
	children []*link // the foreign keys of the group that refer to the table
}

// A field is a column.
type field struct {
	name, kind, full   string // its data type alone, and with all that it says
	charset, collation string
	computed           bool
}

// A link is a foreign key.
type link struct {
	name               string
	table, refers      string
	columns, refered   []string
	onDelete, onUpdate string
}

// carries reports whether the server changes rows of the table by itself when the other table changes.
func (l *link) carries() bool { return l.onDelete != "" || l.onUpdate != "" }

func (r *relation) field(name string) *field {
	i := slices.IndexFunc(r.fields, func(f *field) bool { return strings.EqualFold(f.name, name) })
	if i < 0 {
		return nil
	}
	return r.fields[i]
}

// alias returns a name for the table in a statement, which no other table of the group has.
func (r *relation) alias(kind string) string { return fmt.Sprintf("%s%d", kind, r.number) }

// joined compares the primary keys of a row of the source and of the target.
func (r *relation) joined() string {
	return each(r.key, " AND ", func(name string) string { return column(r.alias("d"), name) + " = " + column(r.alias("s"), name) })
}

// stored returns the columns that rows are written with.
func (r *relation) stored() []string {
	var names []string
	for _, f := range r.fields {
		if !f.computed {
			names = append(names, f.name)
		}
	}
	return names
}

// A world is the tables of a group as the server has them.
type world []*relation

// names returns what f makes of the names of the tables.
func (w world) names(f func(string) string) []string {
	names := make([]string, len(w))
	for i, r := range w {
		names[i] = f(r.name)
	}
	return names
}

func (w world) relation(name string) *relation {
	i := slices.IndexFunc(w, func(r *relation) bool { return r.name == name })
	if i < 0 {
		return nil
	}
	return w[i]
}

// look reads the tables of a group.
func (g *group) look(ctx context.Context, q querier) (world, error) {
	var w world
	for _, t := range g.tables {
		r, err := lookAt(ctx, q, t)
		if err != nil {
			return nil, err
		}
		r.number = len(w)
		w = append(w, r)
	}
	var links []*link
	for _, r := range w {
		of, err := linksIn(r.name, r.text)
		if err != nil {
			return nil, err
		}
		for _, l := range of {
			if w.relation(l.refers) != nil {
				links = append(links, l)
			}
		}
	}
	for _, l := range chained(links) {
		parent := w.relation(l.refers)
		parent.children = append(parent.children, l)
		for _, c := range l.refered {
			if !slices.Contains(parent.tracked, c) {
				parent.tracked = append(parent.tracked, c)
			}
		}
	}
	return w, nil
}

// chained adds links from each table to those to which a foreign key leads over others. If a key of several columns
// has one of an other table in it, then a change is carried through, and no trigger sees the values in between.
func chained(links []*link) []*link {
	all := slices.Clone(links)
	known := map[string]bool{}
	for _, l := range links {
		known[fmt.Sprint(l.table, l.columns, l.refers, l.refered)] = true
	}
	for i := 0; i < len(all); i++ {
		for _, next := range links {
			if next.table != all[i].refers {
				continue
			}
			l := &link{name: all[i].name, table: all[i].table, refers: next.refers, refered: next.refered, onDelete: "SET NULL"}
			for _, c := range next.columns {
				if at := slices.Index(all[i].refered, c); at >= 0 {
					l.columns = append(l.columns, all[i].columns[at])
				}
			}
			if all[i].onDelete == "CASCADE" && next.onDelete == "CASCADE" {
				l.onDelete = "CASCADE"
			}
			key := fmt.Sprint(l.table, l.columns, l.refers, l.refered)
			if len(l.columns) < len(next.columns) || known[key] || !all[i].carries() || !next.carries() {
				continue
			}
			known[key] = true
			all = append(all, l)
		}
	}
	return all
}

func lookAt(ctx context.Context, q querier, t *plan.Table) (*relation, error) {
	r := &relation{plan: t, name: t.Name}
	var err error
	if r.text, err = definition(ctx, q, t.Name); err != nil {
		return nil, err
	}
	rows, err := texts(ctx, q, `SELECT COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, CHARACTER_SET_NAME, COLLATION_NAME, EXTRA, COLUMN_KEY
		FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ? ORDER BY ORDINAL_POSITION`, t.Name)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		extra := strings.ToUpper(row[5])
		r.fields = append(r.fields, &field{
			name: row[0], kind: strings.ToLower(row[1]), full: row[2], charset: row[3], collation: row[4],
			computed: strings.Contains(extra, "GENERATED") && !strings.Contains(extra, "DEFAULT_GENERATED"),
		})
	}
	keys, err := texts(ctx, q, `SELECT COLUMN_NAME, SUB_PART FROM information_schema.STATISTICS
		WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ? AND INDEX_NAME = 'PRIMARY' ORDER BY SEQ_IN_INDEX`, t.Name)
	if err != nil {
		return nil, err
	}
	for _, row := range keys {
		r.key = append(r.key, row[0])
		r.prefixed = r.prefixed || row[1] != ""
	}
	r.tracked = slices.Clone(r.key)
	return r, nil
}

// definition returns what SHOW CREATE TABLE says.
func definition(ctx context.Context, q querier, table string) (string, error) {
	rows, err := texts(ctx, q, "SHOW CREATE TABLE "+quote(table))
	if err != nil {
		return "", err
	}
	if len(rows) != 1 || len(rows[0]) < 2 || !strings.HasPrefix(rows[0][1], "CREATE TABLE ") {
		return "", fmt.Errorf("mysql: %q is no table", table)
	}
	return rows[0][1], nil
}

// exists reports which of the names are tables.
func exists(ctx context.Context, q querier, names ...string) (map[string]bool, error) {
	rows, err := texts(ctx, q, "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN ("+
		each(names, ", ", literalName)+")")
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for _, row := range rows {
		found[row[0]] = true
	}
	return found, nil
}

// literalName returns a name as a text. Sessions may read backslashes in two ways, and hexadecimal digits in one.
func literalName(name string) string { return fmt.Sprintf("_utf8mb4 X'%x'", name) }

// triggers returns the names of the triggers of the database that are ours.
func triggers(ctx context.Context, q querier) (map[string]bool, error) {
	rows, err := texts(ctx, q, `SELECT TRIGGER_NAME FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = DATABASE() AND TRIGGER_NAME LIKE '\\_snow\\_%'`)
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for _, row := range rows {
		found[row[0]] = true
	}
	return found, nil
}

const aName = "`(?:[^`]|``)+`"

// foreignKeyLine and its like take the lines of SHOW CREATE TABLE apart.
func foreignKeyLine() *regexp.Regexp {
	return regexp.MustCompile(`^  CONSTRAINT (` + aName + `) FOREIGN KEY \(([^)]*)\) REFERENCES (` + aName + `(?:\.` + aName + `)?) \(([^)]*)\)(.*?),?$`)
}

func checkLine() *regexp.Regexp { return regexp.MustCompile(`^  CONSTRAINT (` + aName + `) CHECK `) }

func nameIn() *regexp.Regexp { return regexp.MustCompile(aName) }

func unquote(name string) string {
	return strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(name, "`"), "`"), "``", "`")
}

func namesIn(list string) []string {
	var names []string
	for _, name := range nameIn().FindAllString(list, -1) {
		names = append(names, unquote(name))
	}
	return names
}

// linksIn returns the foreign keys in what SHOW CREATE TABLE says.
func linksIn(table, text string) ([]*link, error) {
	line := foreignKeyLine()
	var all []*link
	for l := range strings.Lines(text) {
		if !strings.Contains(l, " FOREIGN KEY (") || !strings.HasPrefix(l, "  CONSTRAINT ") {
			continue
		}
		m := line.FindStringSubmatch(strings.TrimRight(l, "\n"))
		if m == nil {
			return nil, fmt.Errorf("mysql: a foreign key of %q that can't be read: %q", table, l)
		}
		k := &link{name: unquote(m[1]), table: table, columns: namesIn(m[2]), refered: namesIn(m[4])}
		if to := namesIn(m[3]); len(to) == 1 {
			k.refers = to[0]
		}
		for _, action := range []string{"CASCADE", "SET NULL", "SET DEFAULT"} {
			if strings.Contains(m[5], "ON DELETE "+action) {
				k.onDelete = action
			}
			if strings.Contains(m[5], "ON UPDATE "+action) {
				k.onUpdate = action
			}
		}
		all = append(all, k)
	}
	return all, nil
}
