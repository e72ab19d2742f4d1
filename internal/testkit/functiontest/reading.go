//go:build unix

package functiontest

import (
	"database/sql"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/functions"
)

// layouts returns presets and random layouts, half of them with lanes.
func layouts(t *testing.T, random *rand.Rand, n int) []snow.Layout {
	t.Helper()
	all := []snow.Layout{snow.DefaultLayout(), snow.Twitter(), snow.Instagram(), snow.JavaScript(), snow.Clustered(), snow.ClusteredShards()}
	for len(all) < n {
		ticks := []time.Duration{time.Microsecond, 999 * time.Microsecond, time.Millisecond, 10 * time.Millisecond, 1_234_567 * time.Nanosecond, time.Second, 7 * time.Minute, time.Hour}
		b := snow.Bits{
			Timestamp: uint8(28 + random.IntN(16)), Datacenter: uint8(random.IntN(5)), Worker: uint8(random.IntN(8)),
			Sequence: uint8(1 + random.IntN(12)), Shard: uint8(random.IntN(8)),
		}
		if b.Lane = uint8(random.IntN(5)); b.Lane > 0 {
			b.Span = uint8(1 + random.IntN(25))
		}
		epoch := time.Unix(random.Int64N(3_900_000_000)-2_200_000_000, random.Int64N(1e9))
		if l, err := snow.NewLayout(epoch, ticks[random.IntN(len(ticks))], b); err == nil {
			all = append(all, l)
		}
	}
	return all
}

func (target Target) read(t *testing.T, db *sql.DB, l snow.Layout) {
	t.Helper()
	statements, err := functions.Reading(target.Dialect, l)
	if err != nil {
		t.Fatal(err)
	}
	exec(t, db, statements...)
}

// testReading compares the functions with Decompose.
func testReading(t *testing.T, target Target) {
	server := target.server(t)
	random := rand.New(rand.NewPCG(1, 2))
	end := time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, l := range layouts(t, random, 24) {
		db := target.open(t, server, server.CreateDatabase(t)) // the functions with shard differ in their number
		target.read(t, db, l)
		b := l.Bits()
		sum := b.Timestamp + b.Datacenter + b.Worker + b.Sequence + b.Shard
		ids := []int64{-1, 0, 1, -1 << 63, 1<<sum - 1, 1 << (sum - 1), 1<<63 - 1, 1 << min(sum, 62)}
		for range 40 {
			ids = append(ids, random.Int64()>>(62-random.IntN(int(sum))))
		}
		for _, id := range ids {
			var at sql.NullTime
			var datacenter, worker, sequence, shard sql.NullInt64
			if err := db.QueryRowContext(t.Context(), "SELECT snow_time(x), snow_datacenter(x), snow_worker(x), snow_sequence(x), snow_shard(x) FROM (SELECT "+
				target.bigint()+" AS x) AS t", id).Scan(&at, &datacenter, &worker, &sequence, &shard); err != nil {
				t.Fatalf("%v: %d: %v", l, id, err)
			}
			p, err := l.Decompose(snow.ID(id))
			if err != nil {
				if at.Valid || datacenter.Valid || worker.Valid || sequence.Valid || shard.Valid {
					t.Fatalf("%v: %d is no id, got %v %v %v %v %v", l, id, at, datacenter, worker, sequence, shard)
				}
				continue
			}
			want := [...]uint64{p.Datacenter, p.Worker, p.Sequence, p.Shard}
			if got := [...]uint64{uint64(datacenter.Int64), uint64(worker.Int64), uint64(sequence.Int64), uint64(shard.Int64)}; got != want {
				t.Fatalf("%v: %d: got %v, want %v", l, id, got, want)
			}
			if at.Valid != p.Time.Before(end) || at.Valid && !at.Time.Equal(p.Time.Truncate(time.Microsecond)) {
				t.Fatalf("%v: %d: got %v, want %v", l, id, at, p.Time)
			}
			if b.Shard > 0 {
				shard := random.Uint64N(1 << 62)
				var changed sql.NullInt64
				if err := db.QueryRowContext(t.Context(), "SELECT snow_with_shard("+target.bigint()+", "+target.second()+")", id, int64(shard)).Scan(&changed); err != nil {
					t.Fatal(err)
				}
				if want, err := l.WithShard(snow.ID(id), shard); changed.Valid != (err == nil) || snow.ID(changed.Int64) != want {
					t.Fatalf("%v: %d with shard %d: got %v, want %d", l, id, shard, changed, want)
				}
			}
		}
	}
}

// bigint is a first parameter that is a number, and second a second one.
func (target Target) bigint() string {
	if target.Dialect == sqlsnow.MySQL {
		return "CAST(? AS SIGNED)"
	}
	return "CAST($1 AS bigint)"
}

func (target Target) second() string {
	if target.Dialect == sqlsnow.MySQL {
		return "CAST(? AS SIGNED)"
	}
	return "CAST($2 AS bigint)"
}

// testBounds compares snow_id_from and snow_id_until with Between.
func testBounds(t *testing.T, target Target) {
	server := target.server(t)
	random := rand.New(rand.NewPCG(3, 4))
	parameter := "CAST(? AS DATETIME(6))"
	if target.Dialect == sqlsnow.Postgres {
		parameter = "CAST($1 AS timestamptz)"
	}
	for _, l := range layouts(t, random, 24) {
		db := target.open(t, server, server.CreateDatabase(t))
		target.read(t, db, l)
		times := []time.Time{l.Epoch(), l.Epoch().Add(-time.Hour), l.End(), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), time.Date(1890, 1, 1, 0, 0, 0, 0, time.UTC)}
		for range 30 {
			at := l.Epoch().Add(time.Duration(random.Int64() >> random.IntN(62)))
			if span := l.Tick() << l.Bits().Span; random.IntN(3) == 0 && span < 1<<40 { // the start of a span
				at = l.Epoch().Add(at.Sub(l.Epoch()) / span * span)
			}
			times = append(times, at)
		}
		var none, nothing *int64
		if err := db.QueryRowContext(t.Context(), "SELECT snow_id_from(NULL), snow_id_until(NULL)").Scan(&none, &nothing); err != nil || none != nil || nothing != nil {
			t.Errorf("%v: of NULL: got %v and %v, %v", l, none, nothing, err)
		}
		for _, at := range times {
			if at = at.Truncate(time.Microsecond).UTC(); at.Year() > 9999 {
				continue
			}
			var from, until snow.ID
			const form = "2006-01-02 15:04:05.000000"
			text := at.Format(form)
			if target.Dialect == sqlsnow.Postgres {
				text += "+00"
			}
			if err := db.QueryRowContext(t.Context(), "SELECT snow_id_from(x), snow_id_until(x) FROM (SELECT "+parameter+" AS x) AS t", text).Scan(&from, &until); err != nil {
				t.Fatalf("%v: %v: %v", l, at, err)
			}
			var wantFrom, wantUntil snow.ID = -1, -1
			for lo := range l.Between(at, l.End()) {
				wantFrom = lo
				break
			}
			for _, hi := range l.Between(l.Epoch(), at) {
				wantUntil = hi
			}
			if from != wantFrom || until != wantUntil {
				t.Fatalf("%v: %v: got ids [%d and below %d, want %d and %d", l, at, from, until, wantFrom, wantUntil)
			}
		}
	}
}
