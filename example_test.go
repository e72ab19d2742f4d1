package snow_test

import (
	"context"
	"encoding/json"
	"errors"
	"expvar"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/shardsnow/snow"
)

// golden is an id of 2026-03-01T12:00:00Z, worker 7, sequence 42, in the
// default layout.
const golden snow.ID = 286467607756828714

func Example() {
	ctx := context.Background()

	worker, err := snow.Fixed(snow.Default(), 0, 7) // number 7 is this process's alone
	if err != nil {
		fmt.Println(err)
		return
	}
	gen, err := snow.NewGenerator(worker, snow.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}

	first, err := gen.Next(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	second, err := gen.Next(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(first < second)

	parts, err := gen.Layout().Decompose(first)
	fmt.Println(parts.Worker, err)
	// Output:
	// true
	// 7 <nil>
}

func ExampleGenerator_Fill() {
	worker, err := snow.Fixed(snow.Default(), 0, 7)
	if err != nil {
		fmt.Println(err)
		return
	}
	gen, err := snow.NewGenerator(worker, snow.Config{MaxAhead: 50 * time.Millisecond})
	if err != nil {
		fmt.Println(err)
		return
	}
	ids := make([]snow.ID, 1000)
	if err := gen.Fill(context.Background(), ids); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(ids[0] < ids[999])
	// Output: true
}

func ExampleGenerator_Observe() {
	worker, err := snow.Fixed(snow.Default(), 0, 7)
	if err != nil {
		fmt.Println(err)
		return
	}
	gen, err := snow.NewGenerator(worker, snow.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	// A question from a service whose clock is 5 ms ahead of ours.
	question, err := gen.Layout().Compose(snow.Parts{Time: time.Now().Add(5 * time.Millisecond), Worker: 9})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := gen.Observe(question); err != nil {
		fmt.Println(err)
		return
	}
	answer, err := gen.Next(context.Background())
	fmt.Println(answer > question, err)
	// Output: true <nil>
}

func ExampleFixed() {
	_, err := snow.Fixed(snow.Twitter(), 0, 32)
	fmt.Println(err)
	// Output: snow: fixed worker: worker 32: want at most 31
}

func ExampleNewGenerator() {
	worker, err := snow.Fixed(snow.Default(), 0, 7)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, ahead := range []time.Duration{0, time.Second} { // 0 is the default, 10 ms
		_, err := snow.NewGenerator(worker, snow.Config{MaxAhead: ahead})
		fmt.Println(err)
	}
	// Output:
	// <nil>
	// snow: new generator: MaxAhead 1s: the worker has a generator with another one
}

// A hook that measures waits. With a tracer it starts a span and returns its end.
func ExampleConfig_onWait() {
	worker, err := snow.Fixed(snow.Default(), 0, 7)
	if err != nil {
		fmt.Println(err)
		return
	}
	var waits atomic.Int64
	gen, err := snow.NewGenerator(worker, snow.Config{OnWait: func(ctx context.Context, d time.Duration) func(error) {
		waits.Add(1)
		return nil
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = gen.Next(context.Background()) // the first id of a Fixed worker waits for 11 ms
	fmt.Println(waits.Load() > 0, err)
	// Output: true <nil>
}

// Those who lease numbers from elsewhere implement a Worker with a Grant.
func ExampleNewGrant() {
	l := snow.Default()
	grant, err := snow.NewGrant(l, time.Now()) // or the time of whoever grants the windows
	if err != nil {
		fmt.Println(err)
		return
	}
	gen, err := snow.NewGenerator(leased{grant}, snow.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = gen.Next(context.Background())
	fmt.Println(err)

	tick := uint64(time.Since(l.Epoch()) / l.Tick())
	if err := grant.Open(snow.Window{Worker: 7, Floor: tick, Ceiling: tick + 60_000}); err != nil { // a minute
		fmt.Println(err)
		return
	}
	id, err := gen.Next(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	parts, err := l.Decompose(id)
	fmt.Println(parts.Worker, err)
	// Output:
	// snow: next: the worker's granted ticks are used up
	// 7 <nil>
}

type leased struct{ grant *snow.Grant }

func (l leased) Grant() *snow.Grant { return l.grant }

func ExampleParseID() {
	id, err := snow.ParseID("286467607756828714")
	fmt.Println(id, err)
	_, err = snow.ParseID("0286467607756828714")
	fmt.Println(err)
	// Output:
	// 286467607756828714 <nil>
	// snow: parse id "0286467607756828714": want no leading zero
}

func ExampleID_Base32() {
	fmt.Println(golden.Base32())
	id, err := snow.ParseBase32("07ydwrp000w1a")
	fmt.Println(id, err)
	// Output:
	// 07YDWRP000W1A
	// 286467607756828714 <nil>
}

func ExampleParseBase32() {
	id, err := snow.ParseBase32("07YDWRP000W1A") // either case
	fmt.Println(id, err)
	_, err = snow.ParseBase32("07YDWRP000W1U")
	fmt.Println(err)
	// Output:
	// 286467607756828714 <nil>
	// snow: parse base32 id "07YDWRP000W1U": want Crockford's base32 alphabet
}

func ExampleID_MarshalJSON() {
	b, err := json.Marshal(map[string]snow.ID{"order": golden})
	fmt.Println(string(b), err)
	// Output: {"order":"286467607756828714"} <nil>
}

func ExampleInt64s() {
	fmt.Printf("%T\n", snow.Int64s([]snow.ID{golden}))
	// Output: []int64
}

func ExampleNewLayout() {
	epoch := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

	// 2^3 regions of 2^7 workers, 2^12 ids a millisecond each, 16 logical shards.
	l, err := snow.NewLayout(epoch, time.Millisecond, snow.Bits{Timestamp: 37, Datacenter: 3, Worker: 7, Sequence: 12, Shard: 4})
	fmt.Println(l, err)
	fmt.Println("until", l.End().Format(time.DateOnly))

	// What articles quote for game servers.
	_, err = snow.NewLayout(epoch, time.Millisecond, snow.Bits{Timestamp: 37, Worker: 20, Sequence: 16})
	fmt.Println(err)
	// Output:
	// 37+3+7+12+4/1ms@2025-01-01T00:00:00Z <nil>
	// until 2029-05-10
	// snow: new layout: bits 37+0+20+16+0: 73 in all, an id has 63
}

func ExampleParseLayout() {
	l, err := snow.ParseLayout("41+5+5+12+0/1ms@2010-11-04T01:42:54.657Z")
	fmt.Println(l == snow.Twitter(), err)
	// Output: true <nil>
}

func ExampleLayout_Decompose() {
	l := snow.Default()
	p, err := l.Decompose(golden)
	fmt.Println(p.Time, p.Worker, p.Sequence, err)
	id, err := l.Compose(p)
	fmt.Println(id, err)
	// Output:
	// 2026-03-01 12:00:00 +0000 UTC 7 42 <nil>
	// 286467607756828714 <nil>
}

func ExampleLayout_Between() {
	day := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	lo, hi := snow.Default().Between(day, day.AddDate(0, 0, 1))
	fmt.Printf("WHERE id >= %d AND id < %d\n", lo, hi)
	// Output: WHERE id >= 286286413824000000 AND id < 286648801689600000
}

func ExampleLayout_WithShard() {
	l, err := snow.NewLayout(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), time.Millisecond, snow.Bits{Timestamp: 41, Worker: 8, Sequence: 10, Shard: 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	const buyer = 4711
	order, err := l.WithShard(golden, buyer) // taken modulo 2^4
	fmt.Println(l.Shard(order), buyer%16, err)
	// Output: 7 7 <nil>
}

func ExampleDefault() {
	l := snow.Default()
	fmt.Println(l, l.Workers(), l.PerSecond(), l.End().Year())
	// Output: 41+0+10+12+0/1ms@2024-01-01T00:00:00Z 1024 4.096e+06 2093
}

// An id from Discord's documentation.
func ExampleDiscord() {
	p, err := snow.Discord().Decompose(175928847299117063)
	fmt.Println(p.Time, p.Datacenter, p.Worker, p.Sequence, err)
	// Output: 2016-04-30 11:18:25.796 +0000 UTC 1 0 7 <nil>
}

func ExampleInstagram() {
	l := snow.Instagram()
	id, err := l.Compose(snow.Parts{Time: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Worker: 1341, Sequence: 1})
	fmt.Println(id, err)
	// Output: 3843210374003618817 <nil>
}

func ExampleShardingSphere() {
	l := snow.ShardingSphere()
	fmt.Println(l.Epoch().Format(time.DateOnly), l.End().Year())
	// Output: 2016-11-01 2086
}

func ExampleTwitter() {
	fmt.Println(snow.Twitter().Time(1541815603606036480))
	// Output: 2022-06-28 16:07:40.105 +0000 UTC
}

func ExampleGameServers() {
	l := snow.GameServers()
	fmt.Println(l.Workers(), l.PerSecond(), l.End().Year())
	// Output: 1048576 2560 2132
}

func ExampleJavaScript() {
	l := snow.JavaScript()
	id, err := l.Compose(snow.Parts{Time: l.End().Add(-1), Worker: 127, Sequence: 255})
	fmt.Println(id, err) // Number.MAX_SAFE_INTEGER
	// Output: 9007199254740991 <nil>
}

func ExampleUIDGenerator() {
	l := snow.UIDGenerator()
	parts, err := l.Decompose(7116595918638087564)
	fmt.Println(parts.Time, parts.Worker, err)
	fmt.Println("ended", l.End())
	// Output:
	// 2022-12-11 21:23:21 +0000 UTC 189271 <nil>
	// ended 2024-11-20 13:24:16 +0000 UTC
}

func ExampleNewShards() {
	l, err := snow.NewLayout(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), time.Millisecond, snow.Bits{Timestamp: 41, Worker: 8, Sequence: 10, Shard: 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	databases, err := snow.NewShards(l, "db0", "db1") // or two *sql.DB, two *gorm.DB
	if err != nil {
		fmt.Println(err)
		return
	}

	buyer := snow.HashShard("ann")
	order, err := l.WithShard(golden, buyer)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(databases.At(buyer), databases.Of(order))
	// Output: db0 db0
}

func ExampleShards_Each() {
	l, err := snow.NewLayout(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), time.Millisecond, snow.Bits{Timestamp: 41, Worker: 8, Sequence: 10, Shard: 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	databases, err := snow.NewShards(l, "db0", "db1", "db2", "db3")
	if err != nil {
		fmt.Println(err)
		return
	}
	orders := make([]int, databases.Len())
	err = databases.Each(context.Background(), func(_ context.Context, i int, db string) error {
		if db == "db2" {
			return errors.New("connection refused")
		}
		orders[i] = 10 * i // SELECT COUNT(*) FROM orders
		return nil
	})
	fmt.Println(orders, err)
	// Output: [0 10 0 30] shard 2: connection refused
}

func ExampleHashShard() {
	fmt.Println(snow.HashShard("ann")%16, snow.HashShardInt(4711)%16) // for ever
	// Output: 0 12
}

func ExampleHashShardInt() {
	fmt.Println(snow.HashShardInt(4711)%16, snow.HashShardInt(4712)%16)
	// Output: 12 3
}

// In one line, /debug/vars shows what a generator does.
func ExampleStats() {
	worker, err := snow.Fixed(snow.Default(), 0, 7)
	if err != nil {
		fmt.Println(err)
		return
	}
	gen, err := snow.NewGenerator(worker, snow.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	stats := expvar.Func(func() any { return gen.Stats() }) // expvar.Publish("snow", stats)

	var shown struct{ Issued *int }
	err = json.Unmarshal([]byte(stats.String()), &shown)
	fmt.Println(*shown.Issued, err)
	// Output: 0 <nil>
}

func ExampleGenerator_Stats() {
	worker, err := snow.Fixed(snow.Default(), 0, 7)
	if err != nil {
		fmt.Println(err)
		return
	}
	gen, err := snow.NewGenerator(worker, snow.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := gen.Fill(context.Background(), make([]snow.ID, 100)); err != nil {
		fmt.Println(err)
		return
	}
	s := gen.Stats()
	fmt.Println(s.Issued, s.ClockSteps, s.Left > 24*time.Hour)
	// Output: 100 0 true
}
