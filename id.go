package snow

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
)

// An ID is a 63-bit identifier that sorts by the time at which it was made, up
// to the clock difference between workers, or to the span of a layout with lanes
// (see [Bits]). It is an int64: it is stored in a
// BIGINT column and compared with == and <.
//
// The zero ID means "not assigned" and is never generated. Negative numbers
// are not IDs: every method that can return an error refuses them. Only the
// [Layout] that an ID was made with knows what its bits mean.
type ID int64

var (
	errEmpty     = errors.New("empty")
	errDigit     = errors.New("want decimal digits only")
	errZeros     = errors.New("want no leading zero")
	errRange     = errors.New("want at most " + strconv.FormatInt(math.MaxInt64, 10))
	errNegative  = errors.New("want no negative number")
	errLength    = errors.New("want 13 characters")
	errAlphabet  = errors.New("want Crockford's base32 alphabet")
	errJSON      = errors.New("want a string of digits or an integer")
	errScanNull  = errors.New("want a value: scan NULL into a *ID or sql.Null[ID]")
	errScanType  = errors.New("want an integer or its decimal text")
	errUnsetID   = errors.New("the id is not assigned")
	errTooManyID = errors.New("the id has more bits than the layout")
)

// ParseID parses a decimal id as [ID.String] prints it: no sign, no leading
// zero, no space, at most 9223372036854775807. The error is a [*ParseError].
func ParseID(s string) (ID, error) {
	id, err := parseDecimal(s)
	if err != nil {
		return 0, fmt.Errorf("snow: %w", &ParseError{"id", s, err})
	}
	return id, nil
}

func parseDecimal[T string | []byte](s T) (ID, error) {
	if len(s) == 0 {
		return 0, errEmpty
	}
	var n uint64
	for i := range min(len(s), 19) { // 19 digits can't overflow 64 bits
		d := s[i] - '0'
		if d > 9 {
			return 0, errDigit
		}
		n = n*10 + uint64(d)
	}
	switch {
	case s[0] == '0' && len(s) > 1:
		return 0, errZeros
	case len(s) > 19 || n > math.MaxInt64:
		for i := 19; i < len(s); i++ {
			if s[i]-'0' > 9 {
				return 0, errDigit
			}
		}
		return 0, errRange
	}
	return ID(n), nil
}

// String returns id in decimal.
func (id ID) String() string { return strconv.FormatInt(int64(id), 10) }

// Format implements [fmt.Formatter]: %v, %s and %q format [ID.String], and every
// other verb formats the int64, so %x is the number in base 16.
func (id ID) Format(f fmt.State, verb rune) {
	format := fmt.FormatString(f, verb)
	switch {
	case format == "%v" || format == "%d" || format == "%s":
		_, _ = f.Write(strconv.AppendInt(make([]byte, 0, 20), int64(id), 10))
	case verb == 's' || verb == 'q' || verb == 'v' && !f.Flag('#'):
		_, _ = fmt.Fprintf(f, format, id.String())
	default:
		_, _ = fmt.Fprintf(f, format, int64(id))
	}
}

// IsZero reports whether id is the zero ID, which means "not assigned".
func (id ID) IsZero() bool { return id == 0 }

// AppendText appends id in decimal to b. It implements [encoding.TextAppender].
func (id ID) AppendText(b []byte) ([]byte, error) {
	if id < 0 {
		return b, id.negative()
	}
	return strconv.AppendInt(b, int64(id), 10), nil
}

// MarshalText returns id in decimal.
func (id ID) MarshalText() ([]byte, error) {
	return id.AppendText(make([]byte, 0, 19))
}

// UnmarshalText parses what MarshalText returns, as strictly as [ParseID].
func (id *ID) UnmarshalText(b []byte) error {
	v, err := parseDecimal(b)
	if err != nil {
		return fmt.Errorf("snow: %w", &ParseError{"id", string(b), err})
	}
	*id = v
	return nil
}

