package snow

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// IDs are the ids of one column: an array of PostgreSQL, or an array in JSON. In
// JSON they are an array of strings. For the list of a query's IN use a []ID, which
// the libraries that expand lists know.
type IDs []ID

var (
	errList     = errors.New("want {1,2} or [1,2]")
	errListType = errors.New("want the text of an array")
)

// Value returns ids as the text of a PostgreSQL array, such as {1,2}, and NULL for
// nil. A negative id is an error. For a column of JSON encode ids, or [Int64s] of
// them, with [encoding/json].
func (ids IDs) Value() (driver.Value, error) {
	if ids == nil {
		return nil, nil
	}
	b := make([]byte, 0, 2+20*len(ids))
	b = append(b, '{')
	for i, id := range ids {
		if id < 0 {
			return nil, id.negative()
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(id), 10)
	}
	return string(append(b, '}')), nil
}

// Scan reads the text of a PostgreSQL array of one dimension, or a JSON array of
// integers or of strings of digits. Each id is parsed as [ParseID] does. NULL and
// JSON null become nil. The error is a [*ParseError], and ids are then unchanged.
func (ids *IDs) Scan(src any) error {
	var text string
	switch v := src.(type) {
	case nil:
		*ids = nil
		return nil
	case string:
		text = v
	case []byte:
		text = string(v)
	default:
		return fmt.Errorf("snow: scan: %w", &ParseError{"ids", fmt.Sprint(src), fmt.Errorf("%w, not %T", errListType, src)})
	}
	list, err := parseList(text)
	if err != nil {
		return fmt.Errorf("snow: scan: %w", &ParseError{"ids", text, err})
	}
	*ids = list
	return nil
}

func parseList(text string) (IDs, error) {
	const space = " \t\r\n" // as JSON has it
	text = strings.Trim(text, space)
	if text == "null" {
		return nil, nil
	}
	n := len(text)
	if n < 2 || text[0] != '{' && text[0] != '[' || text[n-1] != text[0]+2 { // ] and } are 2 after [ and {
		return nil, errList
	}
	text = strings.Trim(text[1:n-1], space)
	if text == "" {
		return IDs{}, nil
	}
	list := make(IDs, 0, strings.Count(text, ",")+1)
	for part := range strings.SplitSeq(text, ",") {
		part = strings.Trim(part, space)
		if n := len(part); n >= 2 && part[0] == '"' && part[n-1] == '"' {
			part = part[1 : n-1]
		}
		id, err := parseDecimal(part)
		if err != nil {
			return nil, err
		}
		list = append(list, id)
	}
	return list, nil
}

// GormDataType returns GORM's type of the column, "bigint[]" of PostgreSQL.
func (IDs) GormDataType() string { return "bigint[]" }

// Int64s returns ids as a new slice of int64, for drivers that take arrays.
// It returns nil for nil.
func Int64s(ids []ID) []int64 {
	if ids == nil {
		return nil
	}
	s := make([]int64, len(ids))
	for i, id := range ids {
		s[i] = int64(id)
	}
	return s
}
