package audit

import (
	"math/big"
	"testing"
	"time"

	"github.com/shardsnow/snow/internal/idcolumn"
)

func TestCounter(t *testing.T) {
	t.Parallel()
	big := func(n int64) *big.Int { return big.NewInt(n) }
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	smallint := idcolumn.Column{Kind: idcolumn.Integer, Size: 16}
	for _, tt := range []struct {
		name string
		c    counter
		in   idcolumn.Column
		own  bool
		want string
	}{
		{"of a type", *typed(smallint, 29491), smallint, false, "90.0 % of its numbers are used, 29491 of 32767"},
		{"never used", counter{least: big(1), most: big(10)}, smallint, true, "0.0 % of its numbers are used, 0 of 10"},
		{"above its end", *typed(smallint, 40000), smallint, false, "100.0 % of its numbers are used, 32767 of 32767"},
		{"wider than the column", counter{last: big(16384), least: big(1), most: big(1 << 40)}, smallint, false, "50.0 % of its numbers are used, 16384 of 32767"},
		{"with a least", counter{last: big(1009), least: big(1000), most: big(1099)}, smallint, true, "10.0 % of its numbers are used, 10 of 100"},
		{"down", counter{last: big(-9), least: big(-10), most: big(-1), down: true}, smallint, true, "90.0 % of its numbers are used, 9 of 10"},
		{"down, wider than the column", counter{last: big(-32767), least: big(-1 << 40), most: big(-1), down: true}, smallint, false, "99.9 % of its numbers are used, 32767 of 32768"},
		{
			"with a rate", counter{last: big(900), least: big(1), most: big(1000), rate: newRate(100, now.Add(-10*24*time.Hour), now, false)}, smallint, true,
			"90.0 % of its numbers are used, 900 of 1000; about 10 a day, so the last one on 2026-03-14 (rows inserted since 2026-02-22, when the server's statistics begin)",
		},
		{
			"for longer than a century", counter{last: big(0), least: big(0), most: big(1 << 60), rate: newRate(100, now.Add(-10*24*time.Hour), now, true)}, idcolumn.Column{}, false,
			"0.0 % of its numbers are used, 1 of 1152921504606846977; about 10 a day (at most: all its numbers since 2026-02-22, when the table was made or rebuilt)",
		},
	} {
		tt.c.within(tt.in)
		if got := tt.c.shown(now).String(); got != tt.want || tt.c.own != tt.own {
			t.Errorf("%s: %q, %t; want %q", tt.name, got, tt.c.own, tt.want)
		}
	}
	if r := newRate(100, now.Add(-time.Hour), now, false); r != (rate{}) {
		t.Errorf("the rate of an hour: %+v", r)
	}
}

// TestMeet compares counters with the rows of their tables.
func TestMeet(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		c        counter
		largest  int64
		want     int64
		reserved bool
	}{
		{"AUTO_INCREMENT of a catalogue that is a day old", counter{last: big.NewInt(5)}, 9, 9, false},
		{"AUTO_INCREMENT after rows were deleted", counter{last: big.NewInt(9)}, 5, 9, false},
		{"a sequence whose numbers are in the cache", counter{last: big.NewInt(1000), sequence: "s", reserved: true}, 5, 5, false},
		{"a sequence of a table with other numbers", counter{last: big.NewInt(1000), sequence: "s", reserved: true}, 1 << 50, 1000, true},
		{"a sequence that the user can't read", counter{sequence: "s"}, 5, 5, false},
		{"a sequence of a table without rows", counter{last: big.NewInt(1000), sequence: "s", reserved: true}, 0, 1000, true},
	} {
		if tt.c.meet(big.NewInt(tt.largest)); tt.c.last.Int64() != tt.want || tt.c.reserved != tt.reserved {
			t.Errorf("%s: %v, %t", tt.name, tt.c.last, tt.c.reserved)
		}
	}
}
