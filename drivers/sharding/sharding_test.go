//go:build unix

// Package sharding_test shows what docs/gorm-sharding.md says of
// gorm.io/sharding.
package sharding_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"gorm.io/driver/mysql"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"
	"gorm.io/sharding"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
)

type (
	Order struct {
		ID      int64 `gorm:"primaryKey;autoIncrement:false;snowflake" snow:"shard=BuyerID"`
		BuyerID int64
		Code    string `gorm:"unique"`
	}
	// Typed is an order whose key is a snow.ID.
	Typed struct {
		ID      snow.ID
		BuyerID int64
	}
)

// TableName implements gorm's Tabler.
func (Typed) TableName() string { return "orders" }

// An account counts rows: of the unsharded table, then of each shard.
type account [5]int

type shop struct {
	*gorm.DB
	plain *gorm.DB // without plugins
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (s shop) want(t *testing.T, want account) {
	t.Helper()
	var got account
	for i, suffix := range []string{"", "_0", "_1", "_2", "_3"} {
		check(t, s.plain.Raw("SELECT COUNT(*) FROM orders"+suffix).Scan(&got[i]).Error)
	}
	if got != want {
		t.Errorf("the tables have %v rows, want %v", got, want)
	}
}

func each(t *testing.T, cfg gorm.Config, test func(t *testing.T, s shop)) {
	for _, shardingFirst := range []bool{true, false} {
		t.Run(fmt.Sprintf("MariaDB, sharding first %v", shardingFirst), func(t *testing.T) {
			server := dbtest.MariaDB(t)
			test(t, openShop(t, mysql.Open(server.DSN(server.CreateDatabase(t))), cfg, shardingFirst))
		})
		t.Run(fmt.Sprintf("PostgreSQL, sharding first %v", shardingFirst), func(t *testing.T) {
			server := dbtest.Postgres(t)
			test(t, openShop(t, postgres.Open(server.DSN(server.CreateDatabase(t))), cfg, shardingFirst))
		})
	}
}

func openShop(t *testing.T, dialector gorm.Dialector, cfg gorm.Config, shardingFirst bool) (s shop) {
	t.Helper()
	if cfg.Logger == nil {
		cfg.Logger = logger.Discard
	}
	var err error
	s.plain, err = gorm.Open(dialector, &gorm.Config{Logger: logger.Discard})
	check(t, err)
	pool, err := s.plain.DB()
	check(t, err)
	t.Cleanup(func() { check(t, pool.Close()) })
	cfg.ConnPool = pool
	s.DB, err = gorm.Open(dialector, &cfg)
	check(t, err)
	for _, suffix := range []string{"", "_0", "_1", "_2", "_3"} {
		check(t, s.plain.Exec("CREATE TABLE orders"+suffix+
			" (id BIGINT NOT NULL PRIMARY KEY, buyer_id BIGINT NOT NULL, code VARCHAR(40) UNIQUE)").Error)
	}
	layout, err := snow.NewLayout(snow.DefaultLayout().Epoch(), snow.DefaultLayout().Tick(), snow.Bits{Timestamp: 41, Worker: 8, Sequence: 12, Shard: 2})
	check(t, err)
	worker, err := snow.Fixed(layout, 7)
	check(t, err)
	keys, err := snow.NewGenerator(worker, snow.Config{})
	check(t, err)
	plugins := []gorm.Plugin{sharding.Register(sharding.Config{
		ShardingKey:           "buyer_id",
		ShardingSuffixs:       func() []string { return []string{"_0", "_1", "_2", "_3"} },
		PrimaryKeyGenerator:   sharding.PKCustom,
		PrimaryKeyGeneratorFn: func(int64) int64 { return 0 }, // 0: make none
		ShardingAlgorithm: func(buyer any) (string, error) {
			id, ok := buyer.(int64)
			if !ok {
				return "", fmt.Errorf("buyer_id is a %T, want int64", buyer)
			}
			return fmt.Sprintf("_%d", snow.HashShardInt(id)%4), nil
		},
		ShardingAlgorithmByPrimaryKey: func(id int64) string {
			return fmt.Sprintf("_%d", layout.Shard(snow.ID(id))) // layout has 2 bits of shard
		},
	}, "orders"), gormsnow.New(keys)}
	if !shardingFirst {
		slices.Reverse(plugins)
	}
	for _, p := range plugins {
		check(t, s.Use(p))
	}
	return s
}

// Buyers 6 and 9 are on the shards 0 and 3.
const near, far = int64(6), int64(9)

func TestBothKeysFindTheShard(t *testing.T) {
	each(t, gorm.Config{}, func(t *testing.T, s shop) {
		one := Order{BuyerID: far, Code: "one"}
		check(t, s.Create(&one).Error)
		two := []Order{{BuyerID: near, Code: "two"}, {BuyerID: near, Code: "three"}}
		check(t, s.Create(&two).Error)
		maps := []map[string]any{{"buyer_id": near, "code": "map"}}
		check(t, s.Model(&Order{}).Create(maps).Error)
		s.want(t, account{0, 3, 0, 0, 1})

		var got Order
		if err := s.First(&got, one.ID).Error; err != nil || got != one {
			t.Errorf("by id: got %v, %v, want %v", got, err, one)
		}
		check(t, s.Model(&got).Update("code", "changed").Error)
		got = Order{}
		if err := s.Where("buyer_id = ?", far).First(&got).Error; err != nil || got.ID != one.ID || got.Code != "changed" {
			t.Errorf("by buyer: got %v, %v, want %v", got, err, one)
		}
		check(t, s.Delete(&got).Error)
		check(t, s.Where("buyer_id = ?", near).Delete(&Order{}).Error)
		s.want(t, account{})

		// The dialect is hidden, so nobody can tell a duplicate from other errors.
		for i := range 2 {
			again := Order{ID: one.ID, BuyerID: far, Code: "once"}
			if created, err := gormsnow.CreateOnce(s.DB, &again); created != (i == 0) || (err == nil) != (i == 0) {
				t.Errorf("CreateOnce, call %d: got %v, %v", i, created, err)
			}
		}
		s.want(t, account{0, 0, 0, 0, 1})
	})
}

func TestRefused(t *testing.T) {
	each(t, gorm.Config{}, func(t *testing.T, s shop) {
		if err := s.Create(&[]Order{{BuyerID: near, Code: "a"}, {BuyerID: far, Code: "b"}}).Error; !errors.Is(err, sharding.ErrInsertDiffSuffix) {
			t.Errorf("two shards: got %v", err)
		}
		for _, q := range []*gorm.DB{s.Where("id IN ?", []int64{1, 2}), s.Where("id > ?", 1)} {
			if err := q.Find(&[]Order{}).Error; !errors.Is(err, sharding.ErrMissingShardingKey) {
				t.Errorf("no equal key: got %v", err)
			}
		}
		typed := Typed{BuyerID: near}
		check(t, s.Create(&typed).Error)
		if err := s.Where("buyer_id = ?", near).First(&Typed{}, typed.ID).Error; err == nil {
			t.Error("a snow.ID is taken for an id")
		}
		s.want(t, account{0, 1, 0, 0, 0})
	})
}

func TestUpsertsAreRefusedAfterwards(t *testing.T) {
	each(t, gorm.Config{}, func(t *testing.T, s shop) {
		stored := Order{BuyerID: near, Code: "one"}
		check(t, s.Create(&stored).Error)
		again := Order{BuyerID: near, Code: "one"}
		err := s.Clauses(clause.OnConflict{DoNothing: true}).Create(&again).Error
		if !errors.Is(err, sharding.ErrMissingShardingKey) {
			t.Errorf("got %v, id %d", err, again.ID)
		}
		if s.Name() == "mysql" {
			s.want(t, account{1, 1, 0, 0, 0}) // the statement went to the unsharded table
		} else {
			s.want(t, account{0, 1, 0, 0, 0})
		}
	})
}

func TestTransactions(t *testing.T) {
	each(t, gorm.Config{}, func(t *testing.T, s shop) {
		late := errors.New("late")
		err := s.Transaction(func(tx *gorm.DB) error {
			return errors.Join(tx.Create(&Order{BuyerID: near}).Error, late)
		})
		if !errors.Is(err, late) {
			t.Error(err)
		}
		s.want(t, account{})
		check(t, s.Callback().Create().Before("gorm:commit_or_rollback_transaction").Register("late", func(db *gorm.DB) { _ = db.AddError(late) }))
		if err := s.Create(&Order{BuyerID: near}).Error; !errors.Is(err, late) {
			t.Error(err)
		}
		s.want(t, account{0, 1, 0, 0, 0}) // the callback of a Create does nothing
	})
}

func TestPreparedStatementsAreNotSharded(t *testing.T) {
	each(t, gorm.Config{PrepareStmt: true}, func(t *testing.T, s shop) {
		check(t, s.Create(&Order{BuyerID: near}).Error)
		s.want(t, account{1, 0, 0, 0, 0})
	})
}
