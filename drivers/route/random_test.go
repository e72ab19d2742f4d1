//go:build unix

package route_test

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow/route"
)

var (
	statements = flag.Int("statements", 0, "random statements for each number of targets on SQLite, and a sixteenth of them on each server")
	seedFlag   = flag.Uint64("seed", 0, "seed of the random statements")
)

// TestRandom sends random statements to a router and to one database. What the router does not refuse must have
// the same result, and at the end both must have the same rows. It refuses the same ones over 1, 2, 4 and 16
// databases, because the statements do not depend on the number.
func TestRandom(t *testing.T) {
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	for _, product := range []string{"sqlite", "mariadb", "postgres"} {
		t.Run(product, func(t *testing.T) {
			n, targets := 400, []int{4}
			if *statements > 0 {
				n = *statements / 16
			}
			if product == "sqlite" {
				n, targets = max(2000, *statements), []int{1, 2, 4, 16}
			}
			// A world of many statements has many rows, and each statement takes longer: so SQLite has several.
			size := n
			if product == "sqlite" {
				size = min(n, 2000)
			}
			for done := 0; done < n; done += size {
				var before []string
				for _, k := range targets {
					t.Run(fmt.Sprintf("%d/%d", k, seed+uint64(done)), func(t *testing.T) {
						refused := compare(t, product, k, seed+uint64(done), size)
						if before != nil && !slices.Equal(refused, before) {
							t.Errorf("other refusals than over fewer databases: %d, %d", len(refused), len(before))
						}
						before = refused
					})
				}
			}
		})
	}
}

// compare runs n statements over k databases, and shrinks those that fail.
func compare(t *testing.T, product string, k int, seed uint64, n int) (refused []string) {
	t.Helper()
	t.Log("seed", seed, "statements", n)
	all := upTo(n)
	refused, err := random(t, newWorld(t, product, k), seed, n, all)
	if err != nil {
		few := shrink(all, func(keep []int) bool {
			_, err := random(t, newWorld(t, product, k), seed, n, keep)
			return err != nil
		})
		_, again := random(t, newWorld(t, product, k), seed, n, few)
		t.Fatalf("seed %d: %v\nthe statements %v are enough: %v", seed, err, few, again)
	}
	return refused
}

func isRefusal(err error) bool {
	var e *route.Error
	return errors.As(err, &e)
}

// A maker makes random statements about the rows that it has made.
type maker struct {
	*rand.Rand
	users  []User
	buyers []snow.ID
	orders []snow.ID
}

// A step runs on a database and returns what can be compared. Its rows are made before, so both databases get
// the same.
type step struct {
	name string
	run  func(db *gorm.DB) (any, error)
}

// random runs the statements keep of a program, and compares them and then all rows.
func random(t *testing.T, w world, seed uint64, n int, keep []int) (refusals []string, err error) {
	m := &maker{Rand: rand.New(rand.NewPCG(seed, 1))}
	for i := range 12 {
		one := 1 + i%2
		u := User{Name: fmt.Sprint("u", i), Email: fmt.Sprint(i % 3), Orders: []Order{
			{State: "open", Amount: i, Lines: []Line{{Item: "tea", ProductID: &one}, {Item: "cup"}}}, {State: "paid", Amount: 2 * i}, {State: "sent", Amount: 3},
		}}
		check(t, w.db.Create(&u).Error)
		again := u
		check(t, w.oracle.Create(&again).Error)
		m.users = append(m.users, User{ID: u.ID, Name: u.Name, Email: u.Email})
		m.buyers = append(m.buyers, u.ID)
		for _, o := range u.Orders {
			m.orders = append(m.orders, o.ID)
		}
	}
	kinds := make(map[string][2]int)
	for i := range n {
		s := m.step(0) // also if it is not run, so that the next one stays the same
		if _, kept := slices.BinarySearch(keep, i); !kept {
			continue
		}
		got, err := s.run(w.db.Session(&gorm.Session{NewDB: true}))
		count := kinds[s.name]
		if isRefusal(err) {
			refusals = append(refusals, fmt.Sprint(i, s.name))
			count[1]++
			kinds[s.name] = count
			continue
		}
		want, oracleErr := s.run(w.oracle.Session(&gorm.Session{NewDB: true}))
		if fmt.Sprint(err) != fmt.Sprint(oracleErr) || !reflect.DeepEqual(got, want) {
			text, _ := s.run(w.oracle.Session(&gorm.Session{NewDB: true, DryRun: true}))
			return nil, fmt.Errorf("statement %d, %s:\ngot  %+v, %s\nwant %+v, %s\ndry %v", i, s.name, got, fmt.Sprint(err), want, fmt.Sprint(oracleErr), text)
		}
		count[0]++
		kinds[s.name] = count
	}
	var counts []string
	for _, k := range slices.Sorted(maps.Keys(kinds)) {
		counts = append(counts, fmt.Sprintf("%s %d (%d refused)", k, kinds[k][0], kinds[k][1]))
	}
	t.Log(strings.Join(counts, ", "))
	return refusals, same(t, w)
}

