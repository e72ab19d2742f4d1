package edges

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"testing"

	"github.com/shardsnow/snow"
)

func TestCSV(t *testing.T) {
	var file bytes.Buffer

	w := csv.NewWriter(&file)
	_ = w.Write([]string{"id", "buyer"})
	_ = w.Write([]string{"id-" + id.String(), "ann"}) // a text in every program
	w.Flush()
	err := w.Error()

	if want := "id,buyer\nid-286467607756828714,ann\n"; err != nil || file.String() != want {
		t.Errorf("wrote %q, %v, want %q", &file, err, want)
	}
}

// What JavaScript does to the number.
func TestNumbersAreRounded(t *testing.T) {
	if got := snow.ID(float64(id + 1)); got == id+1 {
		t.Errorf("a float64 has %d: the page warns of nothing", got)
	}
	b, err := json.Marshal(Order{ID: id})
	if want := `{"id":"286467607756828714","parent":null}`; string(b) != want || err != nil {
		t.Errorf("JSON %s, %v, want %s", b, err, want)
	}
	// Ids of this layout fit.
	layout := snow.JavaScript()
	bits := layout.Bits()
	if most := int64(1)<<(bits.Timestamp+bits.Worker+bits.Sequence) - 1; int64(float64(most)) != most {
		t.Errorf("the largest id of %v, %d, is %d as a float64", layout, most, int64(float64(most)))
	}
}
