package catalog

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/merge/plan"
)

// A mysqlTable is what SHOW CREATE TABLE says. Defaults, expressions, checks and indexes are taken from it:
// information_schema of MySQL has expressions escaped as in a string, garbles what is no ASCII in them, and ends a
// binary default at its first zero.
type mysqlTable struct {
	columns map[string][]string // the words after a column's name, see words
	indexes map[string]string
}

// mysqlLine is a line of SHOW CREATE TABLE: what it defines, the name, and the rest.
var mysqlLine = regexp.MustCompile("(?m)^  ((?:(?:UNIQUE |FULLTEXT |SPATIAL )?KEY |CONSTRAINT )?)(`(?:[^`]|``)+`) (.*?),?$")

// readMySQLTables reads the definitions of all tables, and notes their checks.
func (r *reader) readMySQLTables(ctx context.Context) map[*Table]mysqlTable {
	written := map[*Table]mysqlTable{}
	for _, t := range r.Tables {
		w := mysqlTable{map[string][]string{}, map[string]string{}}
		written[t] = w
		r.each(ctx, "SHOW CREATE TABLE "+r.quote(t.Name), func(v row) {
			for _, m := range mysqlLine.FindAllStringSubmatch(v.text(1), -1) {
				switch check, isCheck := strings.CutPrefix(m[3], "CHECK "); {
				case m[1] == "":
					w.columns[unquote(m[2])] = words(m[3])
				case m[1] != "CONSTRAINT ":
					w.indexes[unquote(m[2])] = m[1] + m[2] + " " + m[3]
				case isCheck:
					AddNote(t.Table, "check %s %s", unquote(m[2]), check)
				}
			}
		})
	}
	return written
}

// words splits the definition of a column at its spaces, but not within quotes and parentheses.
func words(text string) (found []string) {
	var quote byte
	depth, begin := 0, 0
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case quote != 0 && quote != '`' && b == '\\':
			i++
		case quote == b:
			quote = 0
		case quote != 0:
		case b == '\'' || b == '"' || b == '`':
			quote = b
		case b == '(':
			depth++
		case b == ')':
			depth--
		case b == ' ' && depth == 0:
			found, begin = append(found, text[begin:i]), i+1
		}
	}
	return append(found, text[begin:])
}

// after returns the word that follows some others in the definition of a column, or "".
func after(definition []string, words ...string) string {
	for i := range definition {
		if end := i + len(words); end < len(definition) && slices.Equal(definition[i:end], words) {
			return definition[end]
		}
	}
	return ""
}

func (r *reader) readMySQLColumns(ctx context.Context, written map[*Table]mysqlTable, maria bool) {
	srid := "SRS_ID"
	if maria {
		srid = "NULL"
	}
	query := `SELECT TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, LOWER(EXTRA), COALESCE(COLLATION_NAME, ''), COLUMN_COMMENT, ` + srid + `
		FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = {schema} ORDER BY TABLE_NAME, ORDINAL_POSITION`
	r.ofTables(ctx, query, func(t *Table, v row) {
		if after(written[t].columns[v.text(1)], "GENERATED", "ALWAYS", "AS") == "ROW" {
			return // of a system versioned table: the target has no versions
		}
		c := &plan.Column{Name: v.text(1), Type: v.text(2), Nullable: v.text(3) == "YES", Comment: v.text(6), Role: plan.RolePlain}
		t.Columns = append(t.Columns, c)
		extra, definition := v.text(4), written[t].columns[v.text(1)]
		if definition == nil {
			r.err = fmt.Errorf("table %q: SHOW CREATE TABLE does not have column %q", t.Name, v.text(1))
			return
		}
		if collation := v.text(5); t.Options != "COLLATE="+collation {
			c.Collation = collation
		}
		numbered := strings.Contains(extra, "auto_increment")
		var options []string
		if v[7].Valid {
			options = append(options, "SRID "+v.text(7))
		}
		if strings.Contains(extra, "invisible") {
			options = append(options, "INVISIBLE")
			if numbered { // programs do not see it, so the target numbers it too
				options = append(options, "AUTO_INCREMENT")
			}
		}
		c.Options = strings.Join(options, " ")
		text, update := after(definition, "DEFAULT"), after(definition, "ON", "UPDATE")
		switch generated := after(definition, "GENERATED", "ALWAYS", "AS"); {
		case generated != "":
			c.Generated = generated + " VIRTUAL"
			if strings.Contains(extra, "stored") || strings.Contains(extra, "persistent") {
				c.Generated = generated + " STORED"
			}
		case numbered || strings.HasPrefix(text, "nextval("):
			t.Numbered = append(t.Numbered, c.Name)
		case update != "":
			text = cmp.Or(text, "NULL") + " ON UPDATE " + update
			c.Default = &text
		case text != "" && text != "NULL":
			c.Default = &text
		}
		switch check := after(definition, "CHECK"); {
		// all that JSON is in MariaDB
		case check == "(json_valid("+sqldialect.MySQL.Quote(c.Name)+"))" && c.Type == "longtext":
			c.Type, c.Collation = "json", ""
		case check != "":
			AddNote(t.Table, "check %s %s", c.Name, check)
		}
	})
	for _, t := range r.Tables {
		for _, c := range t.Columns {
			r.readLossy(ctx, t, c)
		}
	}
}

