package main

import (
	"cmp"
	"slices"
	"time"

	"gorm.io/gorm"

	"github.com/shardsnow/snow"
)

// keys reads the keys of a table from both databases, ascending.
func keys[K cmp.Ordered](s *story, model any) (a, b []K, err error) {
	if err := s.dbs[0].Model(model).Order("id").Pluck("id", &a).Error; err != nil {
		return nil, nil, err
	}
	err = s.dbs[1].Model(model).Order("id").Pluck("id", &b).Error
	return a, b, err
}

func (d *database) count(model any) (int, error) {
	var n int64
	err := d.Model(model).Count(&n).Error
	return int(n), err
}

// readOrders reads all orders with their lines.
func (d *database) readOrders() (all []Order, err error) {
	var rows []Order
	err = d.Preload("Lines").FindInBatches(&rows, batch, func(*gorm.DB, int) error {
		all = append(all, rows...)
		return nil
	}).Error
	return all, err
}

// clashes returns how many keys are in a and in b, which are sorted.
func clashes[K cmp.Ordered](a, b []K) (n int) {
	for _, k := range a {
		if _, found := slices.BinarySearch(b, k); found {
			n++
		}
	}
	return n
}

// countsUp reports whether keys are 1, 2, 3 and so on.
func countsUp(keys []int64) bool {
	for i, k := range keys {
		if k != int64(i)+1 {
			return false
		}
	}
	return true
}

// simultaneous returns how many keys were made in the same millisecond as a key
// for the other database.
func (s *story) simultaneous(a, b []snow.ID) (n int) {
	made := make(map[time.Time][2]int)
	for i, ids := range [][]snow.ID{a, b} {
		for _, id := range ids {
			counts := made[s.layout.Time(id)]
			counts[i]++
			made[s.layout.Time(id)] = counts
		}
	}
	for _, counts := range made {
		if counts[0] > 0 && counts[1] > 0 {
			n += counts[0] + counts[1]
		}
	}
	return n
}

// allLiveIn reports whether all ids belong to this database, and none is missing.
func (s *story) allLiveIn(i int, ids []snow.ID) bool {
	return len(ids) == len(s.purchases[i]) && !slices.ContainsFunc(ids, func(id snow.ID) bool {
		return s.homes.Of(id) != i
	})
}

// compare reports whether orders are exactly the orders of the file, each of
// them once, and whether each order has exactly its own lines.
func (s *story) compare(orders []Order) (complete, attached bool) {
	want := make(map[int]Purchase)
	for _, p := range slices.Concat(s.purchases[:]...) {
		want[p.FileLine] = p
	}
	complete, attached = len(orders) == len(want), true
	for _, o := range orders {
		p, ok := want[o.FileLine]
		if !ok {
			complete = false
			continue
		}
		delete(want, o.FileLine)
		complete = complete && o.Buyer == p.Buyer && o.Item == p.Item && o.Cents == p.Cents && o.Time.Equal(p.Time)

		slices.SortFunc(o.Lines, func(x, y OrderLine) int { return cmp.Compare(x.ID, y.ID) })
		var charges []Charge
		for _, l := range o.Lines {
			charges = append(charges, l.Charge)
		}
		attached = attached && slices.Equal(charges, p.charges())
	}
	return complete, attached
}
