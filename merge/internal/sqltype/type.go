// Package sqltype says what the types of columns are to a merge: integers of how many bits, texts of what length,
// and so on. It goes by the names of the types alone, and asks no database.
package sqltype

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/internal/sqldialect"
)

// A Kind is what the values of a type are.
type Kind int

// The kinds.
const (
	Other   Kind = iota
	Integer      // of Bits
	Text         // of at most Length characters, where there is a limit
	JSON         // the database's own JSON; texts may hold JSON too
	Time         // a date with or without a time of day
	Bytes        // of at most Length, where there is a limit
	Decimal      // an exact number without a fraction, of at most Digits where there is a limit
)

// A Type is what the name of a type says.
type Type struct {
	Kind     Kind
	Bits     int // of an integer
	Unsigned bool
	Length   int // of a text in characters, 0 for no limit; MySQL's texts count bytes, and so do its bytes
	Digits   int // of a decimal, 0 for no limit: then some of its values may have fractions
}

// IsNumber reports whether values may be integers exactly, in a binary or decimal form.
func (s Type) IsNumber() bool { return s.Kind == Integer || s.Kind == Decimal }

// Of returns the Type of a type as the database writes it, or as people do.
func Of(d sqldialect.Dialect, typ string) Type {
	typ = strings.ToLower(strings.TrimSpace(typ))
	name, arguments, _ := strings.Cut(typ, "(")
	name = strings.TrimSpace(name)
	if strings.HasSuffix(typ, "]") { // an array of PostgreSQL
		return Type{}
	}
	if d == sqldialect.SQLite {
		return affinity(name)
	}
	first, _, _ := strings.Cut(arguments, ")")
	precision, _, _ := strings.Cut(first, ",")
	length, _ := strconv.Atoi(strings.TrimSpace(precision))
	word, _, _ := strings.Cut(name, " ")
	if bits := integerBits(word); bits > 0 {
		return Type{Kind: Integer, Bits: bits, Unsigned: strings.Contains(typ, "unsigned")}
	}
	switch word {
	case "decimal", "numeric", "dec":
		_, scale, _ := strings.Cut(first, ",")
		if first = strings.TrimSpace(scale); strings.Trim(first, "0") == "" && (length > 0 || d == sqldialect.Postgres) {
			return Type{Kind: Decimal, Digits: length, Unsigned: strings.Contains(typ, "unsigned")}
		}
		return Type{}
	case "char", "varchar", "character", "nchar", "nvarchar", "bpchar":
		if strings.HasPrefix(word, "n") || word == "char" || name == "character" {
			length = max(length, 1)
		}
		return Type{Kind: Text, Length: length}
	case "text", "citext":
		if d == sqldialect.MySQL {
			return Type{Kind: Text, Length: 1<<16 - 1}
		}
		return Type{Kind: Text}
	case "tinytext":
		return Type{Kind: Text, Length: 255}
	case "mediumtext":
		return Type{Kind: Text, Length: 1<<24 - 1}
	case "longtext":
		return Type{Kind: Text}
	case "json", "jsonb":
		return Type{Kind: JSON}
	case "date", "datetime", "timestamp", "timestamptz":
		return Type{Kind: Time}
	case "binary", "varbinary":
		return Type{Kind: Bytes, Length: max(length, 1)}
	case "tinyblob":
		return Type{Kind: Bytes, Length: 1<<8 - 1}
	case "blob":
		return Type{Kind: Bytes, Length: 1<<16 - 1}
	case "mediumblob":
		return Type{Kind: Bytes, Length: 1<<24 - 1}
	case "longblob", "bytea":
		return Type{Kind: Bytes}
	}
	return Type{}
}

// IsBinary reports whether MySQL's values of a type have no text: BIT, geometry and VECTOR.
func IsBinary(typ string) bool {
	switch Word(typ) {
	case "bit", "geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon", "geometrycollection", "vector":
		return true
	}
	return false
}

