package inspect

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

type table struct {
	name    string
	columns []*column
}

// A column is one, with the truth about it.
type column struct {
	name    string
	counted bool
	primary bool
	indexed bool
	rare    bool // nearly all values are 0
	orphans bool // one in eight values is an orphan
	one     bool // all values are the same
	tiny    bool
	decimal bool
	kind    bool     // it says which of refers the reference after it is of: 1 for the first
	refers  []string // tables: several where a kind says which, and "" for numbers
	below   int
	text    bool
	time    bool
}

var columnPattern = regexp.MustCompile(`^(\w+)([-+*^?@%!=#&]*)(?::(\d+))?(?:>([\w|]+))?$`)

// parse reads the notation of schemas.
func parse(text string) (tables []*table, err error) {
	for line := range strings.Lines(text) {
		name, rest, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok {
			continue
		}
		t := &table{name: name}
		for word := range strings.FieldsSeq(rest) {
			m := columnPattern.FindStringSubmatch(word)
			if m == nil {
				return nil, fmt.Errorf("table %q: column %q", name, word)
			}
			has := func(sign string) bool { return strings.Contains(m[2], sign) }
			c := &column{name: m[1], counted: has("+"), primary: has("+") || has("*"), indexed: has("^"), rare: has("?"), time: has("@")}
			c.orphans, c.one, c.tiny, c.decimal, c.kind = has("!"), has("="), has("-"), has("#"), has("&")
			if m[4] != "" {
				c.refers = strings.Split(m[4], "|")
			}
			c.below, _ = strconv.Atoi(m[3])
			if has("%") {
				c.below = 2
			}
			c.text = !c.primary && c.refers == nil && c.below == 0 && !c.time && !c.kind && !c.decimal || c.name == "token"
			t.columns = append(t.columns, c)
		}
		tables = append(tables, t)
	}
	return tables, nil
}

// key returns the column that numbers the rows of the table by itself, or nil.
func (t *table) key() *column {
	primary := slices.DeleteFunc(slices.Clone(t.columns), func(c *column) bool { return !c.primary })
	if len(primary) == 1 && primary[0].refers == nil && primary[0].below == 0 && !primary[0].text {
		return primary[0]
	}
	return nil
}

// create returns the statement that makes the table.
func (t *table) create() string {
	var parts, primary []string
	for _, c := range t.columns {
		typ := "INT UNSIGNED NOT NULL DEFAULT 0"
		switch {
		case c.counted:
			typ = "INT UNSIGNED NOT NULL AUTO_INCREMENT"
		case c.decimal:
			typ = "DECIMAL(20,0) NOT NULL DEFAULT 0"
		case c.tiny:
			typ = "TINYINT UNSIGNED NOT NULL"
		case c.text:
			typ = "VARCHAR(40) NOT NULL DEFAULT ''"
		case c.time:
			typ = "DATETIME NOT NULL"
		case c.below == 2:
			typ = "TINYINT NOT NULL"
		}
		parts = append(parts, "`"+c.name+"` "+typ)
		if c.primary {
			primary = append(primary, "`"+c.name+"`")
		}
		if c.indexed {
			parts = append(parts, "KEY (`"+c.name+"`)")
		}
	}
	if len(primary) > 0 {
		parts = append(parts, "PRIMARY KEY ("+strings.Join(primary, ", ")+")")
	}
	return "CREATE TABLE `" + t.name + "` (" + strings.Join(parts, ", ") + ")"
}

// A filler makes rows. Ids begin at 1 in each source, with gaps where rows were deleted.
type filler struct {
	random *rand.Rand
	tables []*table
	rows   int
	ids    map[string][]int
	kind   int // of the reference that comes next
}

// statements returns the statements that fill the tables.
func (f *filler) statements() (statements []string) {
	f.ids = map[string][]int{}
	for _, t := range f.tables {
		if t.key() == nil {
			continue
		}
		id := 0
		for range f.size(t) {
			if id++; f.random.IntN(12) == 0 {
				id += f.random.IntN(6)
			}
			f.ids[t.name] = append(f.ids[t.name], id)
		}
	}
	for _, t := range f.tables {
		n := f.size(t)
		var values []string
		for i := range n {
			var row []string
			for _, c := range t.columns {
				row = append(row, f.value(t, c, i))
			}
			values = append(values, "("+strings.Join(row, ", ")+")")
		}
		for part := range slices.Chunk(values, 500) {
			statements = append(statements, "INSERT IGNORE INTO `"+t.name+"` VALUES "+strings.Join(part, ", "))
		}
	}
	return statements
}

// size returns how many rows a table has. It is another one for each, and the same in all sources.
func (f *filler) size(t *table) int {
	sum := uint32(0)
	for _, r := range t.name {
		sum = sum*31 + uint32(r)
	}
	return f.rows * int(1+sum%9) / 4
}

func (f *filler) value(t *table, c *column, i int) string {
	of := ""
	if len(c.refers) > 0 {
		of = c.refers[f.kind%len(c.refers)]
	}
	switch parents := f.ids[of]; {
	case c == t.key():
		return strconv.Itoa(f.ids[t.name][i])
	case c.kind:
		f.kind = f.random.IntN(2)
		return strconv.Itoa(f.kind + 1)
	case len(c.refers) > 0 && of == "":
		return strconv.Itoa(1_000_000 + f.random.IntN(1_000_000))
	case c.one:
		return strconv.Itoa(parents[0])
	case of != "" && !c.primary && (c.rare && f.random.IntN(20) > 0 || f.random.IntN(4) == 0):
		return "0"
	case c.orphans && f.random.IntN(8) == 0:
		return strconv.Itoa(parents[len(parents)-1] + 1 + f.random.IntN(parents[len(parents)-1]))
	case of != "":
		return strconv.Itoa(parents[f.random.IntN(len(parents))])
	case c.text:
		return fmt.Sprintf("'w%x'", f.random.Uint32())
	case c.time:
		return fmt.Sprintf("'2024-%02d-%02d 12:00:00'", 1+f.random.IntN(12), 1+f.random.IntN(28))
	case c.below >= 1_000_000:
		return strconv.Itoa(c.below + f.random.IntN(c.below))
	}
	return strconv.Itoa(f.random.IntN(c.below))
}
