// Package snow makes 63-bit ids for the keys of SQL tables that are split over
// several databases. They sort by time, fit a BIGINT, are known before the
// insert, and do not clash when the databases are merged. The algorithm is
// Twitter's Snowflake.
//
// # An id
//
// A [Layout] says what the bits of an [ID] mean. This is [Default]:
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
// A [Generator] makes ids for a [Worker]: a number that nobody else uses.
// [Fixed] takes the number from its caller;
// [github.com/shardsnow/snow/sqlsnow.Acquire] leases one from a database, so that
// nobody else can use it.
//
//	w, err := snow.Fixed(snow.Default(), 0, 7)
//	g, err := snow.NewGenerator(w, snow.Config{})
//	id, err := g.Next(ctx)
//
// [Generator.Next] makes one id and [Generator.Fill] many at once. A burst
// borrows from the near future, as far as [Config].MaxAhead allows, and then
// waits. [Generator.Observe] makes answers sort after their questions. Code that
// assigns keys asks for a [Source], which is a Generator or
// [github.com/shardsnow/snow/sqlsnow/segments.Segments].
//
// # Reading ids
//
// An [ID] is an int64 and is stored as one. It is a string in JSON, has a form of
// 13 characters ([ID.Base32]), and scans from what drivers return.
// [Layout.Decompose] takes it apart, and [Layout.Between] turns a time range into
// a range of ids.
//
// # Finding the database
//
// [Shards] maps the logical shards of a layout to databases. [Layout.WithShard]
// puts the shard of a buyer, [HashShard] of her name, into the id of an order,
// so that both lead to the same database. [Shards.Each] asks all of them.
//
// # Watching
//
// [Generator.Stats] says how many ids were made, who waited, and what the clock
// did, for [expvar] and the like; [github.com/shardsnow/snow/promsnow] shows it to
// Prometheus. [Config].OnWait is told of each wait, for traces.
//
// # What is promised
//
// Two ids are never the same as long as no two Workers, in one process or in
// two, may stamp one number in the same ticks. Leases see to that. For [Fixed]
// workers the caller does: no two of them have one number at a time, and none is
// restarted after its wall clock was stepped back, for it has no memory of what
// it stamped. Clock steps while a process runs do no harm.
//
// Ids of one generator ascend. Ids of different workers are in the order of
// their clocks.
//
// A generator that can't make a unique id returns an error, never an id:
// [ErrLeaseExpired] or [ErrTimeExhausted].
//
// # Other packages
//
//   - [github.com/shardsnow/snow/sqlsnow] leases worker numbers from MySQL,
//     MariaDB, PostgreSQL and SQLite, and takes dense numbers from them.
//   - [github.com/shardsnow/snow/gormsnow] assigns keys to the rows of GORM.
//   - [github.com/shardsnow/snow/migrations] has the tables' SQL files.
//   - [github.com/shardsnow/snow/sqlsnow/sqlsnowtest] checks a database.
//   - [github.com/shardsnow/snow/promsnow] is a module of its own.
package snow