// Members returns the texts of an ENUM or a SET of MySQL, in their order, and nothing for other types.
func Members(typ string) (all []string) {
	if word := Word(typ); word != "enum" && word != "set" {
		return nil
	}
	_, rest, _ := strings.Cut(typ, "(")
	for {
		begin := strings.IndexByte(rest, '\'')
		if begin < 0 {
			return all
		}
		var text strings.Builder
		for rest = rest[begin+1:]; rest != ""; rest = rest[1:] {
			if rest[0] == '\'' {
				if rest = rest[1:]; !strings.HasPrefix(rest, "'") { // two of them stand for one
					break
				}
			}
			text.WriteByte(rest[0])
		}
		all = append(all, text.String())
	}
}

// integerBits returns how many bits an integer type has, or 0 for other types.
func integerBits(word string) int {
	switch word {
	case "tinyint":
		return 8
	case "smallint", "int2":
		return 16
	case "mediumint":
		return 24
	case "int", "integer", "int4":
		return 32
	case "bigint", "int8":
		return 64
	}
	return 0
}

// Element returns the Type of the elements of a PostgreSQL array, and false for other types.
func Element(d sqldialect.Dialect, typ string) (Type, bool) {
	element, array := strings.CutSuffix(strings.TrimSpace(typ), "[]")
	if d != sqldialect.Postgres || !array {
		return Type{}, false
	}
	return Of(d, strings.TrimRight(element, "[] ")), true
}

// affinity goes by SQLite's rules, which know neither lengths nor widths.
func affinity(name string) Type {
	switch {
	case strings.Contains(name, "int"):
		return Type{Kind: Integer, Bits: 64}
	case strings.Contains(name, "char"), strings.Contains(name, "clob"), strings.Contains(name, "text"):
		return Type{Kind: Text}
	case strings.HasPrefix(name, "json"):
		return Type{Kind: JSON}
	case strings.HasPrefix(name, "date"), strings.HasPrefix(name, "timestamp"):
		return Type{Kind: Time}
	case strings.Contains(name, "blob"), name == "":
		return Type{Kind: Bytes}
	}
	return Type{}
}

// IDDigits is how many characters the longest id has.
const IDDigits = 19

// UnfitForIDs says why values of the shape can't be new ids, or "".
func (s Type) UnfitForIDs(typ string) string {
	switch {
	case s.Kind == Integer && s.Bits < 64:
		return "type " + strconv.Quote(typ) + " can't hold ids of 64 bits: want bigint"
	case s.Kind == Text && s.Length > 0 && s.Length < IDDigits:
		return "type " + strconv.Quote(typ) + " can't hold ids of " + strconv.Itoa(IDDigits) + " digits"
	case s.Kind == Decimal && s.Digits > 0 && s.Digits < IDDigits:
		return "type " + strconv.Quote(typ) + " can't hold ids of " + strconv.Itoa(IDDigits) + " digits"
	case s.Kind == Other && isFloat(Word(typ)):
		return "type " + strconv.Quote(typ) + " rounds ids above 2^53: give the column type: bigint in the plan, as {type: bigint} under tables or as the answer to its question. " +
			"The target's column is one then, and each value has to be a whole number"
	case s.Kind == Other && (Word(typ) == "numeric" || Word(typ) == "decimal"):
		return "type " + strconv.Quote(typ) + " has a fraction: ALTER the column to bigint in a copy of each source, or say that it is plain"
	case !s.IsNumber() && s.Kind != Text:
		return "type " + strconv.Quote(typ) + " is neither an integer nor a text"
	}
	return ""
}

// isFloat reports whether a type is a number of single or double precision.
func isFloat(word string) bool {
	return word == "double" || word == "float" || word == "real" || word == "float4" || word == "float8"
}

// Highest returns the highest integer that values of the shape can be, at most 2^63 - 1.
func (s Type) Highest() int64 {
	switch {
	case s.Kind == Decimal && s.Digits > 0 && s.Digits < IDDigits:
		n := int64(1)
		for range s.Digits {
			n *= 10
		}
		return n - 1
	case s.Kind != Integer || s.Bits >= 64:
		return math.MaxInt64
	case s.Unsigned:
		return 1<<s.Bits - 1
	}
	return 1<<(s.Bits-1) - 1
}

