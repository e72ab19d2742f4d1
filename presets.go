package snow

import "time"

// DefaultLayout returns the layout for new projects, 41+0+10+12+0, 1 ms, epoch
// 2024-01-01: 1,024 workers with 4,096 ids a millisecond each, until September
// 2093. It has no shard bits, and a layout can't get them later.
func DefaultLayout() Layout {
	return preset(1704067200000, time.Millisecond, Bits{Timestamp: 41, Worker: 10, Sequence: 12})
}

// DefaultShards returns 41+0+10+6+6, 1 ms, epoch 2024-01-01: [DefaultLayout] for tables
// that are split over several databases, or may be one day. It has 64 logical
// shards, and 1,024 workers with 64,000 ids a second each, until September 2093. How
// many databases have the shards is said by [NewShards], and may change; the number
// of shards may not.
func DefaultShards() Layout {
	return preset(1704067200000, time.Millisecond, Bits{Timestamp: 41, Worker: 10, Sequence: 6, Shard: 6})
}

// Twitter returns the layout of Twitter's Snowflake (IdWorker.scala, 2010):
// 41+5+5+12+0, 1 ms, epoch 1288834974657 ms, until July 2080.
// bwmarrin/snowflake, Leaf and MyBatis-Plus have it by default,
// where datacenter and worker may be one number of ten bits.
//
// Source: https://github.com/twitter-archive/snowflake/tree/snowflake-2010
func Twitter() Layout {
	return preset(1288834974657, time.Millisecond, Bits{Timestamp: 41, Datacenter: 5, Worker: 5, Sequence: 12})
}

// Discord returns 41+5+5+12+0, 1 ms, epoch 2015-01-01, until September 2084.
// What Discord calls the worker is the datacenter here, and its process is the
// worker. Discord's timestamp has 42 bits, but the top one is not used before
// 2084.
//
// Source: https://discord.com/developers/docs/reference#snowflakes
func Discord() Layout {
	return preset(1420070400000, time.Millisecond, Bits{Timestamp: 41, Datacenter: 5, Worker: 5, Sequence: 12})
}

// Instagram returns 40+0+13+10+0, 1 ms, epoch 1314220021721 ms, until June
// 2046. Instagram's logical shard is the worker here, because it makes ids
// unique. Instagram's timestamp has 41 bits, but the top one makes the number
// negative from 2046 on.
//
// Source: "Sharding & IDs at Instagram", 2012.
func Instagram() Layout {
	return preset(1314220021721, time.Millisecond, Bits{Timestamp: 40, Worker: 13, Sequence: 10})
}

// UIDGenerator returns the default of Baidu's uid-generator: 28+0+22+13+0, 1 s,
// epoch 2016-05-20 in UTC+8. Its timestamp ran out at 2024-11-20T13:24:16Z, so
// the layout reads old ids and makes no new ones.
//
// Source: https://github.com/baidu/uid-generator
func UIDGenerator() Layout {
	return preset(1463673600000, time.Second, Bits{Timestamp: 28, Worker: 22, Sequence: 13})
}

// ShardingSphere returns the layout of Apache ShardingSphere's SNOWFLAKE:
// 41+0+10+12+0, 1 ms, epoch 2016-11-01 in UTC, until July 2086. Versions before
// mid-2026 used midnight in the time zone of the JVM as the epoch: for their ids
// call [NewLayout] with that epoch.
//
// Source: https://github.com/apache/shardingsphere, SnowflakeKeyGenerateAlgorithm
func ShardingSphere() Layout {
	return preset(1477958400000, time.Millisecond, Bits{Timestamp: 41, Worker: 10, Sequence: 12})
}

// JavaScript returns 38+0+7+8+0, 10 ms, epoch 2024-01-01: ids of at most 53
// bits, which a JavaScript number represents exactly. It has 128 workers with
// 25,600 ids a second each, until February 2111.
func JavaScript() Layout {
	return preset(1704067200000, 10*time.Millisecond, Bits{Timestamp: 38, Worker: 7, Sequence: 8})
}

// GameServers returns 35+0+20+8+0, 100 ms, epoch 2024-01-01: 1,048,576 workers,
// enough for every game server there will ever be, until November 2132. In
// exchange a worker makes only 2,560 ids a second, and time has steps of 100 ms.
// A burst is at least 2,560 ids for each second of [Config].MaxAhead; with 10
// seconds a server makes the ids of 25,600 items at once. If servers load more, take
// [BusyGameServers].
//
// A namespace of leases has a row for each number, so [github.com/shardsnow/snow/sqlsnow.Namespace]
// must say how many servers there can be.
//
// The layout 37+20+16 at 1 ms, which articles quote for game servers, is
// impossible: it has 73 bits, and 37 bits of milliseconds end after 4.4 years.
func GameServers() Layout {
	return preset(1704067200000, 100*time.Millisecond, Bits{Timestamp: 35, Worker: 20, Sequence: 8})
}

// BusyGameServers returns 35+0+16+12+0, 100 ms, epoch 2024-01-01, for game servers
// that make the ids of thousands of items at once: 65,536 workers with 40,960 ids a
// second each, and as many at once with a MaxAhead of one second, which is the
// default of leased workers. It ends when [GameServers] ends.
func BusyGameServers() Layout {
	return preset(1704067200000, 100*time.Millisecond, Bits{Timestamp: 35, Worker: 16, Sequence: 12})
}

// Clustered returns 41+0+9+13+0 with 64 lanes in spans of 17.5 minutes, which is
// 21+6+20+0+9+7+0, 1 ms, epoch 2024-01-01: for large tables into which many
// connections insert, and whose rows are stored in the order of the key, as InnoDB
// does. It has 512 workers, until September 2093. A worker makes 8,192 ids a
// millisecond with Next and 128 with Fill. See [Bits] for what ids with lanes don't
// promise.
func Clustered() Layout {
	return preset(1704067200000, time.Millisecond, Bits{Timestamp: 41, Worker: 9, Sequence: 13, Lane: 6, Span: 20})
}

// ClusteredShards returns 41+0+7+11+4 with 32 lanes in spans of 17.5 minutes, which
// is 21+5+20+0+7+6+4, 1 ms, epoch 2024-01-01: like [Clustered], with 16 logical
// shards. It has 128 workers with 2,048 ids a millisecond each by Next and 64 by
// Fill, until September 2093.
func ClusteredShards() Layout {
	return preset(1704067200000, time.Millisecond, Bits{Timestamp: 41, Worker: 7, Sequence: 11, Shard: 4, Lane: 5, Span: 20})
}

func preset(epochMilli int64, tick time.Duration, bits Bits) Layout {
	return Layout{epochMilli * 1e6, int64(tick), bits}
}
