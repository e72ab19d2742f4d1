package route_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"gorm.io/gorm"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow/route"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// An order is in the shard of its buyer, so its key and its buyer both tell the database.
func Example() {
	databases, layout := exampleDatabases(), exampleLayout()
	id, buyer := snow.ID(1<<40+5), snow.ID(1<<41+5) // both have the shard 5
	order, orders := Order{ID: id, BuyerID: buyer, State: "open"}, []Order(nil)

	shards, err := snow.NewShards(layout, databases...) // each a *gorm.DB with db.Use(gormsnow.New(generator))
	check(err)
	db, err := route.New(shards, route.Global(&Product{}))
	check(err)
	db.Create(&order)
	db.First(&order, "id = ?", id)
	db.Where("buyer_id = ? AND (state = ? OR amount > ?)", buyer, "open", 100).Find(&orders)

	fmt.Println(db.Find(&orders, "state = ?", "open").Error)
	// Output:
	// route: query route_test.Order: the shard is unknown: no condition on ID or BuyerID with = or IN holds for all its rows: add one, or name the shard with On, or ask all shards with Scatter
}

// A mistake is an error of the statement, not of New.
func ExampleNew() {
	_, err := route.New(exampleShards(), route.Global("products"))
	fmt.Println(err)
	db, err := route.New(exampleShards())
	check(err)
	order := Order{BuyerID: 1<<40 + 5}
	fmt.Println(db.Create(&order).Error)
	fmt.Println(db.Model(&order).Update("buyer_id", snow.ID(1<<40+6)).Error)
	// Output:
	// route: global model string: unsupported data type: products
	// <nil>
	// route: update route_test.Order: the row would change its shard: it sets BuyerID to a value of the shard 6, and the rows are in the shard 5: delete the row and create another
}

// The products are the same in every database, so any of them answers.
func ExampleGlobal() {
	db, err := route.New(exampleShards(), route.Global(&Product{}))
	check(err)
	fmt.Println(db.Find(&[]Product{}).Error)
	fmt.Println(db.Create(&Product{ID: 1, Name: "tea"}).Error)
	// Output:
	// <nil>
	// route: create route_test.Product: the shard is unknown: its rows are in every database: write them in each, with Shards.Each, or in one with On
}

func ExampleCreateAcross() {
	db, err := route.New(exampleShards())
	check(err)
	orders := []Order{{BuyerID: 1<<40 + 5}, {BuyerID: 1<<40 + 6}}
	fmt.Println(db.Create(&orders).Error)
	fmt.Println(route.CreateAcross(db, orders))
	// Output:
	// route: create route_test.Order: several shards: it is about the shards [5 6]: create the rows of each shard on their own, or use CreateAcross
	// <nil>
}

func ExampleMigrateAcross() {
	check(route.MigrateAcross(context.Background(), exampleShards(), &User{}, &Order{}, &Line{}, &Product{}))
}

// A program that chooses the database itself is told when it chooses the wrong one.
func ExampleGuard() {
	databases := exampleDatabases()
	shards, err := snow.NewShards(exampleLayout(), databases...)
	check(err)
	for i, db := range databases {
		check(db.Use(route.Guard(shards, i)))
	}
	buyer := snow.ID(1<<40 + 5)
	fmt.Println(shards.Of(buyer).Find(&[]Order{}, "buyer_id = ?", buyer).Error)
	fmt.Println(databases[0].Find(&[]Order{}, "buyer_id = ?", buyer).Error)
	// Output:
	// <nil>
	// route: query route_test.Order: another shard: it belongs to the shard 5 in database 1, and this is database 0: use Shards.Of or At
}

func ExampleOn() {
	db, err := route.New(exampleShards())
	check(err)
	buyer := "ann"
	err = route.On(db, snow.HashShard(buyer)).Transaction(func(tx *gorm.DB) error {
		return tx.Exec("UPDATE users SET email = lower(email) WHERE name = ?", buyer).Error
	})
	fmt.Println(err)
	fmt.Println(db.Exec("UPDATE users SET email = lower(email)").Error)
	// Output:
	// <nil>
	// route: raw: the shard is unknown: it is raw SQL: name the shard with On
}

