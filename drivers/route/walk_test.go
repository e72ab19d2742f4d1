//go:build unix

package route_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
	"github.com/shardsnow/snow/gormsnow/route"
)

// A Request is unique for its buyer, as in examples/http-orders.
type Request struct {
	ID     snow.ID `gorm:"primaryKey;not null" snow:"shard=Buyer"`
	Buyer  string  `gorm:"type:varchar(64);uniqueIndex:request"`
	Number string  `gorm:"size:64;uniqueIndex:request"`
	Item   string  `gorm:"size:64"`
}

// A Note's hook looks at another shard.
type Note struct {
	ID      snow.ID `gorm:"primaryKey;not null" snow:"shard=BuyerID"`
	BuyerID snow.ID
	Peek    snow.ID `gorm:"-"`
}

// BeforeCreate is a GORM hook.
func (n *Note) BeforeCreate(tx *gorm.DB) error {
	return tx.Find(&[]Order{}, "buyer_id = ?", n.Peek).Error
}

func each(t *testing.T, test func(t *testing.T, w world), options ...func(*gorm.Config)) {
	for _, product := range []string{"sqlite", "mariadb", "postgres"} {
		t.Run(product, func(t *testing.T) {
			w := newWorld(t, product, 4, options...)
			check(t, route.MigrateAcross(t.Context(), w.shards, &Request{}, &Note{}))
			test(t, w)
		})
	}
}

// buyers makes a user in each database.
func buyers(t *testing.T, w world) (all [4]User) {
	for i, missing := 0, 4; missing > 0; i++ {
		u := User{Name: fmt.Sprint("user", i)}
		if at := w.shards.Index(snow.HashShard(u.Name)); all[at].ID == 0 {
			check(t, w.db.Create(&u).Error)
			all[at] = u
			missing--
		}
	}
	return all
}

func walk(t *testing.T, w world) {
	ctx := t.Context()
	users := buyers(t, w)
	a, b := users[0], users[1]
	want := func(err, want error) {
		t.Helper()
		if !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}

	// The plugin looks for rows that an insert has met, in the same database.
	for try := range 2 {
		row := Request{Buyer: a.Name, Number: "7", Item: fmt.Sprint(try)}
		created, err := gormsnow.CreateOnce(w.db, &row, "Buyer", "Number")
		if err != nil || created != (try == 0) || row.Item != "0" {
			t.Error(try, created, row, err)
		}
		row = Request{Buyer: a.Name, Number: "7", Item: "again"}
		check(t, w.db.Clauses(clause.OnConflict{DoNothing: true}).Create(&row).Error)
		var stored Request
		check(t, w.db.First(&stored, "buyer = ? AND number = ?", a.Name, "7").Error)
		if row.ID != stored.ID {
			t.Errorf("the row got the key %d, and the stored one has %d", row.ID, stored.ID)
		}
	}

	// Generics.
	check(t, gorm.G[Order](w.db).Create(ctx, &Order{BuyerID: b.ID, State: "new", Lines: []Line{{Item: "tea"}, {Item: "cup"}}}))
	orders, err := gorm.G[Order](w.db).Where("buyer_id = ?", b.ID).Preload("Lines", nil).Find(ctx)
	if err != nil || len(orders) != 1 || len(orders[0].Lines) != 2 {
		t.Error(orders, err)
	}
	_, err = gorm.G[Order](w.db).Where("state = ?", "new").Update(ctx, "state", "x")
	want(err, route.ErrUnrouted)
	n, err := gorm.G[Order](w.db).Where("buyer_id = ?", b.ID).Update(ctx, "state", "x")
	if n != 1 || err != nil {
		t.Error(n, err)
	}

	// Save of what was loaded with a global row would write that row.
	one := 1
	check(t, w.db.Create(&Line{OrderID: orders[0].ID, Item: "pot", ProductID: &one}).Error)
	var o Order
	check(t, w.db.Preload("Lines.Product").First(&o, orders[0].ID).Error)
	want(w.db.Save(&o).Error, route.ErrUnrouted)
	check(t, w.db.Omit("Lines.Product").Save(&o).Error)

	// A hook and preloads are routed on their own.
	want(w.db.Create(&Note{BuyerID: a.ID, Peek: b.ID}).Error, crossing(w.db))
	check(t, w.db.Create(&Note{BuyerID: a.ID, Peek: a.ID}).Error)
	var all []User
	check(t, w.db.Preload("Orders.Lines").Find(&all, []snow.ID{users[0].ID, users[1].ID, users[2].ID, users[3].ID}).Error)
	if len(all) != 4 {
		t.Error(all)
	}
	if !w.db.SkipDefaultTransaction {
		want(w.db.CreateInBatches(&[]Order{{BuyerID: a.ID}, {BuyerID: b.ID}}, 1).Error, route.ErrCrossShard)
	}

	// Rows of all databases.
	more := []Order{{BuyerID: a.ID}, {BuyerID: b.ID}, {BuyerID: users[2].ID}, {BuyerID: users[3].ID}}
	check(t, route.CreateAcross(w.db, more))
	var count int64
	check(t, route.Scatter(w.db).Model(&Order{}).Count(&count).Error)
	var page []Order
	check(t, route.Scatter(w.db).Clauses(gormsnow.Before(0, 3)).Find(&page).Error)
	if count != 5 || len(page) != 3 || page[0].ID < page[1].ID || page[1].ID < page[2].ID {
		t.Error(count, page)
	}
	var raw []Order
	check(t, route.Scatter(w.db).Raw("SELECT * FROM orders").Scan(&raw).Error)
	if len(raw) != 5 {
		t.Error(raw)
	}
	check(t, route.On(w.db, layout(t).Shard(a.ID)).Raw("SELECT count(*) FROM orders").Scan(&count).Error)
	if count != 1 {
		t.Error(count)
	}

	// A reader that stops early leaves no connection behind: with one for each database, the next would wait for ever.
	for i := range w.shards.Len() {
		pool, err := w.shards.At(uint64(i)).DB()
		check(t, err)
		most := pool.Stats().MaxOpenConnections
		pool.SetMaxOpenConns(1)
		defer pool.SetMaxOpenConns(most)
	}
	for range 20 {
		rows, err := route.Scatter(w.db).Model(&Order{}).Order("id").Rows()
		check(t, err)
		rows.Next()
		check(t, rows.Close())
	}

	// With a database down there are no rows, rather than fewer.
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	want(route.Scatter(w.db.WithContext(ctx)).Find(&all).Error, context.Canceled)
	pool, err := w.shards.At(2).DB()
	check(t, err)
	check(t, pool.Close())
	var down *snow.ShardError
	if err := route.Scatter(w.db).Find(&all).Error; !errors.As(err, &down) || down.Index != 2 {
		t.Error(err)
	}
	check(t, w.db.First(&User{}, a.ID).Error)
}

