package snow_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
