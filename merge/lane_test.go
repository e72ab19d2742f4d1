package merge

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/shardsnow/snow"
)

var testEpoch = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

func testLayout(t *testing.T, tick time.Duration, b snow.Bits) snow.Layout {
	t.Helper()
	l, err := snow.NewLayout(testEpoch, tick, b)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Minted ids sort as the old ones did, are of their lane alone, are not before
// their rows' dates, and go on after an interruption as if there had been none.
func TestMintedIDs(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		b := snow.Bits{Timestamp: 41, Datacenter: uint8(r.IntN(3)), Worker: uint8(1 + r.IntN(6)), Sequence: uint8(1 + r.IntN(8)), Shard: uint8(r.IntN(4))}
		l := testLayout(t, []time.Duration{time.Millisecond, time.Second}[r.IntN(2)], b)
		whole := lane{layout: l, datacenter: r.Uint64N(1 << b.Datacenter), worker: r.Uint64N(1 << b.Worker)}
		n := 1 + r.IntN(1<<b.Sequence)
		part := r.IntN(n)
		own, ok := whole.part(part, n)
		if !ok {
			t.Fatalf("no part %d of %d of %v", part, n, l)
		}
		now := int64(1e6)
		m := minter{lane: own, tick: -1, now: now}
		var last snow.ID
		for old := int64(1); old < 200; old++ {
			created := testEpoch.Add(time.Duration(r.Int64N(100)) * l.Tick())
			switch r.IntN(10) {
			case 0:
				created = testEpoch.Add(-time.Hour)
			case 1:
				created = testEpoch.Add(time.Duration(now+100) * l.Tick())
			}
			dated := r.IntN(5) > 0
			if r.IntN(3) == 0 { // another process goes on
				m = minter{lane: own, tick: m.tick, sequence: m.sequence, now: now, late: m.late}
			}
			id, err := m.next(old, created, dated)
			if err != nil {
				t.Fatal(err)
			}
			if id <= last {
				t.Fatalf("id %d comes after %d", id, last)
			}
			last = id
			p, err := l.Decompose(id)
			if err != nil {
				t.Fatal(err)
			}
			if want := snow.HashShardInt(old) % (1 << b.Shard); p.Shard != want {
				t.Errorf("id %d of row %d has shard %d, want %d", id, old, p.Shard, want)
			}
			if p.Worker != own.worker || p.Datacenter != own.datacenter || p.Sequence < own.first || p.Sequence >= own.end {
				t.Fatalf("id %d has parts %+v, outside of %+v", id, p, own)
			}
			if dated && created.Before(testEpoch.Add(time.Duration(now)*l.Tick())) && p.Time.Before(created) {
				t.Fatalf("id %d is of %v, before %v", id, p.Time, created)
			}
		}
	}
}

func TestPartsOfALane(t *testing.T) {
	whole := lane{layout: testLayout(t, time.Millisecond, snow.Bits{Timestamp: 41, Worker: 4, Sequence: 3})}
	for n := 1; n <= 8; n++ {
		end := uint64(0)
		for i := range n {
			l, ok := whole.part(i, n)
			if !ok || l.first != end || l.end <= l.first || l.end > 8 {
				t.Errorf("part %d of %d: %d to %d", i, n, l.first, l.end)
			}
			end = l.end
		}
	}
	if _, ok := whole.part(0, 9); ok {
		t.Error("8 sequence numbers have 9 parts")
	}
}

func TestMintersEnd(t *testing.T) {
	l := testLayout(t, time.Hour, snow.Bits{Timestamp: 15, Worker: 1, Sequence: 1})
	whole, _ := lane{layout: l}.part(0, 1)
	m := minter{lane: whole, tick: 1<<15 - 1, sequence: 1, now: 1 << 15}
	if _, err := m.next(1, time.Time{}, false); !errors.Is(err, snow.ErrTimeExhausted) {
		t.Errorf("past the last tick: got %v, want %v", err, snow.ErrTimeExhausted)
	}
	m = minter{lane: whole, tick: -1, now: 10}
	if id, err := m.next(1, testEpoch, true); err != nil || id == 0 {
		t.Errorf("the first id of worker 0: got %d, %v", id, err)
	}
}

// How far ids are ahead of their rows is measured.
func TestLate(t *testing.T) {
	l := testLayout(t, time.Millisecond, snow.Bits{Timestamp: 41, Worker: 1, Sequence: 1})
	whole, _ := lane{layout: l}.part(0, 1)
	m := minter{lane: whole, tick: -1, now: 1e6}
	for old := range int64(11) {
		if _, err := m.next(old, testEpoch, true); err != nil {
			t.Fatal(err)
		}
	}
	if m.late != 5*time.Millisecond {
		t.Errorf("11 rows of one instant, 2 ids a millisecond: %v late, want 5ms", m.late)
	}
}

func TestParseDate(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	day := time.Date(2024, 6, 1, 12, 30, 45, 0, time.UTC)
	for _, test := range []struct {
		value any
		zone  *time.Location
		want  time.Time // zero for none
	}{
		{"2024-06-01 12:30:45", time.UTC, day},
		{"2024-06-01T12:30:45Z", berlin, day},
		{"2024-06-01 14:30:45", berlin, day},
		{"2024-06-01 12:30:45.123456", time.UTC, day.Add(123456 * time.Microsecond)},
		{"2024-06-01 14:30:45+02", time.UTC, day},
		{"2024-06-01 18:00:45+05:30", time.UTC, day},
		{"2024-06-01 14:30:45 +0200 CEST", time.UTC, day},
		{"2024-06-01", time.UTC, day.Truncate(24 * time.Hour)},
		{" 2024-06-01 12:30 ", time.UTC, day.Truncate(time.Minute)},
		{[]byte("2024-06-01 12:30:45"), time.UTC, day},
		{day.Unix(), berlin, day},
		{day.UnixMilli(), berlin, day},
		{day.UnixMicro(), berlin, day},
		{day.UnixNano(), berlin, day},
		{"1717245045", time.UTC, day},
		{float64(day.Unix()) + 0.5, time.UTC, day.Add(500 * time.Millisecond)},
		{"0000-00-00 00:00:00", time.UTC, time.Time{}},
		{"0001-01-01 00:00:00", time.UTC, time.Time{}},
		{"2024-02-31 00:00:00", time.UTC, time.Time{}},
		{"yesterday", time.UTC, time.Time{}},
		{"", time.UTC, time.Time{}},
		{int64(0), time.UTC, time.Time{}},
		{int64(-5), time.UTC, time.Time{}},
		{nil, time.UTC, time.Time{}},
	} {
		got, ok := parseDate(test.value, test.zone)
		if ok != !test.want.IsZero() || ok && !got.Equal(test.want) {
			t.Errorf("%v in %v: got %v, %t; want %v", test.value, test.zone, got, ok, test.want)
		}
	}
}
