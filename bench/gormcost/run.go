package gormcost

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"gorm.io/gorm"

	"github.com/shardsnow/snow"
)

// An Order is a row.
type Order struct {
	ID        snow.ID
	BuyerID   int64 `gorm:"index"`
	Status    int16
	Amount    int64
	Item      string `gorm:"size:64"`
	CreatedAt time.Time
}

// A run measures one case.
type run struct {
	keys       *snow.Generator
	dbs        [variants]*gorm.DB
	rows       int
	statements int // of each variant in a round
}

// newOrders returns the rows of a statement, without ids.
func (r run) newOrders() []Order {
	orders := make([]Order, r.rows)
	for i := range orders {
		orders[i] = Order{BuyerID: int64(i%97 + 1), Status: 1, Amount: int64(i), Item: "a cup of tea"}
	}
	return orders
}

// create creates the rows with one statement.
func (r run) create(ctx context.Context, variant int, orders []Order, ids []snow.ID) (err error) {
	var created *gorm.DB
	switch {
	case variant == plugin && len(orders) == 1:
		created = r.dbs[variant].Create(&orders[0])
	case variant == plugin:
		created = r.dbs[variant].Create(&orders)
	case len(orders) == 1:
		if orders[0].ID, err = r.keys.Next(ctx); err != nil {
			return err
		}
		created = r.dbs[variant].Create(&orders[0])
	default:
		if err := r.keys.Fill(ctx, ids); err != nil {
			return err
		}
		for i := range orders {
			orders[i].ID = ids[i]
		}
		created = r.dbs[variant].Create(&orders)
	}
	if created.Error != nil {
		return created.Error
	}
	if orders[0].ID == 0 || orders[len(orders)-1].ID == 0 {
		return errors.New("a row got no id")
	}
	return nil
}

// time returns the median time of a statement of each variant, in nanoseconds.
func (r run) time(ctx context.Context) (medians [variants]float64, err error) {
	var took [variants][]float64
	ids := make([]snow.ID, r.rows)
	for i := range r.statements {
		for turn := range variants {
			variant := (i + turn) % variants // no variant is always first, or always after the same one
			if i%2 == 1 {
				variant = variants - 1 - variant
			}
			orders := r.newOrders()
			begin := time.Now()
			if err := r.create(ctx, variant, orders, ids); err != nil {
				return medians, fmt.Errorf("create: %w", err)
			}
			took[variant] = append(took[variant], float64(time.Since(begin).Nanoseconds()))
		}
	}
	for i := range medians {
		medians[i] = Median(took[i])
	}
	return medians, nil
}

// memory returns the allocations and bytes of a statement. It takes the smallest figures of several rounds, because
// other goroutines of the program allocate as well.
func (r run) memory(ctx context.Context, variant int) (allocs, bytes float64, err error) {
	// A collection empties the pools that statements take from.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	allocs, bytes = math.Inf(1), math.Inf(1)
	ids := make([]snow.ID, r.rows)
	for range 5 {
		orders := make([][]Order, min(r.statements, 20))
		for i := range orders {
			orders[i] = r.newOrders()
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for _, o := range orders {
			if err := r.create(ctx, variant, o, ids); err != nil {
				return 0, 0, fmt.Errorf("create: %w", err)
			}
		}
		runtime.ReadMemStats(&after)
		n := float64(len(orders))
		allocs = min(allocs, float64(after.Mallocs-before.Mallocs)/n)
		bytes = min(bytes, float64(after.TotalAlloc-before.TotalAlloc)/n)
	}
	return allocs, bytes, nil
}

// Median returns the median of a list, or NaN if the list is empty.
func Median(list []float64) float64 {
	if len(list) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(list))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
