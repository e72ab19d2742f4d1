package snow_test

import (
	"testing"
	"time"

	"github.com/shardsnow/snow"
)

// What docs/coming-from.md says about the default settings of others: from 2026 on,
// new ids are above the old ones.
func TestComingFrom(t *testing.T) {
	year := func(y int) time.Time { return time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC) }
	twitter := func(at time.Time, number, sequence int64) snow.ID { // of bwmarrin, Leaf, MyBatis-Plus and PKSnowflake
		return snow.ID((at.UnixMilli()-1288834974657)<<22 | number<<12 | sequence)
	}
	sonyflake := func(epoch time.Time) func(at time.Time) snow.ID { // the highest of a moment
		return func(at time.Time) snow.ID { return snow.ID(at.Sub(epoch)/(10*time.Millisecond)<<24 | 1<<24 - 1) }
	}
	afterSonyflake, err := snow.NewLayout(time.Date(2014, 9, 1, 0, 0, 0, 0, time.UTC), snow.Default().Tick(), snow.Default().Bits())
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		next  snow.Layout
		old   func(at time.Time) snow.ID
		until time.Duration // how much later than the new ids the old ones may be made
	}{
		"AUTO_INCREMENT":      {snow.Default(), func(time.Time) snow.ID { return 1e17 }, 0},
		"Twitter's layout":    {snow.Twitter(), func(at time.Time) snow.ID { return twitter(at, 1<<10-1, 1<<12-1) }, -time.Millisecond},
		"sonyflake version 1": {afterSonyflake, sonyflake(afterSonyflake.Epoch()), year(2043).Sub(year(2026))},
		"sonyflake version 2": {snow.Default(), sonyflake(year(2025)), year(2030).Sub(year(2026)) - 24*time.Hour},
	} {
		for now := year(2026); now.Before(year(2060)); now = now.AddDate(0, 5, 3) {
			lowest := snow.ID(0)
			for lo := range tt.next.Between(now, now.Add(time.Millisecond)) {
				lowest = lo
			}
			if old := tt.old(now.Add(tt.until)); lowest <= old {
				t.Fatalf("%s: the id %d of %v is not above the old id %d", name, lowest, now, old)
			}
		}
	}

	// One number of ten bits is datacenter and worker.
	p, err := snow.Twitter().Decompose(twitter(year(2026), 33, 4095))
	if err != nil || p.Datacenter != 1 || p.Worker != 1 || p.Sequence != 4095 || !p.Time.Equal(year(2026)) {
		t.Errorf("node 33: %+v, %v", p, err)
	}

	// uid-generator's ids fill the 63 bits from 2016 to 2024.
	first, err := snow.UIDGenerator().Compose(snow.Parts{Time: year(2018)})
	if meets := snow.Default().Time(first); err != nil || meets.Year() != 2037 {
		t.Errorf("ids from 2018 on are met in %v, %v", meets, err)
	}
}
