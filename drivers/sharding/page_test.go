//go:build unix

package sharding_test

import (
	"fmt"
	"log"

	"gorm.io/gorm"
	"gorm.io/sharding"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
)

// The code of docs/gorm-sharding.md as it stands there.
func Example() {
	var (
		db     *gorm.DB
		keys   *snow.Generator
		layout snow.Layout
	)
	check := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}

	type Order struct {
		ID      int64 `gorm:"primaryKey;autoIncrement:false;snowflake" snow:"shard=BuyerID"`
		BuyerID int64
	}

	check(db.Use(sharding.Register(sharding.Config{
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
	}, "orders")))
	check(db.Use(gormsnow.New(keys)))
	_ = Order{}
}
