package httpsnow

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"net/http/httptest"
	"slices"
	"strconv"
	"testing"

	"github.com/shardsnow/snow"
)

// An answer in pieces is what one piece would be, and its length is known.
func TestPieces(t *testing.T) {
	edges := []snow.ID{1, 9, 10, 99, 100, 1<<53 + 1, 99_999_999_999_999_999, 999_999_999_999_999_999, 1e18, math.MaxInt64 - 1, math.MaxInt64}
	for _, n := range []int{1, 2, shortAnswer, shortAnswer + 1, piece - 1, piece, piece + 1, 2 * piece, 2*piece + 1, 10_000} {
		ids := make([]snow.ID, n)
		for i := range ids {
			ids[i] = edges[i*len(edges)/n]
		}
		var texts []string
		var lines, octets []byte
		for _, id := range ids {
			text := strconv.FormatInt(int64(id), 10)
			texts, lines = append(texts, text), append(append(lines, text...), '\n')
			octets = binary.BigEndian.AppendUint64(octets, uint64(id))
		}
		document, err := json.Marshal(map[string][]string{"ids": texts})
		if err != nil {
			t.Fatal(err)
		}
		for form, want := range map[form]string{formJSON: string(document) + "\n", formText: string(lines), formBinary: string(octets)} {
			w := httptest.NewRecorder()
			write(w, form, &buffer{ids: slices.Clone(ids)})
			if got := w.Body.String(); got != want {
				t.Errorf("%d ids in form %d: got %d bytes, want %d", n, form, len(got), len(want))
			}
			length := strconv.Itoa(len(want))
			if n <= shortAnswer {
				length = ""
			}
			if got := w.Header().Get("Content-Length"); got != length {
				t.Errorf("%d ids in form %d: Content-Length %q, want %q", n, form, got, length)
			}
		}
	}
}