func ExampleScatter() {
	db, err := route.New(exampleShards())
	check(err)
	var orders []Order
	fmt.Println(route.Scatter(db).Where("state = ?", "open").Order("id desc").Limit(20).Find(&orders).Error)
	fmt.Println(route.Scatter(db).Where("state = ?", "open").Order("state").Find(&orders).Error)
	// Output:
	// <nil>
	// route: query route_test.Order: several shards: it is about all shards, and state is neither a number nor a time, and databases sort others by rules of their own: order by ID, or sort the rows
}

// New fails if a model has no shard. Baskets have a table of products, in the shards of the baskets.
func ExampleModels() {
	_, err := route.New(exampleShards(), route.Models(&Plain{}))
	fmt.Println(err)
	db, err := route.New(exampleShards(), route.Global(&Product{}), route.Models(&Basket{}))
	check(err)
	basket := Basket{ID: 1<<40 + 5}
	fmt.Println(db.Model(&basket).Association("Products").Find(&[]Product{}))
	// Output:
	// route: model route_test.Plain has no shard tag: give its key one, or pass it to Global if its rows are in every database
	// <nil>
}

// The list of orders may be some seconds old; nothing is written after it.
func ExampleReplica() {
	replicas := exampleDatabases()
	db, err := route.New(exampleShards(), route.Replicas(replicas[0:1], replicas[1:2], replicas[2:3], replicas[3:4]))
	check(err)
	list := route.Replica(db)
	fmt.Println(list.Where("buyer_id = ?", snow.ID(1<<40+5)).Order("id desc").Limit(50).Find(&[]Order{}).Error)
	fmt.Println(list.Create(&Order{BuyerID: 1<<40 + 5}).Error)
	// Output:
	// <nil>
	// route: create route_test.Order: a write beside a replica: a session of Replica only reads: use one without it
}

// Database 0 has two replicas, which answer in turn, and database 1 has none.
func ExampleReplicas() {
	dbs := exampleDatabases()
	shards, err := snow.NewShards(exampleLayout(), dbs[0], dbs[1])
	check(err)
	_, err = route.New(shards, route.Replicas([]*gorm.DB{dbs[2], dbs[3]}, nil))
	fmt.Println(err)
	// Output: <nil>
}

func ExampleRouterOf() {
	db, err := route.New(exampleShards())
	check(err)
	db.Find(&[]Order{}, "id = ?", snow.ID(1<<40+5))
	route.Scatter(db).Find(&[]Order{})
	db.Find(&[]Order{})
	router, err := route.RouterOf(db)
	check(err)
	s := router.Stats()
	fmt.Println(s.Databases[1].Statements, s.Scattered, s.Asked, s.Refused["unrouted"])
	// Output: 2 1 4 1
}

func ExampleExplain() {
	db, err := route.New(exampleShards())
	check(err)
	ids := []snow.ID{1<<40 + 5, 1<<40 + 6}
	plan, err := route.Explain(db, func(tx *gorm.DB) *gorm.DB { return tx.Find(&[]Order{}, "id IN ?", ids) })
	fmt.Println(plan, err)
	plan, err = route.Explain(db, func(tx *gorm.DB) *gorm.DB { return tx.Delete(&Order{}, "id IN ?", ids) })
	fmt.Println(plan, err)
	// Output:
	// [query route_test.Order: databases [1 2], the shards [5 6] by conditions on ID or BuyerID] <nil>
	// [delete route_test.Order: refused: several shards: it is about the shards [5 6]: write in each shard on its own, because the writes are not atomic together] <nil>
}

// A query's context says where it went. GORM's logger has it, and so have hooks.
func ExampleLogHandler() {
	log := slog.New(route.LogHandler(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})))
	db, err := route.New(exampleShards())
	check(err)
	tx := db.Find(&[]Order{}, "id = ?", snow.ID(1<<40+5))
	log.InfoContext(tx.Statement.Context, "found")
	// Output: level=INFO msg=found route.shard=5 route.database=1
}

func ExampleAttr() {
	db, err := route.New(exampleShards())
	check(err)
	tx := db.Find(&[]Order{}, "id = ?", snow.ID(1<<40+5))
	fmt.Println(route.Attr(tx.Statement.Context))
	// Output: route=[shard=5 database=1]
}
