// Package sqlvalue writes the values of rows as text: ids, primary keys, and samples for people.
package sqlvalue

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// FormatRow returns a primary key as FormatKey does, or a hash of that where it is too long for the key of an index.
func FormatRow(key []any) string {
	text := FormatKey(key)
	if len(text) > 255 || slices.ContainsFunc([]byte(text), func(c byte) bool { return c >= 0x80 }) {
		h := sha256.Sum256([]byte(text)) // a text that is no key of an index
		return "sha256:" + hex.EncodeToString(h[:])
	}
	return text
}

// FormatKey returns the values of a primary key as JSON, for the ledger and for people: an array of numbers,
// strings and, for bytes, {"hex": "…"}. Texts that are not UTF-8, which SQLite may have, are {"texthex": "…"}.
func FormatKey(key []any) string {
	var b strings.Builder
	b.WriteByte('[')
	for i, v := range key {
		if i > 0 {
			b.WriteByte(',')
		}
		switch v := v.(type) {
		case nil:
			b.WriteString("null")
		case int64:
			b.WriteString(strconv.FormatInt(v, 10))
		case float64:
			// With a fraction or an exponent, so that it is read as no integer.
			b.WriteString(strconv.FormatFloat(v, 'e', -1, 64))
		case []byte:
			fmt.Fprintf(&b, `{"hex":"%x"}`, v)
		case string:
			if !utf8.ValidString(v) {
				fmt.Fprintf(&b, `{"texthex":"%x"}`, v)
				continue
			}
			b.Write(appendString(nil, v))
		}
	}
	b.WriteByte(']')
	return b.String()
}

// KeyID returns the id that a key is: FormatKey was given one integer.
func KeyID(key string) (id int64, ok bool) {
	values, err := ParseKey(key)
	if err != nil || len(values) != 1 {
		return 0, false
	}
	id, ok = values[0].(int64)
	return id, ok
}

// KeyText returns a key for people: an id as a number, all others as they are.
func KeyText(key string) string {
	if id, ok := KeyID(key); ok {
		return strconv.FormatInt(id, 10)
	}
	return key
}

// ParseKey returns the values that FormatKey was given.
func ParseKey(text string) ([]any, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var key []any
	if err := d.Decode(&key); err != nil {
		return nil, fmt.Errorf("key %q: %w", text, err)
	}
	for i, v := range key {
		switch v := v.(type) {
		case nil, string:
			continue
		case json.Number:
			if n, err := v.Int64(); err == nil {
				key[i] = n
				continue
			}
			f, err := v.Float64()
			if key[i] = f; err == nil {
				continue
			}
		case map[string]any:
			digits, isBytes := v["hex"].(string)
			if !isBytes {
				digits, _ = v["texthex"].(string)
			}
			b, err := hex.DecodeString(digits)
			if key[i] = b; !isBytes {
				key[i] = string(b)
			}
			if err == nil && digits != "" || isBytes && err == nil {
				continue
			}
		}
		return nil, fmt.Errorf("key %q: %v is no value of a key", text, v)
	}
	return key, nil
}

// appendString appends a text as a JSON string.
func appendString(b []byte, text string) []byte {
	const digits = "0123456789abcdef"
	b = append(b, '"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r < ' ' || r == 0x7f:
			b = append(b, '\\', 'u', '0', '0', digits[r>>4], digits[r&15])
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}

// BigID is the least id that no database has counted up to. Snowflakes pass it within an hour after their epoch.
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

// SampleRow returns the values of a row for people, as far as they are short.
func SampleRow(values []any) string {
	var b strings.Builder
	for i, v := range values {
		if b.Len() > 300 {
			b.WriteString(", …")
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(Sample(v))
	}
	return "(" + b.String() + ")"
}
