package chunk

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shardsnow/snow/merge/plan"
)

// A Sum is the 128-bit sum of the hashes of rows, so that their order does not
// matter, and the sums of chunks add up to the table's.
type Sum [2]uint64

// Add adds the sum of other rows.
func (s *Sum) Add(o Sum) {
	var carry uint64
	s[1], carry = bits.Add64(s[1], o[1], 0)
	s[0], _ = bits.Add64(s[0], o[0], carry)
}

// String returns 32 hexadecimal digits.
func (s Sum) String() string { return fmt.Sprintf("%016x%016x", s[0], s[1]) }

// ParseSum returns the sum that String returned.
func ParseSum(text string) (s Sum, err error) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != 16 {
		return s, fmt.Errorf("hash %q: want 32 hexadecimal digits", text)
	}
	return Sum{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])}, nil
}

// A Hasher hashes rows of some columns. It is not safe for concurrent use.
type Hasher struct {
	forms []Form
	blobs bool // a []byte differs from a string: so it is in SQLite
	buf   []byte
}

// NewHasher returns one for rows of some columns.
func NewHasher(columns []*plan.Column, blobs bool) *Hasher {
	h := &Hasher{blobs: blobs}
	for _, c := range columns {
		h.forms = append(h.forms, FormOf(c))
	}
	return h
}

// Row returns the hash of one row, which has a value for each column.
func (h *Hasher) Row(values []any) Sum {
	h.buf = h.buf[:0]
	for i, v := range values {
		if v == nil {
			h.buf = append(h.buf, 0)
			continue
		}
		at := len(h.buf)
		h.buf = append(h.buf, 1, 0, 0, 0, 0)
		h.buf = h.forms[i].Append(h.buf, v, h.blobs)
		binary.BigEndian.PutUint32(h.buf[at+1:], uint32(len(h.buf)-at-5))
	}
	d := sha256.Sum256(h.buf)
	return Sum{binary.BigEndian.Uint64(d[:]), binary.BigEndian.Uint64(d[8:])}
}

// Equal reports whether two values of column i are the same to the hash.
func (h *Hasher) Equal(i int, a, b any) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return bytes.Equal(h.forms[i].Append(nil, a, h.blobs), h.forms[i].Append(nil, b, h.blobs))
}

// Identical reports whether rows are the same without what a [Form] says. It takes less time than a hash.
func Identical(a, b []any) bool {
	return slices.EqualFunc(a, b, func(x, y any) bool {
		switch x := x.(type) {
		case nil:
			return y == nil
		case int64:
			y, ok := y.(int64)
			return ok && x == y
		case string:
			y, ok := y.(string)
			return ok && x == y
		case []byte:
			y, ok := y.([]byte)
			return ok && bytes.Equal(x, y)
		}
		return false
	})
}

// A Form says which texts are one value: a database may write a value in
// another way where the column's type differs a little, as 1.5 in DECIMAL(9,1)
// is 1.50 in DECIMAL(9,2).
type Form uint8

const (
	formText   Form = iota // byte by byte
	formNumber             // integers and decimals
	formFloat
	formTime // the fraction of a second ends in any number of zeros
	formJSON // keys in any order, any space
)

// FormOf returns the form of a column's values.
func FormOf(c *plan.Column) Form {
	if c.Role == plan.RoleJSON {
		return formJSON
	}
	typ := strings.ToLower(c.Type)
	name := typ[:len(typ)-len(strings.TrimLeft(typ, "abcdefghijklmnopqrstuvwxyz0123456789_"))]
	in := func(names ...string) bool { return slices.Contains(names, name) }
	switch {
	case strings.HasSuffix(typ, "]"): // an array of PostgreSQL
		return formText
	case in("tinyint", "smallint", "mediumint", "int", "integer", "bigint", "int2", "int4", "int8", "decimal", "numeric", "dec", "year"):
		return formNumber
	case in("float", "double", "real", "float4", "float8"):
		return formFloat
	case in("datetime", "timestamp", "time"):
		return formTime
	case in("json", "jsonb"):
		return formJSON
	}
	return formText
}

