package snow_test

import (
	"fmt"
	"time"

	"github.com/shardsnow/snow"
)

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
	l := snow.DefaultLayout()
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
	for lo, hi := range snow.DefaultLayout().Between(day, day.AddDate(0, 0, 1)) { // one range: the layout has no lanes
		fmt.Printf("WHERE id >= %d AND id < %d\n", lo, hi)
	}
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

func ExampleDefaultLayout() {
	l := snow.DefaultLayout()
	fmt.Println(l, l.Workers(), l.PerSecond(), l.End().Year())
	// Output: 41+0+10+12+0/1ms@2024-01-01T00:00:00Z 1024 4.096e+06 2093
}

func ExampleClustered() {
	l := snow.Clustered()
	fmt.Println(l, l.Workers(), l.PerSecond())
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, sequence := range []uint64{0, 1 << 7, 63 << 7} { // the lane is in the top 6 of its 13 bits
		id, err := l.Compose(snow.Parts{Time: at, Worker: 7, Sequence: sequence})
		fmt.Println(id, err)
	}
	// Output:
	// 21+6+20+0+9+7+0/1ms@2024-01-01T00:00:00Z 512 8.192e+06
	// 286466772754760576 <nil>
	// 286466841474237312 <nil>
	// 286471102081794944 <nil>
}

func ExampleDefaultShards() {
	l := snow.DefaultShards()
	id, err := l.Compose(snow.Parts{Time: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Worker: 7, Sequence: 42, Shard: 5})
	fmt.Println(l.Workers(), l.PerSecond(), id, l.Shard(id), err)
	// Output: 1024 64000 286467607756831365 5 <nil>
}

func ExampleClusteredShards() {
	l := snow.ClusteredShards()
	id, err := l.Compose(snow.Parts{Time: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Worker: 7, Sequence: 42, Shard: 5})
	fmt.Println(l.Workers(), l.PerSecond(), id, l.Shard(id), err)
	// Output: 128 2.048e+06 286466786008768165 5 <nil>
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

func ExampleBusyGameServers() {
	l := snow.BusyGameServers()
	fmt.Println(l.Workers(), l.PerSecond(), l.End().Year())
	// Output: 65536 40960 2132
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
