//go:build unix

package sharding_test

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"
	"gorm.io/sharding"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
	"github.com/shardsnow/snow/gormsnow/route"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
)

// A statement is run over shards in several ways, and in one database without shards.
type statement struct {
	text string
	run  func(db *gorm.DB) (any, error)
}

// An outcome of a statement is right if the result and all rows are as in one database.
const (
	right   = "right"
	refused = "refused"
	wrong   = "**wrong**, without an error"
	half    = "**an error, and rows changed**"
	panics  = "**panics**"
)

// A contender is a way to run a statement over shards.
type contender struct {
	db     *gorm.DB
	tables []*gorm.DB // with all rows
	names  []string
}

// buyers have the shards 0 to 3.
func beside(t *testing.T, layout snow.Layout) (buyers [4]int64, rows []Order) {
	t.Helper()
	for buyer, missing := int64(1), 4; missing > 0; buyer++ {
		if at := snow.HashShardInt(buyer) % 4; buyers[at] == 0 {
			buyers[at], missing = buyer, missing-1
		}
	}
	for i := range 12 {
		id, err := layout.WithShard(snow.ID(i+1)<<22, snow.HashShardInt(buyers[i%4]))
		check(t, err)
		rows = append(rows, Order{ID: int64(id), BuyerID: buyers[i%4], Code: fmt.Sprintf("c%02d", i)})
	}
	return buyers, rows
}