// readLossy reads a default that may have question marks from the server: for characters above U+FFFF, and in MariaDB
// for bytes that are no ASCII. It tells the value beside a row only.
func (r *reader) readLossy(ctx context.Context, t *Table, c *plan.Column) {
	var value string
	if c.Default != nil {
		value = *c.Default
	}
	if !strings.Contains(c.Type+value+c.Generated, "?") {
		return
	}
	told := false
	if strings.HasPrefix(value, "'") && !strings.Contains(c.Type, "?") {
		text, isBinary := "DEFAULT("+sqldialect.MySQL.Quote(c.Name)+")", strings.Contains(c.Type, "binary")
		if isBinary {
			text = "CONCAT('0x', HEX(" + text + "))"
		}
		r.each(ctx, fmt.Sprintf("SELECT %s FROM %s LIMIT 1", text, r.quote(t.Name)), func(v row) {
			told, value = true, v.text(0)
		})
		if told && !isBinary {
			value = sqldialect.MySQL.Literal(value)
		}
		c.Default = &value
	}
	if !told {
		AddNote(t.Table, "column %s: the server writes ? for some characters, so look at its definition", c.Name)
	}
}

func (r *reader) readMySQLIndexes(ctx context.Context, written map[*Table]mysqlTable) {
	const query = `SELECT TABLE_NAME, INDEX_NAME, CASE WHEN INDEX_NAME = 'PRIMARY' THEN 'PRIMARY' WHEN NON_UNIQUE THEN '' ELSE 'UNIQUE' END, SEQ_IN_INDEX,
			COALESCE(COLUMN_NAME, ''), 1, ''
		FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = {schema} ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX`
	for _, i := range r.readIndexes(ctx, query) {
		quoted := make([]string, len(i.columns))
		for n, column := range i.columns {
			quoted[n] = sqldialect.MySQL.Quote(column)
		}
		text := written[i.table].indexes[i.name]
		simple := strings.TrimLeft(i.kind+" KEY ", " ") + sqldialect.MySQL.Quote(i.name) + " (" + strings.Join(quoted, ",") + ")"
		i.isSimple = i.kind == "PRIMARY" || strings.TrimSuffix(text, " USING BTREE") == simple
		if rest, ok := strings.CutPrefix(strings.ReplaceAll(text, "` DESC", "`"), simple); ok && i.kind == "UNIQUE" && !i.isSimple {
			i.isSimple = true // its rows can clash
			AddNote(i.table.Table, "unique key %s: Schema makes an ordinary one, without what the source has besides: %s", i.name, cmp.Or(strings.TrimSpace(rest), "DESC"))
		}
		i.add("ALTER TABLE " + sqldialect.MySQL.Quote(r.qualified(i.table.Name)) + " ADD " + text)
	}
}
