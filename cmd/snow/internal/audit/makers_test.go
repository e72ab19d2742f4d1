package audit

import (
	"testing"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/sqlsnow"
)

func TestMakers(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	at := func(d time.Duration) time.Time { return now.Add(d) }
	held := sqlsnow.WorkerInfo{State: sqlsnow.Granted, Fence: 1, Claimed: at(-time.Hour), Floor: at(-time.Hour), Ceiling: at(time.Minute)}
	again := held
	again.Fence = 2
	for _, tt := range []struct {
		name        string
		row         sqlsnow.WorkerInfo
		time        time.Time
		can, recent bool
	}{
		{"in the window", held, at(-time.Minute), true, true},
		{"in the tick of the lease", held, at(-time.Hour), true, true},
		{"before the first lease", held, at(-2 * time.Hour), false, true},
		{"before the last of two leases", again, at(-2 * time.Hour), true, true},
		{"long before", again, at(-30 * 24 * time.Hour), true, false},
		{"after the window", held, at(time.Minute), false, false},
		{"in the future", held, at(time.Hour), false, false},
		{"given back before", sqlsnow.WorkerInfo{State: sqlsnow.Free, Fence: 1, Claimed: at(-time.Hour), Ceiling: at(-time.Minute)}, at(-time.Second), false, true},
		{"of a number that nobody ever had", sqlsnow.WorkerInfo{State: sqlsnow.Free}, at(-time.Second), false, true},
		{"of a claim without a window", sqlsnow.WorkerInfo{State: sqlsnow.Claimed, Fence: 1, Claimed: at(-time.Minute), Ceiling: at(time.Hour)}, at(-time.Second), false, true},
		{"reserved", sqlsnow.WorkerInfo{State: sqlsnow.Reserved}, at(-time.Second), true, true},
	} {
		tt.row.Worker = 3
		m := newMaker("shop", snow.DefaultLayout(), []sqlsnow.WorkerInfo{tt.row})
		var id snow.ID
		for id = range snow.DefaultLayout().Between(tt.time, tt.time.Add(time.Second)) {
			break
		}
		shift := snow.DefaultLayout().Bits()
		id |= 3 << (shift.Sequence + shift.Shard)
		if p, err := snow.DefaultLayout().Decompose(id); err != nil || p.Worker != 3 || !p.Time.Equal(tt.time) {
			t.Fatalf("%+v, %v", p, err)
		}
		if can, recent := m.can(id, now); can != tt.can || recent != tt.recent {
			t.Errorf("%s: %v, %v; want %v, %v", tt.name, can, recent, tt.can, tt.recent)
		}
		m.workers = nil
		if can, _ := m.can(id, now); can {
			t.Errorf("%s: a namespace without the number can have made it", tt.name)
		}
	}
}
