package httpsnow

import (
	"encoding/binary"
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

// appendJSON appends {"ids":["1","2"]}. The ids are strings, because numbers of JavaScript lose digits past 2^53.
func appendJSON(b []byte, ids []snow.ID) []byte {
	b = append(b, `{"ids":[`...)
	for i, id := range ids {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = strconv.AppendInt(b, int64(id), 10)
		b = append(b, '"')
	}
	return append(b, "]}\n"...)
}

func appendLines(b []byte, ids []snow.ID) []byte {
	for _, id := range ids {
		b = strconv.AppendInt(b, int64(id), 10)
		b = append(b, '\n')
	}
	return b
}

func appendBinary(b []byte, ids []snow.ID) []byte {
	for _, id := range ids {
		b = binary.BigEndian.AppendUint64(b, uint64(id))
	}
	return b
}
