package settle

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/merge/internal/clash"
	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// A Room is what a column of the target has room for.
type Room struct {
	dialect      sqlsnow.Dialect
	column       *plan.Column
	typ          sqltype.Type
	decimal      bool
	whole, scale int // digits of a decimal
	enum         bool
}

// RoomOf returns the room of a column as the target has it.
func RoomOf(d sqlsnow.Dialect, c *plan.Column) *Room {
	r := &Room{dialect: d, column: c, typ: sqltype.Of(d, c.Type), enum: strings.HasPrefix(strings.ToLower(c.Type), "enum(")}
	r.whole, r.scale, r.decimal = decimalOf(c.Type)
	return r
}

// Misfit says why the column does not take a value, or "".
func (r *Room) Misfit(v any) string {
	d, c, s := r.dialect, r.column, r.typ
	if v == nil {
		if !c.Nullable {
			return "NULL"
		}
		return ""
	}
	if d == sqlsnow.SQLite {
		return "" // takes anything
	}
	if n, ok := v.(int64); ok && s.Kind == sqltype.Integer && n >= 0 && (s.Bits == 64 || n < 1<<(s.Bits-1)) {
		return ""
	}
	text := sqlvalue.Text(v)
	switch s.Kind {
	case sqltype.Integer:
		n, err := strconv.ParseInt(text, 10, 64)
		if s.Unsigned {
			var u uint64
			if u, err = strconv.ParseUint(text, 10, 64); err == nil && s.Bits < 64 && u >= 1<<s.Bits {
				err = strconv.ErrRange
			}
		} else if err == nil && s.Bits < 64 && (n >= 1<<(s.Bits-1) || n < -1<<(s.Bits-1)) {
			err = strconv.ErrRange
		}
		if err != nil {
			return sqlvalue.Sample(v) + " is not in the range of " + c.Type
		}
	case sqltype.Text:
		if n := clash.TextLength(d, c, text); s.Length > 0 && n > s.Length {
			return fmt.Sprintf("%d characters, and %s takes %d", n, c.Type, s.Length)
		}
	case sqltype.Bytes:
		if s.Length > 0 && len(text) > s.Length {
			return fmt.Sprintf("%d bytes, and %s takes %d", len(text), c.Type, s.Length)
		}
	}
	if r.decimal && !fitsDecimal(text, r.whole, r.scale) {
		return sqlvalue.Sample(v) + " is not in the range of " + c.Type
	}
	if r.enum && !strings.Contains(c.Type, "'"+strings.ReplaceAll(text, "'", "''")+"'") {
		return sqlvalue.Sample(v) + " is none of " + c.Type
	}
	return ""
}

// decimalOf returns how many digits a decimal has before and after the point.
func decimalOf(typ string) (whole, scale int, ok bool) {
	name, rest, found := strings.Cut(strings.ToLower(typ), "(")
	if name = strings.TrimSpace(name); !found || name != "decimal" && name != "numeric" && name != "dec" {
		return 0, 0, false
	}
	rest, _, _ = strings.Cut(rest, ")")
	precision, digits, _ := strings.Cut(rest, ",")
	p, err := strconv.Atoi(strings.TrimSpace(precision))
	scale, _ = strconv.Atoi(strings.TrimSpace(digits))
	return p - scale, scale, err == nil
}

func fitsDecimal(text string, whole, scale int) bool {
	before, after, _ := strings.Cut(strings.TrimPrefix(text, "-"), ".")
	before, after = strings.TrimLeft(before, "0"), strings.TrimRight(after, "0")
	return len(before) <= whole && len(after) <= scale
}
