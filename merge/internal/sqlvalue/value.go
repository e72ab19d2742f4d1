package sqlvalue

import (
	"fmt"
	"strconv"
)

// BigID is where ids begin that no database has counted up to: an hour after its epoch a snowflake is past it.
const BigID = 1 << 40

// ParseID parses the decimal text of an id, which has one spelling only.
func ParseID(text string) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && strconv.FormatInt(n, 10) == text
}

// Text returns a value as people write it.
func Text(v any) string {
	switch v := v.(type) {
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []byte:
		return string(v)
	case string:
		return v
	}
	return ""
}

// ID returns the id that a value is, an integer or its decimal text.
func ID(v any) (int64, bool) {
	if id, ok := v.(int64); ok {
		return id, true
	}
	return ParseID(Text(v))
}

// Sample returns a value for people, and not all of it if it is long.
func Sample(v any) string {
	const most = 60
	switch v := v.(type) {
	case nil:
		return "NULL"
	case []byte:
		if len(v) > most {
			return fmt.Sprintf("%d bytes that begin with %x", len(v), v[:most])
		}
		return fmt.Sprintf("x'%x'", v)
	case string:
		if len(v) > most {
			return fmt.Sprintf("%d bytes that begin with %q", len(v), v[:most])
		}
		return fmt.Sprintf("%q", v)
	}
	return Text(v)
}