// crossing is the error for a statement of another shard in the transaction of a write, or nil if writes have none.
func crossing(db *gorm.DB) error {
	if db.SkipDefaultTransaction {
		return nil
	}
	return route.ErrCrossShard
}

func TestWalk(t *testing.T) { each(t, walk) }
func TestWalkPrepared(t *testing.T) {
	each(t, walk, func(c *gorm.Config) { c.PrepareStmt = true })
}

func TestWalkWithoutTransactions(t *testing.T) {
	each(t, walk, func(c *gorm.Config) { c.SkipDefaultTransaction = true })
}

// TestGuarded runs a program that chooses its databases.
func TestGuarded(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		users := buyers(t, w)
		for i := range w.shards.Len() {
			check(t, w.shards.At(uint64(i)).Use(route.Guard(w.shards, i)))
		}
		check(t, route.MigrateAcross(t.Context(), w.shards, &Request{}))
		for i, u := range users {
			db := w.shards.Of(u.ID)
			err := db.Transaction(func(tx *gorm.DB) error {
				if err := tx.Create(&Order{BuyerID: u.ID, Lines: []Line{{Item: "tea"}}}).Error; err != nil {
					return err
				}
				return tx.Transaction(func(tx *gorm.DB) error {
					return tx.Model(&Order{}).Where("buyer_id = ?", u.ID).Update("state", "x").Error
				})
			})
			check(t, err)
			if err := w.shards.At(uint64(i + 1)).Create(&Order{BuyerID: u.ID}).Error; !errors.Is(err, route.ErrCrossShard) {
				t.Error(err)
			}
			row := Request{Buyer: u.Name, Number: "1"}
			for range 2 {
				if _, err := gormsnow.CreateOnce(db, &row, "Buyer", "Number"); err != nil {
					t.Error(err)
				}
				row = Request{Buyer: u.Name, Number: "1"}
				check(t, db.Clauses(clause.OnConflict{DoNothing: true}).Create(&row).Error)
			}
		}
		if _, err := gormsnow.FindAcross[Order](t.Context(), w.shards, gormsnow.After(0, 10)); !errors.Is(err, route.ErrUnrouted) {
			t.Error(err)
		}
		orders, err := gormsnow.FindAcross[Order](t.Context(), w.shards, gormsnow.After(0, 10), route.Scatter)
		if err != nil || len(orders) != 4 {
			t.Error(len(orders), err)
		}
	})
}
