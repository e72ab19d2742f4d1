//go:build unix

package ledger

import (
	"reflect"
	"slices"
	"testing"

	"github.com/shardsnow/snow/merge/internal/chunk"
)

// Chunks come back as they were written, and pending are the ones of phase mint that a later phase has not done.
func TestChunks(t *testing.T) {
	_, s, _ := leased(t)
	l, own := Of(s), &SourceTable{ID: 1}
	var minted, copied []Chunk
	for seq := range int64(5) {
		c := Chunk{SourceTable: 1, Phase: PhaseMint, Seq: seq + 1, Hi: []any{10 * (seq + 1), "x"}, Counts: Counts{100, 90, 80, 7, 3}, Place: seq, Late: seq * 2}
		if seq > 0 {
			c.Lo = minted[seq-1].Hi
		}
		minted = append(minted, c)
		if seq == 0 || seq == 3 {
			done := c.In(PhaseCopy)
			done.Hash = chunk.Sum{1, uint64(seq)}
			copied = append(copied, done)
		}
	}
	other := slices.Clone(minted)
	for i := range other {
		other[i].SourceTable = 2
	}
	for _, chunks := range [][]Chunk{minted, copied, other} {
		if err := l.InsertChunks(t.Context(), chunks); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		name string
		read func() ([]Chunk, error)
		want []Chunk
	}{
		{"all of a phase", func() ([]Chunk, error) { return l.Chunks(t.Context(), own, PhaseMint, 0, 9) }, minted},
		{"all of another phase", func() ([]Chunk, error) { return l.Chunks(t.Context(), own, PhaseCopy, 0, 9) }, copied},
		{"some after one", func() ([]Chunk, error) { return l.Chunks(t.Context(), own, PhaseMint, 2, 2) }, minted[2:4]},
		{"all that are not copied", func() ([]Chunk, error) { return l.Pending(t.Context(), own, PhaseCopy, 0, 9) }, []Chunk{minted[1], minted[2], minted[4]}},
		{"some that are not copied, after one", func() ([]Chunk, error) { return l.Pending(t.Context(), own, PhaseCopy, 2, 9) }, []Chunk{minted[2], minted[4]}},
		{"all that are not linked", func() ([]Chunk, error) { return l.Pending(t.Context(), own, PhaseLink, 0, 9) }, minted},
		{"the last one", func() ([]Chunk, error) { c, err := l.LastChunk(t.Context(), own); return []Chunk{c}, err }, minted[4:]},
	} {
		if got, err := test.read(); err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: got %+v, %v, want %+v", test.name, got, err, test.want)
		}
	}
	if got, err := l.Done(t.Context(), own, PhaseMint); err != nil || got.Read != 500 || got.Late != 8 {
		t.Errorf("all together: got %+v, %v", got, err)
	}
}
