package ledger

import (
	"testing"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/merge/plan"
)

// A new id is a row's if it is of the range of its source table: of the worker number and its part of the sequence, or
// of the reserved numbers, where an offset gives each row one.
func TestHas(t *testing.T) {
	layout := snow.DefaultLayout()
	whole := IDRange{Layout: layout, Worker: 7}
	own, ok := whole.Part(1, 3)
	other, also := whole.Part(2, 3)
	if !ok || !also {
		t.Fatal("no room for three parts")
	}
	b := layout.Bits()
	id := func(r IDRange, tick int64, sequence uint64) int64 { return int64(r.Compose(tick, sequence)) }
	dense := IDRange{IDs: plan.IDsDense, First: 100, End: 200}
	offset := IDRange{IDs: plan.IDsOffset, Offset: 1000, First: 1001, End: 1301}
	for _, test := range []struct {
		name    string
		of      IDRange
		old, id int64
		want    bool
	}{
		{"the first id of a tick", own, 5, id(own, 12345, own.First), true},
		{"the last id of a tick", own, 5, id(own, 12345, own.End-1), true},
		{"an id of the tick before all", own, 5, id(own, 0, own.First), true},
		{"the first id of the next part", own, 5, id(own, 12345, own.End), false},
		{"an id of another part", own, 5, id(other, 12345, other.First), false},
		{"an id of the part before", own, 5, id(own, 12345, own.First-1), false},
		{"an id of the next worker", own, 5, id(own, 12345, own.First) + 1<<(b.Sequence-b.Lane+b.Shard), false},
		{"a small number", own, 5, 7, false},
		{"the first number", dense, 5, 100, true},
		{"the last number", dense, 5, 199, true},
		{"the number after the last", dense, 5, 200, false},
		{"the number before the first", dense, 5, 99, false},
		{"a number below 1", IDRange{IDs: plan.IDsDense, End: 200}, 5, -1, false},
		{"the row's own number", offset, 300, 1300, true},
		{"the number of the row before", offset, 300, 1299, false},
		{"a number out of the range", offset, 400, 1400, false},
	} {
		if got := test.of.Has(test.old, test.id); got != test.want {
			t.Errorf("%s: row %d, id %d: got %t", test.name, test.old, test.id, got)
		}
	}
}