func statements(buyers [4]int64, rows []Order) []statement {
	b, b1 := buyers[2], buyers[1]
	id, id1 := rows[2].ID, rows[1].ID // of b and b1
	find := func(where func(*gorm.DB) *gorm.DB) func(*gorm.DB) (any, error) {
		return func(db *gorm.DB) (any, error) {
			var all []Order
			err := where(db).Find(&all).Error
			slices.SortFunc(all, func(a, b Order) int { return cmp.Compare(a.ID, b.ID) })
			return all, err
		}
	}
	write := func(do func(*gorm.DB) *gorm.DB) func(*gorm.DB) (any, error) {
		return func(db *gorm.DB) (any, error) {
			tx := do(db)
			return tx.RowsAffected, tx.Error
		}
	}
	count := func(where func(*gorm.DB) *gorm.DB) func(*gorm.DB) (any, error) {
		return func(db *gorm.DB) (any, error) {
			var n int64
			err := where(db.Model(&Order{})).Count(&n).Error
			return n, err
		}
	}
	fresh := func(buyer int64, code string) *Order { return &Order{BuyerID: buyer, Code: code} }
	return []statement{
		{"`Create` of one row", write(func(db *gorm.DB) *gorm.DB { return db.Create(fresh(b, "new")) })},
		{"`Create` of two rows of one buyer", write(func(db *gorm.DB) *gorm.DB { return db.Create([]*Order{fresh(b, "new"), fresh(b, "new2")}) })},
		{"`Create` of rows of two buyers", write(func(db *gorm.DB) *gorm.DB { return db.Create([]*Order{fresh(b, "new"), fresh(b1, "new2")}) })},
		{"`CreateInBatches`", write(func(db *gorm.DB) *gorm.DB { return db.CreateInBatches([]*Order{fresh(b, "new"), fresh(b, "new2")}, 1) })},
		{"`Create` with `OnConflict{DoNothing}`", write(func(db *gorm.DB) *gorm.DB {
			return db.Clauses(clause.OnConflict{DoNothing: true}).Create(&Order{ID: id, BuyerID: b, Code: "again"})
		})},
		{"`Create` with `OnConflict{UpdateAll}`", write(func(db *gorm.DB) *gorm.DB {
			return db.Clauses(clause.OnConflict{UpdateAll: true}).Create(&Order{ID: id, BuyerID: b, Code: "again"})
		})},
		{"`Save` of a row", write(func(db *gorm.DB) *gorm.DB { return db.Save(&Order{ID: id, BuyerID: b, Code: "saved"}) })},
		{"`First` by key", func(db *gorm.DB) (any, error) {
			var o Order
			err := db.First(&o, "id = ?", id).Error
			return o, err
		}},
		{"`First` by a struct with a key", func(db *gorm.DB) (any, error) {
			o := Order{ID: id}
			err := db.First(&o).Error
			return o, err
		}},
		{"`Take` by buyer and another column", func(db *gorm.DB) (any, error) {
			var o Order
			err := db.Take(&o, "buyer_id = ? AND code = ?", b, "c02").Error
			return o, err
		}},
		{"`Find` by buyer", find(func(db *gorm.DB) *gorm.DB { return db.Where("buyer_id = ?", b) })},
		{"`Find` by a struct", find(func(db *gorm.DB) *gorm.DB { return db.Where(&Order{BuyerID: b}) })},
		{"`Find` by a map", find(func(db *gorm.DB) *gorm.DB { return db.Where(map[string]any{"buyer_id": b}) })},
		{"`Find` by key and buyer", find(func(db *gorm.DB) *gorm.DB { return db.Where("id = ? AND buyer_id = ?", id, b) })},
		{"`Find` by the key of one buyer and another buyer", find(func(db *gorm.DB) *gorm.DB { return db.Where("id = ? AND buyer_id = ?", id, b1) })},
		{"`Find` with `buyer_id IN` of one", find(func(db *gorm.DB) *gorm.DB { return db.Where("buyer_id IN ?", []int64{b}) })},
		{"`Find` with `buyer_id IN` of two", find(func(db *gorm.DB) *gorm.DB { return db.Where("buyer_id IN ?", []int64{b, b1}) })},
		{"`Find` with `id IN` of two", find(func(db *gorm.DB) *gorm.DB { return db.Where("id IN ?", []int64{id, id1}) })},
		{"`Find` with two buyers joined by OR", find(func(db *gorm.DB) *gorm.DB { return db.Where("buyer_id = ? OR buyer_id = ?", b, b1) })},
		{"`Find` with `Or` of another column", find(func(db *gorm.DB) *gorm.DB { return db.Where("buyer_id = ?", b).Or("code = ?", "c01") })},
		{"`Find` with `Not` a buyer", find(func(db *gorm.DB) *gorm.DB { return db.Not("buyer_id = ?", b) })},
		{"`Find` with `id > ?`", find(func(db *gorm.DB) *gorm.DB { return db.Where("id > ?", rows[3].ID) })},
		{"`Find` by code alone", find(func(db *gorm.DB) *gorm.DB { return db.Where("code = ?", "c02") })},
		{"`Find` with a table alias", find(func(db *gorm.DB) *gorm.DB { return db.Table("orders AS o").Where("o.buyer_id = ?", b) })},
		{"`Find` with a subquery", find(func(db *gorm.DB) *gorm.DB {
			return db.Where("buyer_id = ? AND id IN (SELECT MAX(id) FROM orders WHERE buyer_id = ?)", b, b)
		})},
		{"`Find` `FOR UPDATE`", find(func(db *gorm.DB) *gorm.DB {
			return db.Clauses(clause.Locking{Strength: "UPDATE"}).Where("buyer_id = ?", b)
		})},
		{"`Count` by buyer", count(func(db *gorm.DB) *gorm.DB { return db.Where("buyer_id = ?", b) })},
		{"`Count` of everything", count(func(db *gorm.DB) *gorm.DB { return db })},
		{"`Pluck` by buyer", func(db *gorm.DB) (any, error) {
			var all []string
			err := db.Model(&Order{}).Where("buyer_id = ?", b).Order("code").Pluck("code", &all).Error
			return all, err
		}},
		{"`Update` by key", write(func(db *gorm.DB) *gorm.DB { return db.Model(&Order{}).Where("id = ?", id).Update("code", "u") })},
		{"`Updates` of a model", write(func(db *gorm.DB) *gorm.DB {
			o := rows[2]
			return db.Model(&o).Updates(map[string]any{"code": "u"})
		})},
		{"`Update` that gives a row another buyer", write(func(db *gorm.DB) *gorm.DB { return db.Model(&Order{}).Where("id = ?", id).Update("buyer_id", b1) })},
		{"`Update` of all rows", write(func(db *gorm.DB) *gorm.DB {
			return db.Model(&Order{}).Where("1 = 1").Update("code", gorm.Expr("CONCAT(code, 'x')"))
		})},
		{"`Delete` by key", write(func(db *gorm.DB) *gorm.DB { return db.Delete(&Order{}, "id = ?", id) })},
		{"`Delete` by buyer", write(func(db *gorm.DB) *gorm.DB { return db.Delete(&Order{}, "buyer_id = ?", b) })},
		{"`Delete` with `id IN` of two", write(func(db *gorm.DB) *gorm.DB { return db.Delete(&Order{}, "id IN ?", []int64{id, id1}) })},
		{"`Raw` by buyer", func(db *gorm.DB) (any, error) {
			var all []Order
			err := db.Raw("SELECT * FROM orders WHERE buyer_id = ? ORDER BY id", b).Scan(&all).Error
			return all, err
		}},
		{"`Exec` by buyer", write(func(db *gorm.DB) *gorm.DB {
			return db.Exec("UPDATE orders SET code = CONCAT(code, 'x') WHERE buyer_id = ?", b)
		})},
		{"`Transaction` that fails after a `Create`", func(db *gorm.DB) (any, error) {
			failure := errors.New("undo")
			err := db.Transaction(func(tx *gorm.DB) error {
				if err := tx.Create(fresh(b, "new")).Error; err != nil {
					return err
				}
				return failure
			})
			if errors.Is(err, failure) {
				return "undone", nil
			}
			return nil, err
		}},
		{"`FirstOrCreate`", func(db *gorm.DB) (any, error) {
			o := Order{}
			err := db.Where(Order{BuyerID: b, Code: "c02"}).FirstOrCreate(&o).Error
			return o, err
		}},
	}
}

