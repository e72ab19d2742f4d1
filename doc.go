// Package snow makes 63-bit ids for the keys of SQL tables that are split over
// several databases. Ids sort by time, fit a BIGINT, are known before the
// insert, and do not clash when the databases are merged. The algorithm is
// Twitter's Snowflake.
//
// # An id
//
// A [Layout] says what the bits of an [ID] mean. This is [DefaultLayout]:
//
//	 63 62                                      22 21        12 11          0
//	+--+------------------------------------------+------------+------------+
//	| 0| timestamp: ms since 2024-01-01 (41 bits) | worker (10)| seq. (12)  |
//	+--+------------------------------------------+------------+------------+
//
// Other layouts have a datacenter above the worker, and a logical shard in the
// lowest bits, which routes an id without a look-up table.
//
// # Making ids
//
// A [Generator] makes the ids of a [Worker], which has a number that nobody else
// uses. [Fixed] takes the number from its caller;
// [github.com/shardsnow/snow/sqlsnow.Open] leases a number from a database, so
// that nobody else can use it.
//
//	w, err := snow.Fixed(snow.DefaultLayout(), 7)
//	g, err := snow.NewGenerator(w, snow.Config{})
//	id, err := g.Next(ctx)
//
// [Generator.Next] makes one id and [Generator.Fill] many at once. A burst
// borrows ids from the near future, up to [Config].MaxAhead, and then waits.
// [Generator.Observe] makes later ids greater than an id from elsewhere, so that
// answers sort after their questions. Code that assigns keys takes a [Source]: a
// Generator, or [github.com/shardsnow/snow/sqlsnow/segments.Segments].
//
// # Reading ids
//
// An [ID] is an int64 and is stored as one. In JSON it is a string, and
// [ID.Base32] writes it in 13 characters. [Layout.Decompose] splits an id into
// its parts, and [Layout.Between] turns a time range into ranges of ids.
//
// # Finding the database
//
// [Shards] maps the logical shards of a layout to databases. [Layout.WithShard]
// puts the shard of a buyer, for example [HashShard] of her name, into the id of
// an order, so that the name and the id lead to the same database. [Shards.Each]
// calls a function for every database.
//
// # Watching
//
// [Generator.Stats] says how many ids were made, how long calls waited, and what
// the clock did, for [expvar] and the like;
// [github.com/shardsnow/snow/promsnow] exports it to Prometheus. [Config].OnWait
// is called for each wait, for traces.
//
// # What is promised
//
// Two ids are never the same as long as no two Workers, in one process or in
// several, use the same number in the same ticks. Leases guarantee that. Within a
// process [Fixed] guarantees it, too: Workers with the same number share their ids.
// For several processes the caller must: no two have the same number at the same
// time, and none is restarted after its wall clock was stepped back, because it
// does not remember which ticks it used. Clock steps while a process runs repeat
// no id.
//
// Ids of one generator ascend. Ids of different workers sort by the clocks of
// their processes. Both hold only within a lane and from span to span if the
// layout has lanes, which [Clustered] has for large tables: see [Bits].
//
// A generator that can't make a unique id returns an error, never an id:
// [ErrLeaseExpired] or [ErrTimeExhausted].
//
// # Other packages
//
//   - [github.com/shardsnow/snow/sqlsnow] leases worker numbers from MySQL,
//     MariaDB, PostgreSQL and SQLite, and makes dense numbers from counters there.
//   - [github.com/shardsnow/snow/gormsnow] assigns keys to the rows of GORM.
//   - [github.com/shardsnow/snow/migrations] has the SQL files of the tables.
//   - [github.com/shardsnow/snow/sqlsnow/sqlsnowtest] tests whether a database
//     keeps the contract of leases.
//   - [github.com/shardsnow/snow/opaque] writes ids as texts that tell people outside nothing.
//   - [github.com/shardsnow/snow/httpsnow] gives ids to programs in other languages,
//     over HTTP, and its package page shows worker numbers in the browser.
//   - [github.com/shardsnow/snow/cmd/snow], a module of its own, is the command snow.
//   - [github.com/shardsnow/snow/promsnow], a module of its own, exports statistics
//     to Prometheus.
//
// # Inside
//
//	generator.go           Generator: Next, Fill and Observe, with the path of Next that never waits
//	reserve.go             reserving the positions of ids, and choosing the next one
//	wait.go                waiting until a reserved position may be used
//	worker.go grant.go     the number and the ticks that a worker may use; Stats are in stats.go
//	clock.go               running time
//	position.go            bit arithmetic of ids
//	shards.go              the databases of logical shards
//	presets.go layout.go   what the bits of an id mean; layout_text.go writes and parses it
//	between.go             the ids of a time range
//	base32.go id.go ids.go ID and its texts, and lists of ids
//	errors.go
package snow
