package census_test

import (
	"testing"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/census"
	"github.com/shardsnow/snow/sqlsnow"
)

func today() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC) }

func TestStates(t *testing.T) {
	t.Parallel()
	now := today()
	at := func(d time.Duration) time.Time { return now.Add(d) }
	for _, tt := range []struct {
		name string
		row  sqlsnow.WorkerInfo
		want string
	}{
		{"never leased", sqlsnow.WorkerInfo{State: sqlsnow.Free, Leasable: at(-time.Hour)}, "free"},
		{"given back a moment ago", sqlsnow.WorkerInfo{State: sqlsnow.Free, Leasable: at(time.Second)}, "cooling"},
		{"renewed in time", sqlsnow.WorkerInfo{State: sqlsnow.Granted, RenewBy: at(time.Second), Ceiling: at(time.Minute), Leasable: at(time.Minute)}, "held"},
		{"not renewed in time", sqlsnow.WorkerInfo{State: sqlsnow.Granted, RenewBy: at(-time.Second), Ceiling: at(time.Minute), Leasable: at(time.Minute)}, "late"},
		{"in its grace", sqlsnow.WorkerInfo{State: sqlsnow.Granted, RenewBy: at(time.Second), Ceiling: at(-time.Second), Leasable: at(time.Minute)}, "late"},
		{"its window and grace are over", sqlsnow.WorkerInfo{State: sqlsnow.Granted, RenewBy: at(-time.Hour), Ceiling: at(-time.Minute), Leasable: now}, "free"},
		{"in its probation", sqlsnow.WorkerInfo{State: sqlsnow.Claimed, Leasable: at(time.Second)}, "claimed"},
		{"a claim that was given up", sqlsnow.WorkerInfo{State: sqlsnow.Claimed, Leasable: at(-time.Second)}, "free"},
		{"reserved", sqlsnow.WorkerInfo{State: sqlsnow.Reserved}, "reserved"},
	} {
		if got := census.StateOf(tt.row, now); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestHolders(t *testing.T) {
	t.Parallel()
	from, to := today(), today().Add(time.Hour)
	granted := sqlsnow.WorkerInfo{Worker: 3, State: sqlsnow.Granted, Holder: "shop-1", Claimed: from.Add(50 * time.Millisecond), Floor: from, Ceiling: to}
	after := sqlsnow.WorkerInfo{Worker: 6, State: sqlsnow.Granted, Holder: "shop-2", Claimed: from, Floor: from.Add(time.Second), Ceiling: to}
	fenced := sqlsnow.WorkerInfo{Worker: 7, State: sqlsnow.Granted, Holder: "shop-3", Claimed: from, Floor: to, Ceiling: to}
	reserved := sqlsnow.WorkerInfo{Worker: 4, State: sqlsnow.Reserved, Holder: "import"}
	fresh := sqlsnow.WorkerInfo{Worker: 5, State: sqlsnow.Free}
	for _, tt := range []struct {
		name   string
		worker uint64
		t      time.Time
		want   string
	}{
		{"in its window", 3, from.Add(time.Minute), "shop-1"},
		{"in the tick in which it was leased", 3, from, "shop-1"},
		{"in the last ticks of the former holder", 6, from, "not known: the number was leased again at 2026-03-04 05:06:07"},
		{"in the first tick after them", 6, from.Add(time.Second), "shop-2"},
		{"in a window that was fenced later", 7, from, "shop-3"},
		{"before its window", 3, from.Add(-time.Second), "not known: the number was leased again at 2026-03-04 05:06:07.05"},
		{"at its end", 3, to, "nobody: the last window ended at 2026-03-04 06:06:07"},
		{"reserved", 4, from, "import, for whom the number is reserved"},
		{"never leased", 5, from, "not known"},
		{"no such number", 8, from, "nobody: the namespace has no such number"},
	} {
		if got := census.HolderAt([]sqlsnow.WorkerInfo{granted, reserved, fresh, after, fenced}, snow.GameServers(), tt.worker, tt.t); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
