package idcolumn

import (
	"regexp"
	"strings"

	"github.com/shardsnow/snow/internal/sqldialect"
)

// MySQL returns a column from what information_schema.columns says: data_type, column_type,
// character_maximum_length, numeric_precision, numeric_scale, extra and column_default. A missing number is 0.
func MySQL(table, name, dataType, columnType string, characters, precision, scale int64, extra, value string) Column {
	c := Column{Name: name, Type: columnType}
	switch strings.ToLower(dataType) {
	case "bigint":
		c.Kind, c.Size = Integer, 64
	case "int", "integer":
		c.Kind, c.Size = Integer, 32
	case "mediumint":
		c.Kind, c.Size = Integer, 24
	case "smallint":
		c.Kind, c.Size = Integer, 16
	case "tinyint":
		c.Kind, c.Size = Integer, 8
	case "decimal":
		if precision-scale >= Digits {
			c.Kind = Any
		}
	case "char", "varchar", "tinytext", "text", "mediumtext", "longtext", "binary", "varbinary":
		c.Kind, c.Size = Text, characters
	}
	if strings.Contains(strings.ToLower(columnType), "unsigned") {
		c.Sign = Unsigned
	}
	switch {
	case strings.HasPrefix(strings.ToLower(value), "nextval("): // MariaDB
		c.Auto, c.Cure = "a default of nextval()", alter(sqldialect.MySQL, table)+" ALTER "+sqldialect.MySQL.Quote(name)+" DROP DEFAULT"
	case strings.Contains(strings.ToLower(extra), "auto_increment"):
		c.Auto, c.Cure = "AUTO_INCREMENT", alter(sqldialect.MySQL, table)+" MODIFY "+sqldialect.MySQL.Quote(name)+" "+strings.ToUpper(c.Wide())+" NOT NULL"
	}
	return c
}

// MySQLFold returns the Fold of a column of data_type with a collation_name, which is empty for binary types. CHAR
// does not keep spaces at the end, and most binary collations ignore them: PAD SPACE.
func MySQLFold(dataType, collation string) string {
	exact := strings.HasSuffix(collation, "_bin") && (strings.Contains(collation, "_nopad_") || strings.Contains(collation, "_0900_"))
	switch {
	case strings.EqualFold(dataType, "char"):
		return "its type is CHAR, which does not keep spaces at the end"
	case collation != "" && collation != "binary" && !exact:
		return "its collation is " + collation
	}
	return ""
}

// PostgresFold returns the Fold of a column whose type, or the base of its domain, has a typname. deterministic
// says whether its collation is.
func PostgresFold(base string, deterministic bool) string {
	switch {
	case base == "citext" || base == "bpchar":
		return "its type is " + base
	case !deterministic:
		return "its collation is not deterministic"
	}
	return ""
}

// Postgres returns a column from what pg_attribute says: the type as format_type writes it, the typname of the
// type, or of the base of a domain, the modifier of that, attidentity, and the default as pg_get_expr writes it.
func Postgres(table, name, typ, base string, modifier int64, identity, value string) Column {
	c := Column{Name: name, Type: typ}
	switch base {
	case "int8":
		c.Kind, c.Size = Integer, 64
	case "int4":
		c.Kind, c.Size = Integer, 32
	case "int2":
		c.Kind, c.Size = Integer, 16
	case "numeric": // a modifier is precision << 16 | scale, plus four
		if precision, scale := (modifier-4)>>16, (modifier-4)&0x7FF; modifier < 0 || precision-scale >= Digits {
			c.Kind = Any
		}
	case "text", "varchar", "bpchar":
		c.Kind, c.Size = Text, max(0, modifier-4)
	}
	switch {
	case identity != "":
		c.Auto, c.Cure = "an identity column", alter(sqldialect.Postgres, table)+" ALTER "+sqldialect.Postgres.Quote(name)+" DROP IDENTITY"
	case strings.HasPrefix(value, "nextval("):
		c.Auto, c.Cure = "serial", alter(sqldialect.Postgres, table)+" ALTER "+sqldialect.Postgres.Quote(name)+" DROP DEFAULT"
	}
	return c
}

// alter returns the beginning of a statement. A dot ends the schema of a table.
func alter(d sqldialect.Dialect, table string) string {
	parts := strings.Split(table, ".")
	for i, part := range parts {
		parts[i] = d.Quote(part)
	}
	return "ALTER TABLE " + strings.Join(parts, ".")
}

// SQLite returns a column from its declared type. counts says whether it is in the primary key of a table for which
// Counts is true.
func SQLite(name, declared string, counts bool) Column {
	c := Column{Name: name, Type: declared, Kind: affinity(declared)}
	if c.Kind == Integer {
		c.Size = 64
	}
	if counts {
		key := sqldialect.SQLite.Quote(name)
		c.Auto, c.Cure = "AUTOINCREMENT", "copy the rows to a table with "+key+" BIGINT, PRIMARY KEY ("+key+")"
	}
	return c
}

// autoincrement matches SQLite's grammar, which allows it only for an INTEGER primary key.
var autoincrement = regexp.MustCompile(`(?i)\bPRIMARY\s+KEY(\s+(ASC|DESC))?(\s+ON\s+CONFLICT\s+\w+)?\s+AUTOINCREMENT\b`)

// Counts reports whether a CREATE TABLE of SQLite makes the primary key AUTOINCREMENT. An INTEGER primary key
// without it also makes up a value for NULL.
func Counts(createTable string) bool { return autoincrement.MatchString(createTable) }

// integerKey matches the type of such a key. A table has one at most.
var integerKey = regexp.MustCompile("(?is)[\"`\\[]?\\bINTEGER\\b[\"`\\]]?")

// Uncounted returns a CREATE TABLE of SQLite without AUTOINCREMENT. Its key is a BIGINT, for which SQLite makes up no
// value. It is false if the statement has no AUTOINCREMENT.
func Uncounted(createTable string) (string, bool) {
	at := autoincrement.FindStringIndex(createTable)
	if at == nil {
		return createTable, false
	}
	types := integerKey.FindAllStringIndex(createTable[:at[0]], -1)
	if len(types) == 0 {
		return createTable, false
	}
	typ := types[len(types)-1]
	key := createTable[at[0] : at[1]-len("AUTOINCREMENT")]
	return createTable[:typ[0]] + "BIGINT NOT NULL" + createTable[typ[1]:at[0]] + strings.TrimSpace(key) + createTable[at[1]:], true
}

// affinity returns what a column of a declared type keeps, by the rules of
// https://www.sqlite.org/datatype3.html, section 3.1. Lengths are not enforced.
func affinity(declared string) Kind {
	typ := strings.ToUpper(declared)
	has := func(parts ...string) bool {
		for _, part := range parts {
			if strings.Contains(typ, part) {
				return true
			}
		}
		return false
	}
	switch {
	case has("INT"):
		return Integer
	case has("CHAR", "CLOB", "TEXT"):
		return Text
	case has("REAL", "FLOA", "DOUB"):
		return Other
	}
	return Any // BLOB and no type keep the value, NUMERIC turns digits into an integer
}
