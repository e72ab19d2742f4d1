package versioned

import (
	"testing"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/protocol"
)

// TestFloor takes rows whose last window ends now, a moment ago and in a moment: none of its ticks is given again.
func TestFloor(t *testing.T) {
	p := protocol.NewParams(0, 10*time.Minute, 30*time.Second, time.Millisecond)
	p.Layout = snow.DefaultLayout()
	us := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC).UnixMicro()
	tick := p.TickAt(us)
	for _, ceiling := range []int64{tick - 1, tick, tick + p.Ticks(protocol.Slack)} {
		row := Row{Row: protocol.Row{State: protocol.Free, Ceiling: ceiling}}
		q := protocol.Request{Ask: protocol.AskTake, Owner: "o", Seen: ceiling, Window: 100, Earliest: us, Latest: us}
		changed, err := apply(&p, &row, &q, us)
		if want := max(ceiling, tick); err != nil || !changed || row.Floor != want || row.Ceiling != want+100 {
			t.Errorf("ceiling %d at %d: got %v, %v, [%d, %d), want [%d, %d)", ceiling, tick, changed, err, row.Floor, row.Ceiling, want, want+100)
		}
	}
}
