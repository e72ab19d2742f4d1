package sqltype

import (
	"fmt"
	"strings"

	"github.com/shardsnow/snow/internal/sqldialect"
)

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
		case x == y:
			return a, true
		case x.Unsigned == y.Unsigned && x.Bits == bits:
			return a, true
		case x.Unsigned == y.Unsigned:
			return b, true
		case x.Unsigned && x.Bits >= y.Bits, y.Unsigned && y.Bits >= x.Bits:
			bits = min(2*bits, 64) // an id has 63 bits, so that it fits both
		}
		return integerType(d, bits), true
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
	}
	return typ
}
