package docs_test

import (
	"regexp"
	"strconv"
	"strings"
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
	afterSonyflake, err := snow.NewLayout(time.Date(2014, 9, 1, 0, 0, 0, 0, time.UTC), snow.DefaultLayout().Tick(), snow.DefaultLayout().Bits())
	if err != nil {
		t.Fatal(err)
	}
	cosID, err := snow.NewLayout(time.Date(2019, 12, 24, 16, 0, 0, 0, time.UTC), time.Millisecond, snow.DefaultLayout().Bits())
	if err != nil {
		t.Fatal(err)
	}
	javaSnowflake, err := snow.NewLayout(time.Date(2019, 12, 31, 16, 0, 0, 0, time.UTC), time.Millisecond, snow.Twitter().Bits())
	if err != nil {
		t.Fatal(err)
	}
	tsid, err := snow.NewLayout(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), time.Millisecond, snow.DefaultLayout().Bits())
	if err != nil {
		t.Fatal(err)
	}
	sameBits := func(l snow.Layout) func(at time.Time) snow.ID { // the highest of a moment
		return func(at time.Time) snow.ID { return snow.ID(at.Sub(l.Epoch())/time.Millisecond<<22 | 1<<22 - 1) }
	}
	yitter := func(at time.Time) snow.ID { return snow.ID((at.UnixMilli()-1582136402000)<<12 | 1<<12 - 1) }
	for name, tt := range map[string]struct {
		next  snow.Layout
		old   func(at time.Time) snow.ID
		until time.Duration // how much later than the new ids the old ones may be made
	}{
		"AUTO_INCREMENT":      {snow.DefaultLayout(), func(time.Time) snow.ID { return 1e17 }, 0},
		"Twitter's layout":    {snow.Twitter(), func(at time.Time) snow.ID { return twitter(at, 1<<10-1, 1<<12-1) }, -time.Millisecond},
		"sonyflake version 1": {afterSonyflake, sonyflake(afterSonyflake.Epoch()), year(2043).Sub(year(2026))},
		"CosId":               {cosID, sameBits(cosID), -time.Millisecond},
		"ShardingSphere":      {snow.ShardingSphere(), sameBits(snow.ShardingSphere()), -time.Millisecond},
		"TSID":                {tsid, sameBits(tsid), -time.Millisecond},
		"java-snowflake":      {javaSnowflake, sameBits(javaSnowflake), -time.Millisecond},
		"yitter":              {snow.DefaultLayout(), yitter, 29 * 365 * 24 * time.Hour},
		"sonyflake version 2": {snow.DefaultLayout(), sonyflake(year(2025)), year(2030).Sub(year(2026)) - 24*time.Hour},
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

	if at := yitter(year(2089)); at >= 1<<53 {
		t.Errorf("yitter's id %d of 2089 has more than 53 bits", at)
	}

	// Four bits for the business line, six for the machine.
	byBusiness, err := snow.NewLayout(snow.DefaultLayout().Epoch(), time.Millisecond, snow.Bits{Timestamp: 41, Datacenter: 4, Worker: 6, Sequence: 12})
	if err != nil || byBusiness.Workers() != 64 {
		t.Errorf("%v has %d workers, %v", byBusiness, byBusiness.Workers(), err)
	}

	// Seata's ids of worker 1 are below snow's ids, and its ids of worker 1023 above.
	for worker, above := range map[int64]bool{1: false, 1023: true} {
		old := snow.ID(worker<<53 | (year(2026).UnixMilli()-1588435200000)<<12)
		for next := range snow.DefaultLayout().Between(year(2026), year(2027)) {
			if (old > next) != above {
				t.Errorf("Seata's id %d of worker %d is above %d: %v, want %v", old, worker, next, old > next, above)
			}
		}
	}

	// uid-generator's ids fill the 63 bits from 2016 to 2024.
	first, err := snow.UIDGenerator().Compose(snow.Parts{Time: year(2018)})
	if meets := snow.DefaultLayout().Time(first); err != nil || meets.Year() != 2037 {
		t.Errorf("ids from 2018 on are met in %v, %v", meets, err)
	}
}

// The table of docs/sharding.md shows the layouts that it names.
func TestShardingPage(t *testing.T) {
	t.Chdir("..")
	_, texts := pages(t, "docs/sharding.md")
	rows := regexp.MustCompile(`(?m)^\| (\d+)\+(\d+)\+(\d+)\+(\d+), (\d+) ms(?:, until (\d+))? \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|$`).FindAllStringSubmatch(texts["docs/sharding.md"], -1)
	if len(rows) != 6 {
		t.Errorf("found %d layouts, want 6", len(rows))
	}
	for _, row := range rows {
		var n [9]int64
		for i, text := range row[1:] {
			if text != "" {
				var err error
				if n[i], err = strconv.ParseInt(strings.ReplaceAll(text, ",", ""), 10, 64); err != nil {
					t.Fatal(err)
				}
			}
		}
		bits := snow.Bits{Timestamp: uint8(n[0]), Worker: uint8(n[1]), Sequence: uint8(n[2]), Shard: uint8(n[3])}
		l, err := snow.NewLayout(snow.DefaultLayout().Epoch(), time.Duration(n[4])*time.Millisecond, bits)
		if err != nil {
			t.Error(err)
			continue
		}
		if n[5] != 0 && int(n[5]) != l.End().Year() || n[5] == 0 && l.End().Year() < 2060 {
			t.Errorf("%s ends in %d", row[0], l.End().Year())
		}
		if 1<<bits.Shard != n[6] || l.Workers() != n[7] || l.PerSecond() != float64(n[8]) {
			t.Errorf("%s: %d shards, %d workers, %.0f ids a second", row[0], 1<<bits.Shard, l.Workers(), l.PerSecond())
		}
	}
}
