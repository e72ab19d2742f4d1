package audit

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/shardsnow/snow/internal/idcolumn"
)

// readCreate reads the statement that makes a table of MySQL.
func (a *audit) readCreate(ctx context.Context, t *table) error {
	if t.create != "" {
		return nil
	}
	var name string
	return a.db.QueryRowContext(ctx, "SHOW CREATE TABLE "+a.from(t)).Scan(&name, &t.create)
}

// mysqlStatements modifies columns. MODIFY wants the whole definition of a column. Both ends of a foreign key have the
// same type, and neither can be changed as long as the key is there.
func (a *audit) mysqlStatements(ctx context.Context, c change) (statements []string, obstacle string, err error) {
	members, keys := []member{{c.table, c.column}}, []foreignKey(nil)
	if c.widens || c.stops() && !a.maria {
		all, joined, outside := a.family(c)
		if outside != "" {
			return nil, outside, nil
		}
		keys = joined
		if c.widens {
			members = all
		}
	}
	if !c.widens && !c.stops() { // a sequence that ends before the type of the column does
		return []string{c.ends.unbound(a.dialect)}, "", nil
	}
	var tables []*table
	modify := map[*table][]string{}
	for _, m := range members {
		if err := a.readCreate(ctx, m.table); err != nil {
			return nil, "", err
		}
		definition := mysqlDefinition(m.table.create, a.dialect.Quote(m.column.Name))
		if definition == "" {
			return nil, "SHOW CREATE TABLE does not show the column as usual", nil
		}
		if c.widens && isNarrow(m.column) {
			definition = widened(definition, m.column)
		}
		if m.table == c.table && m.column.Name == c.column.Name && c.stops() {
			definition = uncounted(definition)
		}
		if !slices.Contains(tables, m.table) {
			tables = append(tables, m.table)
		}
		modify[m.table] = append(modify[m.table], "MODIFY "+a.dialect.Quote(m.column.Name)+" "+definition)
	}
	var restore []string
	for _, k := range keys {
		if err := a.readCreate(ctx, k.table); err != nil {
			return nil, "", err
		}
		name := a.dialect.Quote(k.name)
		match := regexp.MustCompile("(?m)^  (CONSTRAINT " + regexp.QuoteMeta(name) + " FOREIGN KEY .*?),?$").FindStringSubmatch(k.table.create)
		if match == nil {
			return nil, "SHOW CREATE TABLE does not show the foreign key " + k.name + " as usual", nil
		}
		statements = append(statements, "ALTER TABLE "+a.from(k.table)+" DROP FOREIGN KEY "+name)
		restore = append(restore, "ALTER TABLE "+a.from(k.table)+" ADD "+match[1])
	}
	for _, t := range tables {
		if t.versioned && !slices.Contains(statements, keepHistory) {
			statements = append(statements, keepHistory)
		}
		statements = append(statements, "ALTER TABLE "+a.from(t)+" "+strings.Join(modify[t], ", "))
	}
	if c.ends != nil && !c.stops() && c.ends.sequence != "" && c.ends.own {
		statements = append(statements, c.ends.unbound(a.dialect))
	}
	return append(statements, restore...), "", nil
}

// keepHistory lets the columns of a system versioned table of MariaDB be changed.
const keepHistory = "SET SESSION system_versioning_alter_history = KEEP"

// mysqlDefinition returns what SHOW CREATE TABLE has behind the name of a column.
func mysqlDefinition(create, quoted string) string {
	match := regexp.MustCompile("(?m)^  " + regexp.QuoteMeta(quoted) + " (.*?),?$").FindStringSubmatch(create)
	if match == nil {
		return ""
	}
	return match[1]
}

// mysqlType matches the type at the beginning of a definition.
var mysqlType = regexp.MustCompile(`^\w+(\([^)]*\))?((?: unsigned| zerofill)*)(?: CHARACTER SET \w+)?(?: COLLATE \w+)?`)

// widened returns a definition with 64 bits. An integer keeps its sign, and the zeros before it.
func widened(definition string, c idcolumn.Column) string {
	m := mysqlType.FindStringSubmatchIndex(definition)
	if m == nil {
		return definition
	}
	typ := "bigint"
	if c.Kind == idcolumn.Integer {
		attributes := definition[m[4]:m[5]]
		if m[2] >= 0 && strings.Contains(attributes, "zerofill") {
			typ += definition[m[2]:m[3]]
		}
		typ += attributes
	}
	return typ + definition[m[1]:]
}

// counting matches what makes up numbers in a definition, before a comment.
var counting = regexp.MustCompile("(?i) (AUTO_INCREMENT|DEFAULT nextval\\(`.+?`\\))(?: |$)")

// uncounted returns a definition that makes up no numbers.
func uncounted(definition string) string {
	head, comment, found := strings.Cut(definition, " COMMENT '")
	if m := counting.FindStringSubmatchIndex(head); m != nil {
		head = head[:m[0]] + head[m[3]:]
	}
	if found {
		head += " COMMENT '" + comment
	}
	return head
}
