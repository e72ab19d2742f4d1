package httpsnow

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"

	"github.com/shardsnow/snow"
)

// A form is how new ids are written.
type form int

const (
	formJSON form = iota
	formText
	formBinary
)

// formOf returns the first form that is known in the values of the header Accept. Without the header it is JSON.
func formOf(accept []string) (form, bool) {
	if len(accept) == 0 {
		return formJSON, true
	}
	switch accept[0] { // what programs send is found at once
	case "application/json", "*/*":
		return formJSON, true
	case "application/octet-stream":
		return formBinary, true
	}
	for _, value := range accept {
		for entry := range strings.SplitSeq(value, ",") {
			name, _, _ := strings.Cut(entry, ";")
			switch strings.ToLower(strings.TrimSpace(name)) {
			case "application/json", "application/*", "*/*":
				return formJSON, true
			case "text/plain", "text/*":
				return formText, true
			case "application/octet-stream":
				return formBinary, true
			}
		}
	}
	return 0, false
}

// The values of the header Content-Type. Nobody changes them.
var (
	jsonType   = []string{"application/json"}
	textType   = []string{"text/plain; charset=utf-8"}
	binaryType = []string{"application/octet-stream"}
)

func (f form) contentType() []string {
	switch f {
	case formText:
		return textType
	case formBinary:
		return binaryType
	}
	return jsonType
}

// The text of ids as JSON is {"ids":["1","2"]}. The ids are strings, because numbers of JavaScript lose digits past
// 2^53.
const jsonBegin, jsonEnd = `{"ids":[`, "]}\n"

// append appends a piece of an answer, which may be its first or its last one.
func (f form) append(b []byte, ids []snow.ID, isFirst, isLast bool) []byte {
	switch f {
	case formText:
		for _, id := range ids {
			b = strconv.AppendInt(b, int64(id), 10)
			b = append(b, '\n')
		}
		return b
	case formBinary:
		for _, id := range ids {
			b = binary.BigEndian.AppendUint64(b, uint64(id))
		}
		return b
	}
	if isFirst {
		b = append(b, jsonBegin...)
	}
	for i, id := range ids {
		if i > 0 || !isFirst {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = strconv.AppendInt(b, int64(id), 10)
		b = append(b, '"')
	}
	if isLast {
		b = append(b, jsonEnd...)
	}
	return b
}

// size returns how many bytes an answer has.
func (f form) size(ids []snow.ID) int {
	if f == formBinary {
		return 8 * len(ids)
	}
	digits := 0
	n, low, high := 0, snow.ID(0), snow.ID(0) // ids of low to high, which is not included, have n digits
	for _, id := range ids {
		if id < low || id >= high {
			n, low, high = rangeOf(id)
		}
		digits += n
	}
	if f == formText {
		return digits + len(ids)
	}
	return len(jsonBegin) + digits + 3*len(ids) - 1 + len(jsonEnd)
}

// rangeOf returns how many digits an id has, and the range of ids with as many.
func rangeOf(id snow.ID) (n int, low, high snow.ID) {
	n, low, high = 1, 0, 10
	for id >= high {
		n, low = n+1, high
		if high > math.MaxInt64/10 {
			return n, low, math.MaxInt64 // which looks again for the highest id
		}
		high *= 10
	}
	return n, low, high
}