// Word returns the first word of a type, in lower case.
func Word(typ string) string {
	typ = strings.ToLower(typ)
	if end := strings.IndexAny(typ, " ("); end >= 0 {
		typ = typ[:end]
	}
	return typ
}

// Widest returns a type that holds the values of both, and whether there is one.
func Widest(d sqldialect.Dialect, a, b string) (string, bool) {
	if strings.EqualFold(a, b) {
		return a, true
	}
	x, y := Of(d, a), Of(d, b)
	switch {
	case d == sqldialect.SQLite:
		return a, x.Kind == y.Kind && x.Kind != Other
	case x.Kind == Integer && y.Kind == Integer:
		bits := max(x.Bits, y.Bits)
		switch {
		case x.Unsigned == y.Unsigned && x.Bits == bits:
			return a, true
		case x.Unsigned == y.Unsigned:
			return b, true
		case x.Unsigned && x.Bits >= y.Bits, y.Unsigned && y.Bits >= x.Bits:
			bits = min(2*bits, 64) // an id has 63 bits, so that it fits both
		}
		return integerType(d, bits), true
	case x.Kind == Decimal && y.Kind == Decimal:
		if x.Digits > 0 && (y.Digits == 0 || y.Digits > x.Digits) {
			return b, true
		}
		return a, true
	case x.Kind == Text && y.Kind == Text:
		if y.Length == 0 && x.Length > 0 || x.Length > 0 && y.Length > x.Length {
			return b, true
		}
		return a, true
	}
	return a, false
}

// integerType returns the smallest type for signed integers of bits.
func integerType(d sqldialect.Dialect, bits int) string {
	switch {
	case bits > 32:
		return "bigint"
	case bits > 16 && d == sqldialect.Postgres:
		return "integer"
	case bits > 16:
		return "int"
	}
	return "smallint"
}

// WideList returns the type for a list of as many new ids as a text can have of one digit each, with separators of so
// many characters.
func WideList(d sqldialect.Dialect, typ string, separator int, hasDefault bool) string {
	const mostInRow = 2000 // characters of a column of MySQL, whose rows have at most 64 kB outside of texts
	s := Of(d, typ)
	if s.Kind != Text || s.Length == 0 || d == sqldialect.MySQL && strings.HasSuffix(Word(typ), "text") && s.Length > 255 {
		return typ
	}
	ids := (s.Length + separator) / (1 + separator)
	length := max(s.Length, ids*IDDigits+(ids-1)*separator)
	switch {
	case d == sqldialect.Postgres:
		return fmt.Sprintf("character varying(%d)", length)
	case Word(typ) == "tinytext", length > mostInRow && !hasDefault && length <= 16000: // a TEXT has no default
		return "text"
	case length > mostInRow && !hasDefault:
		return "mediumtext"
	}
	return fmt.Sprintf("varchar(%d)", max(s.Length, min(length, 2*mostInRow)))
}

// Wide returns the type for ids that takes the place of a narrower one.
func Wide(d sqldialect.Dialect, typ string) string {
	s := Of(d, typ)
	switch {
	case d == sqldialect.SQLite || s.UnfitForIDs(typ) == "":
		return typ
	case strings.HasSuffix(typ, "[]"):
		return Wide(d, strings.TrimSuffix(typ, "[]")) + "[]"
	case s.Kind == Integer && s.Unsigned:
		return "bigint unsigned"
	case s.Kind == Integer:
		return "bigint"
	case s.Kind == Text && d == sqldialect.Postgres:
		return fmt.Sprintf("character varying(%d)", IDDigits)
	case s.Kind == Text:
		return fmt.Sprintf("varchar(%d)", IDDigits)
	case s.Kind == Decimal && s.Unsigned:
		return fmt.Sprintf("decimal(%d,0) unsigned", IDDigits)
	case s.Kind == Decimal:
		return fmt.Sprintf("%s(%d,0)", Word(typ), IDDigits)
	}
	return typ
}
