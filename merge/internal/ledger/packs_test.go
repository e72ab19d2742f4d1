package ledger

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A pack that can be read has two lists that ascend, and says what it was read from.
func FuzzPack(f *testing.F) {
	f.Add("1,2,5", "7,8,9", int64(5), int64(3))
	f.Add("", "7,8,9", int64(5), int64(3))
	f.Add("-9223372036854775808", "9223372036854775807", int64(-1<<63), int64(1))
	f.Add("", "1", int64(-1<<63), int64(1))
	f.Add("1,,3", "1,1", int64(3), int64(2))
	f.Add("", "", int64(0), int64(0))
	f.Add("", "4", int64(9), int64(1<<62))
	f.Fuzz(func(t *testing.T, olds, news string, lastOld, size int64) {
		p := pack{lastOld: lastOld, size: size}
		if err := p.parse([]byte(olds), []byte(news)); err != nil {
			return
		}
		text := func(ids []int64) string {
			var all []string
			for _, id := range ids {
				all = append(all, strconv.FormatInt(id, 10))
			}
			return strings.Join(all, ",")
		}
		plain := func(list string) bool { // ParseInt takes signs and zeros that no server writes
			return !strings.Contains(list, "+") && !strings.HasPrefix(list, "0") && !strings.Contains(list, ",0") && !strings.Contains(list, "-0")
		}
		for _, ids := range [][]int64{p.olds, p.news} {
			if int64(len(ids)) != size || !slices.IsSorted(ids) || len(slices.Compact(slices.Clone(ids))) != len(ids) {
				t.Fatalf("got %d of %d", ids, size)
			}
		}
		if p.olds[size-1] != lastOld {
			t.Fatalf("got %d, want %d at its end", p.olds, lastOld)
		}
		if plain(news) && text(p.news) != news || olds != "" && plain(olds) && text(p.olds) != olds {
			t.Fatalf("got %d and %d of %q and %q", p.olds, p.news, olds, news)
		}
		if olds == "" && p.olds[0] != lastOld-size+1 {
			t.Fatalf("got %d, want no gaps", p.olds)
		}
	})
}