// Append appends a value that is not nil.
func (f Form) Append(b []byte, v any, blobs bool) []byte {
	var text []byte
	switch v := v.(type) {
	case int64:
		return strconv.AppendInt(b, v, 10)
	case uint64:
		return strconv.AppendUint(b, v, 10)
	case float64:
		return appendFloat(b, v)
	case float32:
		return appendFloat(b, float64(v))
	case bool:
		return strconv.AppendBool(b, v)
	case time.Time:
		return v.UTC().AppendFormat(b, time.RFC3339Nano)
	case []byte:
		if blobs {
			return append(append(b, 'x'), v...)
		}
		text = v
	case string:
		if f == formText {
			return append(b, v...)
		}
		text = []byte(v)
	default:
		return fmt.Append(b, v)
	}
	switch f {
	case formNumber:
		return appendNumber(b, text)
	case formFloat:
		if n, err := strconv.ParseFloat(string(text), 64); err == nil {
			return appendFloat(b, n)
		}
	case formTime:
		if bytes.IndexByte(text, '.') >= 0 {
			text = bytes.TrimSuffix(bytes.TrimRight(text, "0"), []byte("."))
		}
	case formJSON:
		return appendJSON(b, text)
	}
	return append(b, text...)
}

// appendFloat writes whole numbers as integers are written, which SQLite makes
// of them where a column's affinity says so.
func appendFloat(b []byte, v float64) []byte {
	if v == 0 {
		return append(b, '0') // and not -0
	}
	return appendNumber(b, strconv.AppendFloat(nil, v, 'g', -1, 64))
}

// appendNumber appends a decimal number so that equal ones have equal text, and
// anything else as it is.
func appendNumber(b, text []byte) []byte {
	digits, negative := bytes.CutPrefix(text, []byte("-"))
	exponent := 0
	if e := bytes.IndexAny(digits, "eE"); e >= 0 {
		n, err := strconv.Atoi(string(digits[e+1:]))
		if err != nil || n > 1<<20 || n < -1<<20 {
			return append(b, text...)
		}
		digits, exponent = digits[:e], n
	}
	if point := bytes.IndexByte(digits, '.'); point >= 0 {
		exponent -= len(digits) - point - 1
		digits = append(digits[:point:point], digits[point+1:]...)
	}
	if len(digits) == 0 || bytes.ContainsFunc(digits, func(r rune) bool { return r < '0' || r > '9' }) {
		return append(b, text...)
	}
	digits = bytes.TrimLeft(digits, "0")
	short := bytes.TrimRight(digits, "0")
	if len(short) == 0 {
		return append(b, '0')
	}
	if exponent != 0 {
		exponent += len(digits) - len(short)
		digits = short
	}
	if negative {
		b = append(b, '-')
	}
	b = append(b, digits...)
	switch {
	case exponent < 0 || exponent > 400:
		b = strconv.AppendInt(append(b, 'e'), int64(exponent), 10)
	case exponent > 0:
		b = append(b, bytes.Repeat([]byte("0"), exponent)...)
	}
	return b
}

// appendJSON appends a JSON text so that equal ones have equal text, and
// anything else as it is.
func appendJSON(b, text []byte) []byte {
	var v any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil || d.More() {
		return append(b, text...)
	}
	out, err := json.Marshal(plainNumbers(v))
	if err != nil {
		return append(b, text...)
	}
	return append(b, out...)
}

// plainNumbers makes each number a string, marked so that it is no other one.
func plainNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		return "\x00" + string(appendNumber(nil, []byte(v)))
	case []any:
		for i := range v {
			v[i] = plainNumbers(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = plainNumbers(v[k])
		}
	}
	return v
}

// ParseNumber returns the number that a driver's value is. NULL is 0.
func ParseNumber(v any) (*big.Rat, error) {
	if v == nil {
		return new(big.Rat), nil
	}
	text := string(formNumber.Append(nil, v, false))
	_, exponent, _ := strings.Cut(text, "e")
	if n, err := strconv.Atoi(cmp.Or(exponent, "0")); err == nil && max(n, -n) <= 1000 && !strings.ContainsAny(text, "/_xXbBoOpP") {
		if n, ok := new(big.Rat).SetString(text); ok {
			return n, nil
		}
	}
	return nil, fmt.Errorf("%q is no number", text)
}
