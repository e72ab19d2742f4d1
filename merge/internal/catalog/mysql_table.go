package catalog

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/merge/plan"
)

// A mysqlTable is what SHOW CREATE TABLE says. Defaults, expressions, checks and indexes are taken from it: information_schema
// of MySQL has expressions escaped as in a string, garbles what is no ASCII in them, and ends a binary default at its first zero.
type mysqlTable struct {
	columns map[string][]string // the words after a column's name, see words
	indexes map[string][]string // the kind of an index, and what follows its name
	checks  []string
}

// mysqlLine is a line of SHOW CREATE TABLE: what it defines, the name, and the rest.
var mysqlLine = regexp.MustCompile("(?m)^  ((?:(?:UNIQUE |FULLTEXT |SPATIAL )?KEY |CONSTRAINT )?)(`(?:[^`]|``)+`) (.*?),?$")

func (c *mysqlReader) readDefinitions(ctx context.Context, r Querier) error {
	c.written = map[*Table]*mysqlTable{}
	for _, t := range c.Tables {
		w := &mysqlTable{columns: map[string][]string{}, indexes: map[string][]string{}}
		c.written[t] = w
		err := each(ctx, r, "SHOW CREATE TABLE "+sqldialect.MySQL.Quote(t.Name), nil, func(scan func(...any) error) error {
			var name, text string
			err := scan(&name, &text)
			for _, m := range mysqlLine.FindAllStringSubmatch(text, -1) {
				name := unquote(m[2])
				switch {
				case m[1] == "":
					w.columns[name] = words(m[3])
				case m[1] == "CONSTRAINT " && strings.HasPrefix(m[3], "CHECK "):
					w.checks = append(w.checks, name+strings.TrimPrefix(m[3], "CHECK"))
				case m[1] != "CONSTRAINT ":
					w.indexes[name] = []string{strings.TrimSpace(m[1]), m[3]}
				}
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// words splits the definition of a column at its spaces, but not within quotes and parentheses.
func words(text string) (found []string) {
	var quote byte
	depth, begin := 0, 0
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case quote != 0 && b == '\\' && quote != '`':
			i++
		case quote != 0:
			if b == quote {
				quote = 0
			}
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

// after returns the word that follows some others in a column's definition, or "".
func after(definition []string, words ...string) string {
	for i := range definition {
		if end := i + len(words); end < len(definition) && slices.EqualFunc(definition[i:end], words, strings.EqualFold) {
			return definition[end]
		}
	}
	return ""
}

func (c *mysqlReader) readColumns(ctx context.Context, r Querier, maria bool) error {
	srid := "SRS_ID"
	if maria {
		srid = "NULL"
	}
	query := "SELECT TABLE_NAME, COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, IS_NULLABLE, LOWER(EXTRA), COALESCE(COLLATION_NAME, ''), " + srid + ", COLUMN_COMMENT" +
		" FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME, ORDINAL_POSITION"
	var lossy []func() error
	err := each(ctx, r, query, nil, func(scan func(...any) error) error {
		var table, typ, nullable, extra, collation string
		var srid sql.NullInt64
		column := &plan.Column{Role: plan.RolePlain}
		if err := scan(&table, &column.Name, &typ, &column.Type, &nullable, &extra, &collation, &srid, &column.Comment); err != nil {
			return err
		}
		t := c.Table(table)
		if t == nil {
			return nil
		}
		column.Nullable = nullable == "YES"
		if t.Options != "COLLATE="+collation {
			column.Collation = collation
		}
		definition := c.written[t].columns[column.Name]
		text := after(definition, "DEFAULT")
		update := after(definition, "ON", "UPDATE")
		switch generated := after(definition, "GENERATED", "ALWAYS", "AS"); {
		case generated != "" && (strings.Contains(extra, "stored") || strings.Contains(extra, "persistent")):
			column.Generated = generated + " STORED"
		case generated != "":
			column.Generated = generated + " VIRTUAL"
		case strings.Contains(extra, "auto_increment"), strings.HasPrefix(text, "nextval("):
			t.Numbered = append(t.Numbered, column.Name)
		case update != "":
			text = cmp.Or(text, "NULL") + " ON UPDATE " + update
			column.Default = &text
		case text != "" && text != "NULL":
			column.Default = &text
		}
		var options []string
		if srid.Valid {
			options = append(options, fmt.Sprintf("SRID %d", srid.Int64))
		}
		if strings.Contains(extra, "invisible") {
			options = append(options, "INVISIBLE")
			if strings.Contains(extra, "auto_increment") { // programs do not see it, so the target numbers it too
				options = append(options, "AUTO_INCREMENT")
			}
		}
		column.Options = strings.Join(options, " ")
		t.Columns = append(t.Columns, column)
		if strings.Contains(column.Type+text+column.Generated, "?") {
			lossy = append(lossy, func() error { return c.readLossy(ctx, r, t, column, typ) })
		}
		return nil
	})
	for _, read := range lossy {
		if err == nil {
			err = read()
		}
	}
	return err
}

// readLossy reads a literal in which the server may have written question marks for characters above U+FFFF, and MariaDB for
// bytes that are no ASCII. It tells the value beside a row only.
func (c *mysqlReader) readLossy(ctx context.Context, r Querier, t *Table, column *plan.Column, typ string) error {
	told := false
	if column.Default != nil && strings.HasPrefix(*column.Default, "'") && !strings.Contains(column.Type, "?") {
		text := "DEFAULT(" + sqldialect.MySQL.Quote(column.Name) + ")"
		isBinary := typ == "binary" || typ == "varbinary"
		if isBinary {
			text = "CONCAT('0x', HEX(" + text + "))"
		}
		err := each(ctx, r, "SELECT "+text+" FROM "+sqldialect.MySQL.Quote(t.Name)+" LIMIT 1", nil, func(scan func(...any) error) error {
			told = true
			return scan(&column.Default)
		})
		if err != nil {
			return err
		}
		if told && !isBinary {
			*column.Default = sqldialect.MySQL.Literal(*column.Default)
		}
	}
	if !told {
		t.AddNote("column %s: the server writes ? for some characters, so look at its definition", column.Name)
	}
	return nil
}

// readIndexes takes the columns of an index on columns alone, and any other one as the server writes it.
func (c *mysqlReader) readIndexes(ctx context.Context, r Querier) error {
	const query = "SELECT TABLE_NAME, INDEX_NAME, NON_UNIQUE, COALESCE(COLUMN_NAME, '') FROM information_schema.STATISTICS" +
		" WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX"
	type index struct {
		table   *Table
		name    string
		unique  bool
		columns []string
	}
	var indexes []*index
	err := each(ctx, r, query, nil, func(scan func(...any) error) error {
		var table, name, column string
		var plural bool
		if err := scan(&table, &name, &plural, &column); err != nil {
			return err
		}
		t := c.Table(table)
		if t == nil {
			return nil
		}
		if n := len(indexes); n == 0 || indexes[n-1].table != t || indexes[n-1].name != name {
			indexes = append(indexes, &index{table: t, name: name, unique: !plural})
		}
		i := indexes[len(indexes)-1]
		i.columns = append(i.columns, column)
		return nil
	})
	for _, i := range indexes {
		t := i.table
		if i.name == "PRIMARY" {
			t.PrimaryKey = i.columns
			continue
		}
		quoted := make([]string, len(i.columns))
		for n, column := range i.columns {
			quoted[n] = sqldialect.MySQL.Quote(column)
		}
		text := c.written[t].indexes[i.name]
		isSimple := len(text) == 2 && strings.TrimSuffix(text[1], " USING BTREE") == "("+strings.Join(quoted, ",")+")" && (text[0] == "KEY" || i.unique)
		switch {
		case len(text) != 2:
			t.AddNote("index %s: Schema leaves it out", i.name)
		case isSimple && i.unique:
			t.Unique = append(t.Unique, &plan.Unique{Name: i.name, Columns: i.columns, Rule: plan.RuleFail})
		case isSimple:
			t.Indexes = append(t.Indexes, &plan.Index{Name: i.name, Columns: i.columns})
		default:
			t.Indexes = append(t.Indexes, &plan.Index{
				Name: i.name, Statement: "ALTER TABLE " + sqldialect.MySQL.Quote(t.Name) + " ADD " + text[0] + " " + sqldialect.MySQL.Quote(i.name) + " " + text[1],
			})
			if i.unique {
				t.AddNote("unique index %s is not on columns alone: a clash is found when the database refuses the row", i.name)
			}
		}
	}
	return err
}

// noteChecks notes the checks of tables, and finds MariaDB's JSON, which is a text with a check.
func (c *mysqlReader) noteChecks() error {
	for _, t := range c.Tables {
		for _, check := range c.written[t].checks {
			t.AddNote("check %s", check)
		}
		for _, column := range t.Columns {
			switch check := after(c.written[t].columns[column.Name], "CHECK"); {
			case check == "(json_valid("+sqldialect.MySQL.Quote(column.Name)+"))" && column.Type == "longtext":
				column.Type, column.Collation = "json", ""
			case check != "":
				t.AddNote("check %s %s", column.Name, check)
			}
		}
	}
	return nil
}
