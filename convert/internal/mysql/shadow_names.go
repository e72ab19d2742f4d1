package mysql

import (
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/shardsnow/snow/convert/plan"
	"github.com/shardsnow/snow/internal/sqldialect"
)

// maxName is how many characters a name may have.
const maxName = 64

// derived returns the name of something that belongs to a table. A long name ends with a checksum.
func derived(prefix, table string) string {
	name := "_snow_" + prefix + table
	if utf8.RuneCountInString(name) <= maxName {
		return name
	}
	sum := fmt.Sprintf("_%08x", crc32.ChecksumIEEE([]byte(table)))
	return string([]rune(name)[:maxName-len(sum)]) + sum
}

// The tables of a table: the wider one, the one that has been replaced, and lists of the rows that may differ.
func shadowOf(table string) string { return derived("", table) }
func oldOf(table string) string    { return derived("old_", table) }

func quote(name string) string         { return sqldialect.MySQL.Quote(name) }
func quoteAll(names []string) string   { return sqldialect.MySQL.QuoteAll(names) }
func literal(text string) string       { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
func column(alias, name string) string { return alias + "." + quote(name) }

// each joins what f makes of names.
func each(names []string, separator string, f func(string) string) string {
	made := make([]string, len(names))
	for i, name := range names {
		made[i] = f(name)
	}
	return strings.Join(made, separator)
}

// columns returns columns of a table with an alias, with commas.
func columns(alias string, names []string) string {
	return each(names, ", ", func(name string) string { return column(alias, name) })
}

func nulls(n int) string { return strings.TrimSuffix(strings.Repeat("NULL, ", n), ", ") }

// A direction says which tables the rows are carried from and to. The source is always the table that programs use.
type direction struct {
	name   string
	to     func(table string) string
	log    func(table string) string
	listed string // the triggers that list changed rows begin so
	mirror string // the triggers that repeat changes begin so
}

// forward carries rows to the wider tables, and backward to the ones that they have replaced.
func forward() direction {
	return direction{"forward", shadowOf, func(t string) string { return derived("log_", t) }, "l", "m"}
}

func backward() direction {
	return direction{"backward", oldOf, func(t string) string { return derived("back_", t) }, "b", "r"}
}

// events are what triggers fire on, by the letters in the triggers' names.
func events() []string { return []string{"insert", "update", "delete"} }

func triggerName(kind, event, table string) string { return derived(kind+event[:1]+"_", table) }

// A group is the tables of a plan that change together.
type group struct {
	name    string // for the names of steps
	tables  []*plan.Table
	altered bool // with ALTER TABLE
}

// groups returns the groups in the order of the plan. A group is altered if one of its tables must be.
func groups(p *plan.Plan) []*group {
	var all []*group
	byNumber := map[int]*group{}
	for _, t := range p.Tables {
		if t.Method == plan.None || t.Method == "" || len(t.Columns) == 0 {
			continue
		}
		g := byNumber[t.Group]
		if g == nil || t.Group == 0 {
			g = &group{name: t.Name}
			all = append(all, g)
			byNumber[t.Group] = g
		}
		g.tables = append(g.tables, t)
		g.altered = g.altered || t.Method == plan.Alter
	}
	return all
}

func (g *group) names() []string {
	names := make([]string, len(g.tables))
	for i, t := range g.tables {
		names[i] = t.Name
	}
	return names
}

func (g *group) has(table string) bool { return slices.Contains(g.names(), table) }