// UnmarshalParam parses s as [ParseID] does. gin and echo call it for the parts of
// a path and the values of queries and forms. An error leaves id unchanged.
func (id *ID) UnmarshalParam(s string) error {
	v, err := ParseID(s)
	if err == nil {
		*id = v
	}
	return err
}

// MarshalGQLContext writes id as a GraphQL string, for gqlgen.
func (id ID) MarshalGQLContext(_ context.Context, w io.Writer) error {
	b, err := id.MarshalJSON()
	if err == nil {
		_, err = w.Write(b)
	}
	return err
}

// UnmarshalGQLContext accepts a GraphQL string as [ParseID] does, or an integer,
// for gqlgen. Anything else is a [*ParseError], and id is then unchanged.
func (id *ID) UnmarshalGQLContext(_ context.Context, v any) error {
	switch v := v.(type) {
	case string:
		return id.UnmarshalParam(v)
	case int64:
		return id.UnmarshalParam(strconv.FormatInt(v, 10))
	case fmt.Stringer: // json.Number
		return id.UnmarshalParam(v.String())
	}
	return fmt.Errorf("snow: %w", &ParseError{"id", fmt.Sprint(v), errJSON})
}

// MarshalJSON returns id as a JSON string, because JavaScript numbers lose
// digits past 2^53.
func (id ID) MarshalJSON() ([]byte, error) {
	if id < 0 {
		return nil, id.negative()
	}
	b := append(make([]byte, 0, 21), '"')
	b = strconv.AppendInt(b, int64(id), 10)
	return append(b, '"'), nil
}

// UnmarshalJSON accepts a JSON string as [ParseID] does, or an integer number.
// JSON null leaves id unchanged. Anything else is a [*ParseError].
func (id *ID) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	text := b
	if n := len(b); n >= 2 && b[0] == '"' && b[n-1] == '"' {
		text = b[1 : n-1]
	}
	v, err := parseDecimal(text)
	if err != nil {
		switch {
		case len(text) > 1 && text[0] == '-':
			err = errNegative
		case errors.Is(err, errDigit) || errors.Is(err, errEmpty):
			err = errJSON
		}
		return fmt.Errorf("snow: %w", &ParseError{"id", string(b), err})
	}
	*id = v
	return nil
}

// Value returns id as an int64 for [database/sql]. A negative id is an error.
func (id ID) Value() (driver.Value, error) {
	if id < 0 {
		return nil, id.negative()
	}
	return int64(id), nil
}

// Scan reads a database value: an integer, or its decimal text as [ParseID]
// accepts it. NULL is an error: scan it into a *ID or a [database/sql.Null].
// The error is a [*ParseError], and id is then unchanged.
func (id *ID) Scan(src any) error {
	var err error
	switch v := src.(type) {
	case int64:
		if v >= 0 {
			*id = ID(v)
			return nil
		}
		err = errNegative
	case uint64:
		if v <= math.MaxInt64 {
			*id = ID(v)
			return nil
		}
		err = errRange
	case []byte:
		var n ID
		if n, err = parseDecimal(v); err == nil {
			*id = n
			return nil
		}
		src = string(v)
	case string:
		var n ID
		if n, err = parseDecimal(v); err == nil {
			*id = n
			return nil
		}
	case ID:
		return id.Scan(int64(v))
	case *ID:
		if v != nil {
			return id.Scan(int64(*v))
		}
		src, err = nil, errScanNull
	case nil:
		err = errScanNull
	default:
		err = fmt.Errorf("%w, not %T", errScanType, src)
	}
	return fmt.Errorf("snow: scan: %w", &ParseError{"id", fmt.Sprint(src), err})
}

// GormDataType returns GORM's type of the column, "bigint". Without it GORM would
// make the column AUTO_INCREMENT.
func (ID) GormDataType() string { return "bigint" }

func (id ID) negative() error {
	return fmt.Errorf("snow: %w", &FieldError{"id", strconv.FormatInt(int64(id), 10), errNegative.Error()})
}
