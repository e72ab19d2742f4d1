package snow

import (
	"encoding/csv"
	"errors"
	"flag"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

var presets = map[string]func() Layout{
	"Default": DefaultLayout, "Twitter": Twitter, "Discord": Discord, "Instagram": Instagram, "UIDGenerator": UIDGenerator,
	"ShardingSphere": ShardingSphere, "JavaScript": JavaScript, "GameServers": GameServers, "BusyGameServers": BusyGameServers,
	"DefaultShards": DefaultShards, "Clustered": Clustered, "ClusteredShards": ClusteredShards,
}

// The file holds ids of every preset, computed elsewhere, and ids that other
// systems published. It is never edited: old ids keep their meaning.
func TestGoldenIDs(t *testing.T) {
	f, err := os.Open("testdata/golden.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for _, row := range rows[1:] {
		l, err := ParseLayout(row[1])
		if err != nil {
			t.Fatal(err)
		}
		if name := row[0]; name != "" {
			seen[name] = true
			if presets[name]() != l {
				t.Errorf("%s() = %v, want %v", name, presets[name](), l)
			}
		}
		number := func(i int) uint64 {
			n, err := strconv.ParseUint(row[i], 10, 63)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		at, err := time.Parse(time.RFC3339Nano, row[3])
		if err != nil {
			t.Fatal(err)
		}
		id, want := ID(number(2)), Parts{at, number(4), number(5), number(6), number(7)}
		if got, err := l.Decompose(id); got != want || err != nil {
			t.Errorf("%v: Decompose(%d) = %v, %v, want %v", l, id, got, err, want)
		}
		if got, err := l.Compose(want); got != id || err != nil {
			t.Errorf("%v: Compose(%v) = %d, %v, want %d", l, want, got, err, id)
		}
		if got := l.Time(id); !got.Equal(at) {
			t.Errorf("%v: Time(%d) = %v, want %v", l, id, got, at)
		}
	}
	if len(seen) != len(presets) {
		t.Errorf("golden ids of %d presets, want %d", len(seen), len(presets))
	}
}

func TestPresets(t *testing.T) {
	for name, preset := range presets {
		l := preset()
		if back, err := ParseLayout(l.String()); back != l || err != nil {
			t.Errorf("%s: ParseLayout(%q) = %v, %v", name, l, back, err)
		}
		made, err := NewLayout(l.Epoch(), l.Tick(), l.Bits())
		if name == "UIDGenerator" {
			var field *FieldError
			if !errors.As(err, &field) || field.Field != "timestamp" {
				t.Errorf("%s: NewLayout = %v, want the error that its timestamp ran out", name, err)
			}
		} else if made != l || err != nil {
			t.Errorf("%s: NewLayout = %v, %v, want %v", name, made, err, l)
		}
	}
	if n := JavaScript().Bits().sum(); n > 53 {
		t.Errorf("JavaScript has %d bits", n)
	}
	for _, tt := range []struct {
		l         Layout
		workers   int64
		perSecond float64
		end       string
	}{
		{DefaultLayout(), 1024, 4096000, "2093-09-06T15:47:35.552Z"},
		{DefaultShards(), 1024, 64000, "2093-09-06T15:47:35.552Z"},
		{Twitter(), 32, 4096000, "2080-07-10T17:30:30.209Z"},
		{UIDGenerator(), 4194304, 8192, "2024-11-20T13:24:16Z"},
		{JavaScript(), 128, 25600, "2111-02-08T13:44:29.44Z"},
		{Clustered(), 512, 8192000, "2093-09-06T15:47:35.552Z"},
		{ClusteredShards(), 128, 2048000, "2093-09-06T15:47:35.552Z"},
		{GameServers(), 1048576, 2560, "2132-11-18T05:10:36.8Z"},
		{BusyGameServers(), 65536, 40960, "2132-11-18T05:10:36.8Z"},
	} {
		if w, p, e := tt.l.Workers(), tt.l.PerSecond(), tt.l.End().Format(time.RFC3339Nano); w != tt.workers || p != tt.perSecond || e != tt.end {
			t.Errorf("%v: workers, per second, end = %d, %v, %s, want %d, %v, %s", tt.l, w, p, e, tt.workers, tt.perSecond, tt.end)
		}
	}
}

func TestNewLayoutRefuses(t *testing.T) {
	good := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	tomorrow := time.Now().Add(24 * time.Hour)
	for _, tt := range []struct {
		name  string
		epoch time.Time
		tick  time.Duration
		bits  Bits
		field string
		says  string
	}{
		{"73 bits", good, time.Millisecond, Bits{Timestamp: 37, Worker: 20, Sequence: 16}, "bits", "37+0+20+16+0: 73 in all, an id has 63"},
		{"64 bits", good, time.Millisecond, Bits{Timestamp: 42, Datacenter: 5, Worker: 5, Sequence: 12}, "bits", "64 in all"},
		{"widths that wrap a byte", good, time.Millisecond, Bits{Timestamp: 255, Datacenter: 255, Worker: 255, Sequence: 255, Shard: 255}, "bits", "1275 in all"},
		{"no timestamp", good, time.Millisecond, Bits{Datacenter: 5, Worker: 5, Sequence: 12}, "bits", "the timestamp has none"},
		{"no sequence", good, time.Millisecond, Bits{Timestamp: 41, Datacenter: 5, Worker: 5}, "bits", "the sequence has none"},
		{"zero tick", good, 0, Bits{Timestamp: 41, Worker: 10, Sequence: 12}, "tick", "0s: want 1µs to 1h0m0s"},
		{"negative tick", good, -time.Second, Bits{Timestamp: 41, Worker: 10, Sequence: 12}, "tick", "-1s: want 1µs to 1h0m0s"},
		{"short tick", good, time.Microsecond - 1, Bits{Timestamp: 41, Worker: 10, Sequence: 12}, "tick", "999ns: want 1µs to 1h0m0s"},
		{"long tick", good, time.Hour + 1, Bits{Timestamp: 41, Worker: 10, Sequence: 12}, "tick", "1h0m0.000000001s: want 1µs to 1h0m0s"},
		{"epoch in the future", tomorrow, time.Millisecond, Bits{Timestamp: 41, Worker: 10, Sequence: 12}, "epoch", "it is in the future"},
		{"epoch too early", minEpoch.Add(-1), time.Millisecond, Bits{Timestamp: 41, Worker: 10, Sequence: 12}, "epoch", "want 1900-01-01 or later"},
		{"zero epoch", time.Time{}, time.Millisecond, Bits{Timestamp: 41, Worker: 10, Sequence: 12}, "epoch", "want 1900-01-01 or later"},
		{"7 bits of lane", good, time.Millisecond, Bits{Timestamp: 41, Worker: 10, Sequence: 12, Lane: 7, Span: 20}, "lane", "lane 7: want at most 6"},
		{"all of the sequence", good, time.Millisecond, Bits{Timestamp: 41, Worker: 10, Sequence: 4, Lane: 4, Span: 20}, "lane", "lane 4: want at most 3"},
		{"more than the sequence", good, time.Millisecond, Bits{Timestamp: 41, Sequence: 1, Lane: 255, Span: 20}, "lane", "lane 255: want at most 0"},
		{"a lane without a span", good, time.Millisecond, Bits{Timestamp: 41, Worker: 10, Sequence: 12, Lane: 4}, "span", "span 0: want 1 to 40"},
		{"all of the timestamp", good, time.Millisecond, Bits{Timestamp: 41, Worker: 10, Sequence: 12, Lane: 4, Span: 41}, "span", "span 41: want 1 to 40"},
		{"a span without a lane", good, time.Millisecond, Bits{Timestamp: 41, Worker: 10, Sequence: 12, Span: 20}, "span", "span 20: want 0 without a lane"},
		{"64 bits with lanes", good, time.Millisecond, Bits{Timestamp: 42, Worker: 10, Sequence: 12, Lane: 4, Span: 20}, "bits", "22+4+20+0+10+8+0: 64 in all"},
		{"timestamp ran out", good, time.Millisecond, Bits{Timestamp: 30, Worker: 10, Sequence: 12}, "timestamp", "it ran out at 2024-01-13T10:15:41.824Z"},
	} {
		l, err := NewLayout(tt.epoch, tt.tick, tt.bits)
		var field *FieldError
		if !errors.As(err, &field) || field.Field != tt.field || !strings.Contains(err.Error(), tt.says) || l != (Layout{}) {
			t.Errorf("%s: NewLayout = %v, %v, want an error of field %q that says %q", tt.name, l, err, tt.field, tt.says)
		}
	}
}

func TestParseLayoutRefuses(t *testing.T) {
	future := "41+0+10+12+0/1ms@" + time.Now().UTC().Add(time.Hour).Format(time.RFC3339Nano)
	for in, want := range map[string]string{
		"":                                   "want a form like",
		"41+5+5+12":                          "want a form like",
		"41+5+5+12/1ms@2024-01-01T00:00:00Z": "want a form like",
		"41+0+10+12+0":                       "want a form like",
		"41+0+10+12+0/1ms":                   "want a form like",
		"41+0+10+12+0@2024-01-01T00:00:00Z":  "want a form like",
		"41+0+10+12+0+0/1ms@2024-01-01T00:00:00Z":              "want a form like",
		"041+0+10+12+0/1ms@2024-01-01T00:00:00Z":               "want a form like",
		"41+0+10+12+0/1000us@2024-01-01T00:00:00Z":             "want a form like",
		"41+0+10+12+0/1ms@2024-01-01T08:00:00+08:00":           "want a form like",
		"41+0+10+12+0/1ms@2024-01-01T00:00:00.000Z":            "want a form like",
		"41+0+10+12+256/1ms@2024-01-01T00:00:00Z":              "want a form like",
		"41+0+10+12+-1/1ms@2024-01-01T00:00:00Z":               "want a form like",
		" 41+0+10+12+0/1ms@2024-01-01T00:00:00Z":               "want a form like",
		"41+0+10+12+0/1ms@2024-01-01T00:00:00Z\n":              "want a form like",
		"21+4+20+10+8+0/1ms@2024-01-01T00:00:00Z":              "want a form like",
		"21+4+20+0+10+8+0+0/1ms@2024-01-01T00:00:00Z":          "want a form like",
		"41+0+0+0+10+12+0/1ms@2024-01-01T00:00:00Z":            "want a form like",
		"127+127+127+127+127+127+127/1ms@2024-01-01T00:00:00Z": "889 in all",
		"21+0+20+0+10+12+0/1ms@2024-01-01T00:00:00Z":           "span 20: want 0 without a lane",
		"21+4+20+0+10+0+0/1ms@2024-01-01T00:00:00Z":            "lane 4: want at most 3",
		"21+7+20+0+10+5+0/1ms@2024-01-01T00:00:00Z":            "lane 7: want at most 6",
		"41+4+0+0+10+8+0/1ms@2024-01-01T00:00:00Z":             "span 0: want 1 to 40",
		"0+4+41+0+10+8+0/1ms@2024-01-01T00:00:00Z":             "span 41: want 1 to 40",
		"37+0+20+16+0/1ms@2024-01-01T00:00:00Z":                "73 in all, an id has 63",
		"41+0+10+12+0/1ns@2024-01-01T00:00:00Z":                "want 1µs to 1h0m0s",
		"41+0+10+12+0/1ms@1899-12-31T23:59:59Z":                "want 1900-01-01 or later",
		future:                                                 "it is in the future",
		strings.Repeat("9+", 5000) + "/1ms@":                   "want a form like",
	} {
		l, err := ParseLayout(in)
		checkParseError(t, "ParseLayout", l, err, in, want)
		if l != (Layout{}) {
			t.Errorf("ParseLayout(%q) = %v beside an error", in, l)
		}
	}
}

func TestLayoutText(t *testing.T) {
	var l Layout
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.TextVar(&l, "layout", DefaultLayout(), "")
	if err := flags.Parse([]string{"-layout", Twitter().String()}); l != Twitter() || err != nil {
		t.Errorf("-layout: %v, %v, want %v", l, err, Twitter())
	}
	if err := flags.Parse([]string{"-layout", "41"}); l != Twitter() || err == nil {
		t.Errorf("-layout 41: %v, %v, want an error and no change", l, err)
	}
}

func TestZeroLayout(t *testing.T) {
	var l Layout
	if _, err := l.Compose(Parts{Time: time.Now()}); err == nil {
		t.Error("Compose returned no error")
	}
	if _, err := l.Decompose(1); err == nil {
		t.Error("Decompose returned no error")
	}
	if _, err := l.WithShard(1, 0); err == nil {
		t.Error("WithShard returned no error")
	}
	if _, err := l.MarshalText(); err == nil {
		t.Error("MarshalText returned no error")
	}
	if _, err := Fixed(l, 0); err == nil {
		t.Error("Fixed returned no error")
	}
	if got := l.String(); got != "invalid layout" {
		t.Errorf("String() = %q", got)
	}
	for lo, hi := range l.Between(time.Time{}, time.Now()) {
		if lo != hi {
			t.Errorf("Between = %d, %d, want an empty range", lo, hi)
		}
	}
	if got := l.Time(1); !got.IsZero() {
		t.Errorf("Time(1) = %v, want the zero time", got)
	}
	if l.Shard(15) != 0 || l.PerSecond() != 0 || l.Tick() != 0 {
		t.Error("Shard, PerSecond or Tick of the zero Layout is not 0")
	}
}

func TestComposeRefuses(t *testing.T) {
	l := Twitter()
	for _, tt := range []struct {
		parts Parts
		says  string
	}{
		{Parts{Time: l.Epoch().Add(-1)}, "time 2010-11-04T01:42:54.656999999Z: want 2010-11-04T01:42:54.657Z or later"},
		{Parts{Time: l.End()}, "time 2080-07-10T17:30:30.209Z: want"},
		{Parts{Time: time.Unix(math.MaxInt64>>1, 0)}, "want"},
		{Parts{Time: l.End().Add(-1), Datacenter: 32}, "datacenter 32: want at most 31"},
		{Parts{Time: l.End().Add(-1), Worker: 32}, "worker 32: want at most 31"},
		{Parts{Time: l.End().Add(-1), Worker: math.MaxUint64}, "worker 18446744073709551615: want at most 31"},
		{Parts{Time: l.End().Add(-1), Sequence: 4096}, "sequence 4096: want at most 4095"},
		{Parts{Time: l.End().Add(-1), Shard: 1}, "shard 1: want at most 0"},
	} {
		id, err := l.Compose(tt.parts)
		var field *FieldError
		if !errors.As(err, &field) || !strings.Contains(err.Error(), tt.says) || id != 0 {
			t.Errorf("Compose(%v) = %d, %v, want an error that says %q", tt.parts, id, err, tt.says)
		}
	}
	if id, err := l.Compose(Parts{Time: l.Epoch()}); id != 0 || !errors.Is(err, errUnsetID) {
		t.Errorf("Compose of all zero = %d, %v, want %v", id, err, errUnsetID)
	}
}

func TestDecomposeRefuses(t *testing.T) {
	l := JavaScript()
	for id, says := range map[ID]string{
		-1: "no negative", math.MinInt64: "no negative", 0: "not assigned", 1 << 53: "more bits than the layout", math.MaxInt64: "more bits than the layout",
	} {
		if p, err := l.Decompose(id); err == nil || !strings.Contains(err.Error(), says) || p != (Parts{}) {
			t.Errorf("Decompose(%d) = %v, %v, want an error that says %q", id, p, err, says)
		}
		if got := l.Time(id); !got.IsZero() {
			t.Errorf("Time(%d) = %v, want the zero time", id, got)
		}
	}
}

func TestWithShard(t *testing.T) {
	l := randomLayout(rand.New(rand.NewPCG(3, 4)), 4)
	id := ID(12345 << 4)
	for shard := range uint64(40) {
		got, err := l.WithShard(id, shard)
		if err != nil || l.Shard(got) != shard%16 || got>>4 != id>>4 {
			t.Errorf("WithShard(%d, %d) = %d, %v", id, shard, got, err)
		}
	}
	if _, err := l.WithShard(0, 3); !errors.Is(err, errUnsetID) {
		t.Errorf("WithShard(0, 3): error %v, want %v", err, errUnsetID)
	}
	if got, err := l.WithShard(3, 0); !errors.Is(err, errUnsetID) {
		t.Errorf("WithShard(3, 0) = %d, %v, want an error: it would be the zero ID", got, err)
	}
	var field *FieldError
	if _, err := DefaultLayout().WithShard(id, 3); !errors.As(err, &field) || field.Field != "shard" {
		t.Errorf("WithShard of a layout without shard bits: %v, want a FieldError", err)
	}
}

func FuzzParseLayout(f *testing.F) {
	for _, preset := range presets {
		f.Add(preset().String())
	}
	f.Add("")
	f.Add("41+5+5+12")
	f.Add("37+0+20+16+0/1ms@2024-01-01T00:00:00Z")
	f.Add("1+6+40+0+0+1+0/1h0m0s@1900-01-01T00:00:00Z")
	f.Add("41+0+10+12+0/1m0s@1900-01-01T00:00:00.000000001Z")
	f.Fuzz(func(t *testing.T, s string) {
		l, err := ParseLayout(s)
		if err != nil {
			var parse *ParseError
			if !errors.As(err, &parse) || l != (Layout{}) {
				t.Fatalf("ParseLayout(%q) = %v, %v", s, l, err)
			}
			return
		}
		if l.String() != s {
			t.Fatalf("ParseLayout(%q).String() = %q", s, l)
		}
		// Whatever is accepted works.
		id, err := l.Compose(Parts{Time: l.End().Add(-1)})
		if err != nil {
			t.Fatalf("%v: Compose: %v", l, err)
		}
		if p, err := l.Decompose(id); err != nil || !p.Time.Before(l.End()) {
			t.Fatalf("%v: Decompose(%d) = %v, %v", l, id, p, err)
		}
		if made, err := NewLayout(l.Epoch(), l.Tick(), l.Bits()); err == nil && made != l {
			t.Fatalf("NewLayout of the bits of %v = %v", l, made)
		}
	})
}
