package snow

import (
	"context"
	"encoding/csv"
	"errors"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func sharded(t *testing.T, bits uint8) Layout {
	t.Helper()
	l, err := NewLayout(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), time.Millisecond, Bits{Timestamp: 41, Worker: 4, Sequence: 8, Shard: bits})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestShardsRoute(t *testing.T) {
	l := sharded(t, 4)
	for n := 1; n <= 16; n++ {
		targets := make([]string, n)
		for i := range targets {
			targets[i] = strconv.Itoa(i)
		}
		s, err := NewShards(l, targets...)
		if err != nil {
			t.Fatal(err)
		}
		targets[0] = "changed by the caller"
		for shard := range uint64(100) {
			want := int(shard % 16 % uint64(n))
			id, err := l.WithShard(1<<30, shard)
			if err != nil {
				t.Fatal(err)
			}
			if s.Index(shard) != want || s.At(shard) != strconv.Itoa(want) || s.Of(id) != strconv.Itoa(want) {
				t.Errorf("%d targets, shard %d: Index, At, Of = %d, %s, %s, want %d", n, shard, s.Index(shard), s.At(shard), s.Of(id), want)
			}
			if n&(n-1) == 0 && s.Index(shard) != int(id%ID(n)) {
				t.Errorf("%d targets, shard %d: Index = %d, but id %% n = %d", n, shard, s.Index(shard), id%ID(n))
			}
		}
		if s.Of(-1) == "" || s.Len() != n {
			t.Error("a negative id has no target, or Len is wrong")
		}
	}
}

func TestDoublingTargetsMovesHalfOfTheShards(t *testing.T) {
	l := sharded(t, 10)
	for n := 1; n < 1024; n *= 2 {
		before, err := NewShards(l, make([]int, n)...)
		if err != nil {
			t.Fatal(err)
		}
		after, err := NewShards(l, make([]int, 2*n)...)
		if err != nil {
			t.Fatal(err)
		}
		moved := 0
		for shard := range uint64(1024) {
			switch from, to := before.Index(shard), after.Index(shard); to {
			case from:
			case from + n:
				moved++
			default:
				t.Errorf("%d targets doubled: shard %d moves from %d to %d", n, shard, from, to)
			}
		}
		if moved != 512 {
			t.Errorf("%d targets doubled: %d of 1024 shards move, want 512", n, moved)
		}
	}
}

func TestNewShardsRefuses(t *testing.T) {
	x := new(int)
	for _, tt := range []struct {
		layout  Layout
		targets []*int
		want    string
	}{
		{sharded(t, 2), nil, "targets 0: want at least 1"},
		{sharded(t, 2), []*int{x, x, x, x, x}, "targets 5: the layout has 4 logical shards"},
		{DefaultLayout(), []*int{x, x}, "targets 2: the layout has 1 logical shards"},
		{sharded(t, 2), []*int{x, nil}, "target 1: it is nil"},
		{Layout{}, []*int{x}, "zero Layout"},
	} {
		if s, err := NewShards(tt.layout, tt.targets...); err == nil || !strings.Contains(err.Error(), tt.want) || s != nil {
			t.Errorf("NewShards(%v, %d targets) = %v, %v, want %q", tt.layout, len(tt.targets), s, err, tt.want)
		}
	}
}

func TestEach(t *testing.T) {
	s, err := NewShards(sharded(t, 2), "a", "b", "c")
	if err != nil {
		t.Fatal(err)
	}
	boom := errors.New("boom")
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		seen := make([]string, 3)
		err := s.Each(t.Context(), func(_ context.Context, i int, target string) error {
			time.Sleep(time.Second) // virtual: all at the same time take one
			seen[i] = target
			if target != "b" {
				return boom
			}
			return nil
		})
		if !slices.Equal(seen, []string{"a", "b", "c"}) || time.Since(begin) != time.Second {
			t.Errorf("Each visited %v in %v", seen, time.Since(begin))
		}
		if want := "shard 0: boom\nshard 2: boom"; err == nil || err.Error() != want || !errors.Is(err, boom) {
			t.Errorf("Each returned %q, want %q", err, want)
		}
		var failed *ShardError
		if !errors.As(err, &failed) || failed.Index != 0 {
			t.Errorf("Each returned %v, want a ShardError", err)
		}
	})
	if err := s.Each(t.Context(), func(context.Context, int, string) error { return nil }); err != nil {
		t.Errorf("Each returned %v", err)
	}
}

// The file is never edited: rows are where their hash put them.
func TestHashShardGolden(t *testing.T) {
	f, err := os.Open("testdata/hashshard.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) < 20 {
		t.Fatal(len(rows), err)
	}
	for _, row := range rows[1:] {
		got := HashShard(row[1])
		if row[0] == "int" {
			n, err := strconv.ParseInt(row[1], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			got = HashShardInt(n)
		}
		if want := row[2]; strconv.FormatUint(got, 10) != want {
			t.Errorf("hash of %s %q = %d, want %s", row[0], row[1], got, want)
		}
	}
}

// Dense, strided and textual keys fill 16 shards evenly.
func TestHashShardSpreads(t *testing.T) {
	const keys = 16000
	for name, hash := range map[string]func(i int) uint64{
		"dense":   func(i int) uint64 { return HashShardInt(int64(i)) },
		"strided": func(i int) uint64 { return HashShardInt(int64(i) << 22) },
		"text":    func(i int) uint64 { return HashShard("buyer-" + strconv.Itoa(i)) },
	} {
		var counts [16]int
		for i := range keys {
			counts[hash(i)%16]++
		}
		if x := chiSquare(counts[:]); x > 37.7 { // 15 degrees of freedom, p = 0.001
			t.Errorf("%s keys: %v, chi-square %.1f", name, counts, x)
		}
	}
}

// chiSquare compares counts with an even spread.
func chiSquare(counts []int) (x float64) {
	n := 0
	for _, c := range counts {
		n += c
	}
	even := float64(n) / float64(len(counts))
	for _, c := range counts {
		x += math.Pow(float64(c)-even, 2) / even
	}
	return x
}
