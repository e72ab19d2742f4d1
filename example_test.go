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

	worker, err := snow.Fixed(snow.DefaultLayout(), 7) // number 7 is this process's alone
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
	worker, err := snow.Fixed(snow.DefaultLayout(), 11)
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
	worker, err := snow.Fixed(snow.DefaultLayout(), 7)
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
	_, err := snow.Fixed(snow.Twitter(), 32)
	fmt.Println(err)
	// Output: snow: fixed worker: worker 32: want at most 31
}

func ExampleFixedParts() {
	_, err := snow.FixedParts(snow.Twitter(), snow.Parts{Datacenter: 3, Worker: 7})
	fmt.Println(err)
	_, err = snow.FixedParts(snow.Twitter(), snow.Parts{Datacenter: 32, Worker: 7})
	fmt.Println(err)
	// Output:
	// <nil>
	// snow: fixed worker: datacenter 32: want at most 31
}

func ExampleNewGenerator() {
	worker, err := snow.Fixed(snow.DefaultLayout(), 7)
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
	// snow: new generator: MaxAhead 1s: want the same as the worker's other generators
}

// A hook that measures waits. With a tracer it starts a span and returns its end.
func ExampleConfig_onWait() {
	worker, err := snow.Fixed(snow.DefaultLayout(), 8)
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
	worker, err := snow.Fixed(snow.DefaultLayout(), 9)
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
	worker, err := snow.Fixed(snow.DefaultLayout(), 10)
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
