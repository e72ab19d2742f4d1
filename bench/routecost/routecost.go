// Package routecost measures what a router of gormsnow/route costs: the CPU time of a statement beside the same
// statement on one database, and the time of a query over all databases beside the slowest database alone.
//
// The databases are drivers that answer at once, or after a fixed time, so GORM and the router are all that is measured.
// The variants take turns, and one is measured twice: the difference is the error of the measurement.
package routecost

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"syscall"
	"time"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
	"github.com/shardsnow/snow/gormsnow/route"
)

// Options say how much to measure. The zero value is a full run of about a minute.
type Options struct {
	Rounds     int // for medians; zero means 41
	Statements int // of each variant in a round; zero means 4000
	Queries    int // over all databases, for the latency; zero means 400
	Progress   func(line string)
}

// A Result is what a router costs.
type Result struct {
	Cases   []Case
	Scatter Scatter
}

// A Case is one statement. It has a figure for each round: the CPU time of a statement, in nanoseconds.
type Case struct {
	Name                 string
	Plain, Routed, Again []float64
	Allocs, RoutedAllocs float64
	Bytes, RoutedBytes   float64
}

// More returns the median of what the router adds, and of what the plain variant adds to itself, in nanoseconds.
func (c Case) More() (routed, control float64) {
	return Median(differences(c.Routed, c.Plain)), Median(differences(c.Again, c.Plain))
}

func differences(a, b []float64) []float64 {
	d := make([]float64, min(len(a), len(b)))
	for i := range d {
		d[i] = a[i] - b[i]
	}
	return d
}

// A Scatter is the time of queries, in nanoseconds.
type Scatter struct {
	Databases    int
	Alone, Asked []float64 // the slowest database alone, and all
}

// Medians returns both.
func (s Scatter) Medians() (alone, asked float64) { return Median(s.Alone), Median(s.Asked) }

// Allowed is the target: the slowest database's time, a twentieth of it, and 0.2 ms.
func (s Scatter) Allowed() float64 { return Median(s.Alone)*1.05 + 200_000 }

// Median returns the median of a list, or NaN if the list is empty.
func Median(list []float64) float64 {
	if len(list) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(list))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// An Order is a row, in the shard of its buyer.
type Order struct {
	ID        snow.ID `gorm:"primaryKey;not null" snow:"shard=BuyerID"`
	BuyerID   snow.ID
	State     string
	Amount    int
	DeletedAt gorm.DeletedAt
}

const buyer = snow.ID(1<<40 + 5)

var statements = []struct {
	name string
	run  func(db *gorm.DB) error
}{
	{"find by key", func(db *gorm.DB) error { return db.Limit(1).Find(&[]Order{}, "id = ?", buyer).Error }},
	{"find by the shard's field and more", func(db *gorm.DB) error {
		return db.Where("buyer_id = ? AND (state = ? OR amount > ?)", buyer, "x", 4).Order("id").Limit(20).Find(&[]Order{}).Error
	}},
	{"create", func(db *gorm.DB) error { return db.Create(&Order{BuyerID: buyer}).Error }},
	{"update by key", func(db *gorm.DB) error {
		return db.Model(&Order{}).Where("id = ?", buyer).Update("amount", 5).Error
	}},
}

// Measure measures. It ends early with the error of ctx.
func Measure(ctx context.Context, o Options) (result Result, err error) {
	o.Rounds, o.Statements, o.Queries = cmp.Or(o.Rounds, 41), cmp.Or(o.Statements, 4000), cmp.Or(o.Queries, 400)
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	plain, routed, closeAll, err := open(make([]time.Duration, 4))
	if err != nil {
		return result, fmt.Errorf("routecost: %w", err)
	}
	defer closeAll()
	for _, s := range statements {
		o.Progress(s.name)
		c := Case{Name: s.name}
		for round := range o.Rounds {
			took := make([]float64, 3)
			for turn := range took {
				i := (round + turn) % len(took)
				if took[i], err = cpu(ctx, o.Statements, []*gorm.DB{plain, routed, plain}[i], s.run); err != nil {
					return result, fmt.Errorf("routecost: %s: %w", s.name, err)
				}
			}
			c.Plain, c.Routed, c.Again = append(c.Plain, took[0]), append(c.Routed, took[1]), append(c.Again, took[2])
		}
		if c.Allocs, c.Bytes, err = memory(plain, s.run); err == nil {
			c.RoutedAllocs, c.RoutedBytes, err = memory(routed, s.run)
		}
		if err != nil {
			return result, fmt.Errorf("routecost: %s: %w", s.name, err)
		}
		result.Cases = append(result.Cases, c)
	}
	o.Progress("latency")
	result.Scatter, err = scatter(ctx, o.Queries)
	return result, err
}