// at returns the table of a buyer's rows. The first one of five is without a suffix.
func (c contender) at(buyer int64) int {
	if len(c.tables) == 1 {
		return 0
	}
	return len(c.tables) - 4 + int(snow.HashShardInt(buyer)%4)
}

// rows returns all rows. One that is in the table of another shard is lost to its buyer, and shows it.
func (c contender) rows(t *testing.T) (all []Order) {
	t.Helper()
	for i, db := range c.tables {
		var some []Order
		check(t, db.Table(c.names[i]).Find(&some).Error)
		for n := range some {
			if c.at(some[n].BuyerID) != i {
				some[n].Code += " in " + c.names[i]
			}
		}
		all = append(all, some...)
	}
	for i := range all {
		if strings.HasPrefix(all[i].Code, "new") {
			all[i].ID = 0 // made by the plugin
		}
	}
	slices.SortFunc(all, func(a, b Order) int { return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Code, b.Code)) })
	return all
}

// TestBeside runs the same statements in three ways, and docs/gorm-sharding.md has the outcomes.
func TestBeside(t *testing.T) {
	server := dbtest.MariaDB(t)
	layout := leavingLayout(t)
	buyers, rows := beside(t, layout)
	open := func(name string) *gorm.DB {
		db, err := gorm.Open(mysql.Open(server.DSN(name)), &gorm.Config{Logger: logger.Discard})
		check(t, err)
		pool, err := db.DB()
		check(t, err)
		t.Cleanup(func() { check(t, pool.Close()) })
		return db
	}
	const columns = " (id BIGINT NOT NULL PRIMARY KEY, buyer_id BIGINT NOT NULL, code VARCHAR(40) UNIQUE)"
	worker, err := snow.Fixed(layout, 1)
	check(t, err)
	keys, err := snow.NewGenerator(worker, snow.Config{})
	check(t, err)

	one := server.CreateDatabase(t)
	oracle := contender{db: open(one), tables: []*gorm.DB{open(one)}, names: []string{"orders"}}
	check(t, oracle.db.Exec("CREATE TABLE orders"+columns).Error)
	check(t, oracle.db.Use(gormsnow.New(keys)))

	split := server.CreateDatabase(t)
	theirs := contender{db: open(split)}
	for _, suffix := range append([]string{""}, suffixes...) {
		plain := open(split)
		check(t, plain.Exec("CREATE TABLE orders"+suffix+columns).Error)
		theirs.tables, theirs.names = append(theirs.tables, plain), append(theirs.names, "orders"+suffix)
	}
	check(t, theirs.db.Use(sharding.Register(sharding.Config{
		ShardingKey:           "buyer_id",
		ShardingSuffixs:       func() []string { return suffixes },
		PrimaryKeyGenerator:   sharding.PKCustom,
		PrimaryKeyGeneratorFn: func(int64) int64 { return 0 },
		ShardingAlgorithm: func(buyer any) (string, error) {
			id, ok := buyer.(int64)
			if !ok {
				return "", fmt.Errorf("buyer_id is a %T, want int64", buyer)
			}
			return suffixes[snow.HashShardInt(id)%4], nil
		},
		ShardingAlgorithmByPrimaryKey: func(id int64) string { return suffixes[layout.Shard(snow.ID(id))] },
	}, "orders")))
	check(t, theirs.db.Use(gormsnow.New(keys)))

	var routed, guarded contender
	for _, c := range []*contender{&routed, &guarded} {
		var databases []*gorm.DB
		for range 4 {
			name := server.CreateDatabase(t)
			db := open(name)
			check(t, db.Exec("CREATE TABLE orders"+columns).Error)
			check(t, db.Use(gormsnow.New(keys)))
			databases = append(databases, db)
			c.tables, c.names = append(c.tables, open(name)), append(c.names, "orders")
		}
		shards, err := snow.NewShards(layout, databases...)
		check(t, err)
		if c == &routed {
			c.db, err = route.New(shards)
			check(t, err)
			continue
		}
		for i, db := range databases {
			check(t, db.Use(route.Guard(shards, i)))
		}
		c.db = shards.At(snow.HashShardInt(buyers[2]))
	}

	fill := func(c contender) {
		t.Helper()
		for i, db := range c.tables {
			check(t, db.Exec("DELETE FROM "+c.names[i]).Error)
		}
		for _, r := range rows {
			at := c.at(r.BuyerID)
			check(t, c.tables[at].Table(c.names[at]).Create(&r).Error)
		}
	}
	var bad [3]int
	table := "| statement | gorm.io/sharding | `route.New` | `At` of one shard, with `route.Guard` |\n|---|---|---|---|\n"
	for _, s := range statements(buyers, rows) {
		fill(oracle)
		was := oracle.rows(t)
		wantResult, wantErr := s.run(oracle.db.Session(&gorm.Session{NewDB: true}))
		wantRows := oracle.rows(t)
		table += "| " + s.text
		for i, c := range []contender{theirs, routed, guarded} {
			fill(c)
			outcome := c.outcome(t, s, was, wantRows, wantResult, wantErr)
			if table += " | " + outcome; outcome != right && outcome != refused {
				bad[i]++
			}
		}
		table += " |\n"
	}
	if n := len(statements(buyers, rows)); n != 40 || bad != [3]int{8, 0, 0} { // README.md and the page say so
		t.Errorf("of %d statements %v went wrong", n, bad)
	}
	page, err := os.ReadFile("../../docs/gorm-sharding.md")
	check(t, err)
	if !strings.Contains(string(page), table) {
		t.Errorf("docs/gorm-sharding.md has another table:\n%s", table)
	}
}

func (c contender) outcome(t *testing.T, s statement, was, wantRows []Order, wantResult any, wantErr error) (outcome string) {
	t.Helper()
	defer func() {
		if recover() != nil {
			outcome = panics
		}
	}()
	got, err := s.run(c.db.Session(&gorm.Session{NewDB: true}))
	now := c.rows(t)
	switch {
	case err == nil && wantErr == nil && reflect.DeepEqual(got, wantResult) && slices.Equal(now, wantRows):
		return right
	case err != nil && slices.Equal(now, was):
		return refused
	case err != nil:
		return half
	}
	return wrong
}