func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// shrink returns some of the statements that still fail together, and none of them can be left out.
func shrink(all []int, fails func(keep []int) bool) []int {
	for size := len(all) / 2; size > 0; {
		left := false
		for at := 0; at < len(all); {
			rest := slices.Delete(slices.Clone(all), at, min(at+size, len(all)))
			if fails(rest) {
				all, left = rest, true
			} else {
				at += size
			}
		}
		if !left || size > 1 {
			size /= 2
		}
	}
	return all
}

func TestShrink(t *testing.T) {
	all := upTo(100)
	for _, want := range [][]int{{}, {0}, {99}, {3, 17, 40}, {49, 50}, all[:20]} {
		got := shrink(all, func(keep []int) bool {
			return !slices.ContainsFunc(want, func(i int) bool { return !slices.Contains(keep, i) })
		})
		if !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}

// same compares all rows, and where they are.
func same(t *testing.T, w world) error {
	var users, u []User
	var orders, o []Order
	var lines, l []Line
	for i := range w.shards.Len() {
		db := w.shards.At(uint64(i)).Unscoped().Session(&gorm.Session{})
		var u []User
		var o []Order
		var l []Line
		check(t, errors.Join(db.Find(&u).Error, db.Find(&o).Error, db.Find(&l).Error))
		for _, id := range slices.Concat(ids(u, func(u User) snow.ID { return u.ID }), ids(o, func(o Order) snow.ID { return o.ID }), ids(l, func(l Line) snow.ID { return l.ID })) {
			if w.shards.Index(layout(t).Shard(id)) != i {
				return fmt.Errorf("row %d is in database %d", id, i)
			}
		}
		users, orders, lines = append(users, u...), append(orders, o...), append(lines, l...)
	}
	check(t, errors.Join(w.oracle.Order("id").Find(&u).Error, w.oracle.Unscoped().Order("id").Find(&o).Error, w.oracle.Order("id").Find(&l).Error))
	slices.SortFunc(users, func(a, b User) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(orders, func(a, b Order) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(lines, func(a, b Line) int { return cmp.Compare(a.ID, b.ID) })
	if reflect.DeepEqual(users, u) && reflect.DeepEqual(orders, o) && reflect.DeepEqual(lines, l) {
		return nil
	}
	for i := range min(len(orders), len(o)) {
		if !reflect.DeepEqual(orders[i], o[i]) {
			return fmt.Errorf("got the row %+v, want %+v", orders[i], o[i])
		}
	}
	return fmt.Errorf("the rows differ: %d and %d users, %d and %d orders, %d and %d lines", len(users), len(u), len(orders), len(o), len(lines), len(l))
}

func ids[T any](rows []T, id func(T) snow.ID) (all []snow.ID) {
	for _, r := range rows {
		all = append(all, id(r))
	}
	return all
}

func (m *maker) buyer() snow.ID { return m.buyers[m.IntN(len(m.buyers))] }
func (m *maker) order() snow.ID { return m.orders[m.IntN(len(m.orders))] }
func (m *maker) state() string  { return []string{"open", "paid", "sent"}[m.IntN(3)] }

func (m *maker) some(one func() snow.ID) []snow.ID {
	list := make([]snow.ID, m.IntN(4))
	for i := range list {
		list[i] = one()
	}
	return list
}

// step returns a random statement, or a transaction of some.
func (m *maker) step(depth int) step {
	conditions, scatters := m.chain(), m.IntN(4) == 0
	where := func(db *gorm.DB) *gorm.DB {
		if scatters { // plain databases ignore it
			db = route.Scatter(db)
		}
		return conditions(db)
	}
	affected := func(tx *gorm.DB) (any, error) { return tx.RowsAffected, tx.Error }
	switch k := m.IntN(24); {
	case k < 5:
		return step{"find", func(db *gorm.DB) (any, error) {
			var rows []Order
			err := where(db).Find(&rows).Error
			slices.SortFunc(rows, func(a, b Order) int { return cmp.Compare(a.ID, b.ID) })
			return rows, err
		}}
	case k < 7:
		return step{"first", func(db *gorm.DB) (any, error) {
			var row Order
			err := where(db).First(&row).Error
			return row, err
		}}
	case k < 8:
		return step{"count", func(db *gorm.DB) (any, error) {
			var c int64
			err := where(db.Model(&Order{})).Count(&c).Error
			return c, err
		}}
	case k < 9:
		return step{"pluck", func(db *gorm.DB) (any, error) {
			var amounts []int
			err := where(db.Model(&Order{})).Pluck("amount", &amounts).Error
			slices.Sort(amounts)
			return amounts, err
		}}
	case k < 10 && m.IntN(3) == 0:
		size := 1 + m.IntN(4)
		return step{"batches", func(db *gorm.DB) (any, error) {
			var rows, all []Order
			err := where(db.Session(&gorm.Session{})).FindInBatches(&rows, size, func(_ *gorm.DB, batch int) error {
				all = append(all, rows...)
				if batch > 60 { // GORM goes on forever if the last condition is joined by OR
					return errors.New("enough")
				}
				return nil
			}).Error
			return all, err
		}}
	case k < 10 && m.IntN(2) == 0:
		descending, limit := m.IntN(2) == 0, 1+m.IntN(9)
		return step{"rows", func(db *gorm.DB) (any, error) {
			order := "id"
			if descending {
				order = "orders.id desc"
			}
			var all []Order
			rows, err := where(db.Model(&Order{})).Order(order).Limit(limit).Rows()
			if err != nil {
				return nil, err
			}
			defer rows.Close()
			for rows.Next() {
				var o Order
				if err := db.ScanRows(rows, &o); err != nil {
					return nil, err
				}
				all = append(all, o)
			}
			return all, rows.Err()
		}}
	case k < 10:
		return step{"row", func(db *gorm.DB) (any, error) {
			var sum *int
			err := where(db.Model(&Order{})).Select("sum(amount)").Row().Scan(&sum)
			return sum, err
		}}
	case k < 11:
		limit := 1 + m.IntN(5)
		return step{"preload", func(db *gorm.DB) (any, error) {
			var rows []Order
			err := where(db.Preload("Lines", func(db *gorm.DB) *gorm.DB { return db.Order("id") }).Preload("Lines.Product").Preload("Buyer")).Order("id desc").Limit(limit).Find(&rows).Error
			return rows, err
		}}
	case k < 12:
		return step{"join", func(db *gorm.DB) (any, error) {
			var rows []Order
			err := where(db.Joins("Buyer")).Order("orders.id").Find(&rows).Error
			return rows, err
		}}
	case k < 14:
		amount := m.IntN(20)
		return step{"update", func(db *gorm.DB) (any, error) {
			return affected(where(db.Model(&Order{})).Update("amount", amount))
		}}
	case k < 15:
		buyer := m.buyer()
		return step{"update buyer", func(db *gorm.DB) (any, error) {
			return affected(where(db.Model(&Order{})).Updates(map[string]any{"buyer_id": buyer, "amount": gorm.Expr("amount + 1")}))
		}}
	case k < 16:
		soft, id := m.IntN(3) > 0, m.order()
		return step{"delete", func(db *gorm.DB) (any, error) {
			if soft {
				return affected(where(db).Delete(&Order{ID: id}))
			}
			return affected(where(db.Unscoped()).Where("amount = ?", 19).Delete(&Order{}))
		}}
	case k < 18:
		two := 2
		rows := []Order{{BuyerID: m.buyer(), State: m.state(), Amount: m.IntN(20), Lines: []Line{{Item: "pot", ProductID: &two}}}}
		for range m.IntN(3) {
			rows = append(rows, Order{BuyerID: rows[0].BuyerID, Amount: m.IntN(20)})
		}
		if m.IntN(5) == 0 {
			rows = append(rows, Order{BuyerID: m.buyer()})
		}
		return step{"create", func(db *gorm.DB) (any, error) {
			return affected(db.Create(&rows))
		}}
	case k < 19:
		row := Order{ID: m.order(), State: m.state(), Amount: m.IntN(20)}
		return step{"save", func(db *gorm.DB) (any, error) {
			var stored Order
			if err := db.Unscoped().First(&stored, row.ID).Error; err != nil {
				return nil, err
			}
			stored.State, stored.Amount = row.State, row.Amount
			return affected(db.Unscoped().Save(&stored))
		}}
	case k < 20:
		row := Order{ID: m.order(), BuyerID: m.buyer(), State: m.state(), Amount: m.IntN(20)}
		return step{"upsert", func(db *gorm.DB) (any, error) {
			again := row
			if tx := db.Unscoped().Select("buyer_id").Find(&again); tx.RowsAffected == 0 {
				return nil, tx.Error
			}
			again.State, again.Amount = row.State, row.Amount
			return nil, db.Clauses(clause.OnConflict{UpdateAll: true}).Create(&again).Error
		}}
	case k < 21:
		row := Order{BuyerID: m.buyer(), State: m.state(), Amount: m.IntN(40)}
		if m.IntN(4) == 0 {
			row.BuyerID = 0
		}
		made := make(map[bool]*Order)
		return step{"first or create", func(db *gorm.DB) (any, error) {
			got := Order{}
			if made[true] != nil {
				got.ID = made[true].ID // what the router has made
			}
			tx := db.Where(Order{BuyerID: row.BuyerID, State: row.State, Amount: row.Amount}).Order("id").FirstOrCreate(&got)
			if tx.Error == nil && made[true] == nil {
				made[true] = &got
			}
			return got, tx.Error
		}}
	case k < 22:
		u, amount := m.users[m.IntN(len(m.users))], m.IntN(20)
		row := []Order{{State: "added", Amount: amount}}
		clearing := m.IntN(4) == 0
		return step{"association", func(db *gorm.DB) (any, error) {
			owner := u
			a := db.Model(&owner).Association("Orders")
			if clearing {
				return nil, a.Clear()
			}
			if err := db.Model(&owner).Association("Orders").Append(&row[0]); err != nil {
				return nil, err
			}
			a = db.Model(&owner).Association("Orders")
			return a.Count(), a.Error
		}}
	case depth > 1:
		return m.step(depth)
	}
	var steps []step
	for range 1 + m.IntN(4) {
		steps = append(steps, m.step(depth+1))
	}
	fails := m.IntN(3) == 0
	one, buyer := m.IntN(2) == 0, m.buyer()
	failure := errors.New("undo")
	return step{"transaction", func(db *gorm.DB) (any, error) {
		var results []any
		err := db.Transaction(func(tx *gorm.DB) error {
			for i, s := range steps {
				if one { // most random steps are of another shard
					var rows []Order
					if err := tx.Order("id").Find(&rows, "buyer_id = ?", buyer).Error; err != nil {
						return err
					}
					if i == 0 {
						if err := tx.Create(&[]Order{{ID: 0, BuyerID: buyer, State: "tx"}}).Error; err != nil {
							return err
						}
						if err := tx.Unscoped().Delete(&Order{}, "buyer_id = ? AND state = ?", buyer, "tx").Error; err != nil {
							return err
						}
					}
					results = append(results, rows)
				}
				got, err := s.run(tx)
				if err != nil {
					return err
				}
				results = append(results, got)
			}
			if fails {
				return failure
			}
			return nil
		})
		return results, err
	}}
}