// cpu returns the CPU time of a statement.
func cpu(ctx context.Context, n int, db *gorm.DB, run func(*gorm.DB) error) (float64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	runtime.GC() // the garbage of other variants
	start := used()
	for range n {
		if err := run(db); err != nil {
			return 0, err
		}
	}
	return float64(used()-start) / float64(n), nil
}

func used() int64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return u.Utime.Nano() + u.Stime.Nano()
}

// memory returns the allocations and bytes of a statement, the least of several rounds.
func memory(db *gorm.DB, run func(*gorm.DB) error) (allocs, bytes float64, err error) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection empties the pools that statements take from
	allocs, bytes = math.Inf(1), math.Inf(1)
	const n = 200
	for range 5 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range n {
			if err := run(db); err != nil {
				return 0, 0, err
			}
		}
		runtime.ReadMemStats(&after)
		allocs = min(allocs, float64(after.Mallocs-before.Mallocs)/n)
		bytes = min(bytes, float64(after.TotalAlloc-before.TotalAlloc)/n)
	}
	return allocs, bytes, nil
}

// scatter measures queries over four databases that take 3 to 6 ms, in turns with the slowest one.
func scatter(ctx context.Context, queries int) (s Scatter, err error) {
	delays := []time.Duration{3 * time.Millisecond, 4 * time.Millisecond, 5 * time.Millisecond, 6 * time.Millisecond}
	_, routed, closeAll, err := open(delays)
	if err != nil {
		return s, fmt.Errorf("routecost: %w", err)
	}
	defer closeAll()
	s.Databases = len(delays)
	page := func(db *gorm.DB) (float64, error) {
		begin := time.Now()
		err := db.WithContext(ctx).Order("id").Limit(25).Find(&[]Order{}).Error
		return float64(time.Since(begin).Nanoseconds()), err
	}
	for range queries {
		alone, err := page(route.On(routed, 3))
		if err != nil {
			return s, fmt.Errorf("routecost: %w", err)
		}
		asked, err := page(route.Scatter(routed))
		if err != nil {
			return s, fmt.Errorf("routecost: %w", err)
		}
		s.Alone, s.Asked = append(s.Alone, alone), append(s.Asked, asked)
	}
	return s, nil
}

// open returns one database, and a router over as many databases as there are delays.
func open(delays []time.Duration) (plain, routed *gorm.DB, closeAll func(), err error) {
	layout, err := snow.NewLayout(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), time.Millisecond, snow.Bits{Timestamp: 41, Worker: 6, Sequence: 12, Shard: 4})
	if err != nil {
		return nil, nil, nil, err
	}
	worker, err := snow.Fixed(layout, 7)
	if err != nil {
		return nil, nil, nil, err
	}
	keys, err := snow.NewGenerator(worker, snow.Config{})
	if err != nil {
		return nil, nil, nil, err
	}
	var pools []*sql.DB
	closeAll = func() {
		for _, p := range pools {
			p.Close()
		}
	}
	connect := func(delay time.Duration) *gorm.DB {
		pool := sql.OpenDB(silent{delay})
		pools = append(pools, pool)
		var db *gorm.DB
		if err == nil {
			db, err = gorm.Open(mysql.New(mysql.Config{Conn: pool, SkipInitializeWithVersion: true}), &gorm.Config{Logger: logger.Discard, SkipDefaultTransaction: true})
		}
		if err == nil {
			err = db.Use(gormsnow.New(keys))
		}
		return db
	}
	plain = connect(0)
	dbs := make([]*gorm.DB, len(delays))
	for i, d := range delays {
		dbs[i] = connect(d)
	}
	if err == nil {
		var shards *snow.Shards[*gorm.DB]
		if shards, err = snow.NewShards(layout, dbs...); err == nil {
			routed, err = route.New(shards)
		}
	}
	if err != nil {
		closeAll()
		return nil, nil, nil, err
	}
	return plain, routed, closeAll, nil
}
