//go:build unix

package route_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"gorm.io/driver/mysql"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
	"github.com/shardsnow/snow/gormsnow/route"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
)

// A cluster is a router over two servers. The second one fails.
type cluster struct {
	db            *gorm.DB
	shards        *snow.Shards[*gorm.DB]
	second        *dbtest.Server
	here, there   User // in the first and the second database
	postgres      bool
	secondsDBName string
}

var both = []string{"mariadb", "postgres"}

func clusters(t *testing.T, products []string, test func(t *testing.T, c cluster)) {
	for _, product := range products {
		t.Run(product, func(t *testing.T) {
			worker, err := snow.Fixed(layout(t), 7)
			check(t, err)
			keys, err := snow.NewGenerator(worker, snow.Config{})
			check(t, err)
			c := cluster{postgres: product == "postgres"}
			var databases []*gorm.DB
			for range 2 {
				var dialector gorm.Dialector
				if c.postgres {
					c.second = dbtest.Postgres(t)
					c.secondsDBName = c.second.CreateDatabase(t)
					dialector = postgres.Open(c.second.DSN(c.secondsDBName))
				} else {
					c.second = dbtest.MariaDB(t)
					c.secondsDBName = c.second.CreateDatabase(t)
					dialector = mysql.Open(c.second.DSN(c.secondsDBName))
				}
				db, err := gorm.Open(dialector, &gorm.Config{Logger: logger.Discard, DisableForeignKeyConstraintWhenMigrating: true})
				check(t, err)
				pool, err := db.DB()
				check(t, err)
				t.Cleanup(func() { _ = pool.Close() })
				check(t, db.Use(gormsnow.New(keys)))
				databases = append(databases, db)
			}
			c.shards, err = snow.NewShards(layout(t), databases...)
			check(t, err)
			check(t, route.MigrateAcross(t.Context(), c.shards, &User{}, &Order{}, &Line{}, &Product{}))
			c.db, err = route.New(c.shards)
			check(t, err)
			for i := 0; c.here.ID == 0 || c.there.ID == 0; i++ {
				u := User{Name: fmt.Sprint("user", i)}
				check(t, c.db.Create(&u).Error)
				if c.shards.Index(layout(t).Shard(u.ID)) == 0 {
					c.here = u
				} else {
					c.there = u
				}
			}
			test(t, c)
		})
	}
}

// all asks both databases, and reports how many users there are.
func (c cluster) all(ctx context.Context) (int, error) {
	var users []User
	err := route.Scatter(c.db.WithContext(ctx)).Order("id").Find(&users).Error
	return len(users), err
}

// wantFailure fails the test if a query of both databases succeeds although one fails, or has an error of another one.
func (c cluster) wantFailure(ctx context.Context, t *testing.T, cause error) {
	t.Helper()
	n, err := c.all(ctx)
	var shard *snow.ShardError
	if !errors.As(err, &shard) || shard.Index != 1 || n != 0 || cause != nil && !errors.Is(err, cause) {
		t.Errorf("got %d rows and %v, want none and an error of database 1", n, err)
	}
	var count int64
	if err := route.Scatter(c.db.WithContext(ctx)).Model(&User{}).Count(&count).Error; err == nil || count != 0 {
		t.Errorf("got a count of %d, and %v", count, err)
	}
}

// wantFirst checks that statements of the first database work all the same.
func (c cluster) wantFirst(t *testing.T) {
	t.Helper()
	u := c.here
	check(t, c.db.WithContext(t.Context()).First(&User{}, "id = ?", u.ID).Error)
	check(t, c.db.WithContext(t.Context()).Create(&Order{BuyerID: u.ID}).Error)
}

func TestDatabaseDown(t *testing.T) {
	clusters(t, both, func(t *testing.T, c cluster) {
		n, err := c.all(t.Context())
		check(t, err)
		c.second.Kill(t)
		c.wantFailure(t.Context(), t, nil)
		if err := c.db.WithContext(t.Context()).First(&User{}, "id = ?", c.there.ID).Error; err == nil || errors.Is(err, gorm.ErrRecordNotFound) {
			t.Errorf("got %v, though the database is down", err)
		}
		if err := c.db.WithContext(t.Context()).Create(&Order{BuyerID: c.there.ID}).Error; err == nil {
			t.Error("an order was created in a database that is down")
		}
		c.wantFirst(t)
		c.second.Restart(t)
		for { // connections of the pool are broken until each was tried
			if again, err := c.all(t.Context()); err == nil {
				if again != n {
					t.Errorf("got %d users, want %d", again, n)
				}
				break
			}
		}
	})
}

// A database that does not answer holds a query up to the end of its context, and nothing else.
func TestDatabaseHangs(t *testing.T) {
	clusters(t, both, func(t *testing.T, c cluster) {
		_, err := c.all(t.Context())
		check(t, err)
		c.second.Stop(t)
		wait := 300 * time.Millisecond
		for shard := (*snow.ShardError)(nil); wait < time.Minute; wait *= 2 { // on a busy machine the first one may take long, too
			ctx, cancel := context.WithTimeout(t.Context(), wait)
			_, err := c.all(ctx)
			cancel()
			if errors.As(err, &shard) && shard.Index == 1 {
				break
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*wait)
		defer cancel()
		c.wantFailure(ctx, t, context.DeadlineExceeded)
		stacks := make([]byte, 1<<20)
		for each := range strings.SplitSeq(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
			if strings.Contains(each, "snow/gormsnow/route.") && !strings.Contains(each, "TestDatabaseHangs") {
				t.Errorf("a goroutine is left:\n%s", each)
			}
		}
		c.wantFirst(t)
		c.second.Continue(t)
		for { // connections of the pool are broken until each was tried
			if _, err := c.all(t.Context()); err == nil {
				break
			}
		}
	})
}

// A transaction that loses its connection stores nothing, and a later one works.
func TestConnectionLostInTransaction(t *testing.T) {
	clusters(t, both, func(t *testing.T, c cluster) {
		lose := func(tx *gorm.DB) {
			t.Helper()
			own, kill := "SELECT CONNECTION_ID()", "KILL CONNECTION %d"
			if c.postgres {
				own, kill = "SELECT pg_backend_pid()", "SELECT pg_terminate_backend(%d)"
			}
			var id int64
			check(t, route.On(tx, layout(t).Shard(c.there.ID)).Raw(own).Scan(&id).Error)
			check(t, c.shards.At(1).Exec(fmt.Sprintf(kill, id)).Error)
		}
		err := c.db.WithContext(t.Context()).Transaction(func(tx *gorm.DB) error {
			check(t, tx.Create(&Order{BuyerID: c.there.ID, State: "lost"}).Error)
			lose(tx)
			// The driver may notice it at the next statement only.
			return errors.Join(tx.Create(&Order{BuyerID: c.there.ID, State: "lost"}).Error, tx.Create(&Order{BuyerID: c.there.ID, State: "lost"}).Error)
		})
		if err == nil {
			t.Error("a transaction without its connection was committed")
		}
		var n int64
		check(t, c.db.WithContext(t.Context()).Model(&Order{}).Where("buyer_id = ?", c.there.ID).Count(&n).Error)
		if n != 0 {
			t.Errorf("%d orders were stored", n)
		}
		check(t, c.db.WithContext(t.Context()).Transaction(func(tx *gorm.DB) error {
			return tx.Create(&Order{BuyerID: c.there.ID, State: "kept"}).Error
		}))
	})
}

// A database that refuses writes is read, and its error comes back. MariaDB would let an account with all privileges
// write.
func TestDatabaseReadOnly(t *testing.T) {
	clusters(t, []string{"postgres"}, func(t *testing.T, c cluster) {
		check(t, c.shards.At(1).Exec("ALTER DATABASE "+c.secondsDBName+" SET default_transaction_read_only = on").Error)
		pool, err := c.shards.At(1).DB()
		check(t, err)
		pool.SetMaxIdleConns(0) // new connections have the setting
		n, err := c.all(t.Context())
		if err != nil || n == 0 {
			t.Errorf("%d users, %v", n, err)
		}
		if err := c.db.WithContext(t.Context()).Create(&Order{BuyerID: c.there.ID}).Error; err == nil {
			t.Error("an order was stored in a database that can only be read")
		}
		orders := []Order{{BuyerID: c.there.ID}, {BuyerID: c.here.ID}}
		var failed *snow.ShardError
		if err := route.CreateAcross(c.db.WithContext(t.Context()), orders); !errors.As(err, &failed) || failed.Index != 1 {
			t.Errorf("got %v, want an error of database 1", err)
		}
		c.wantFirst(t)
	})
}

// A context that ends while rows arrive ends the query with an error, never with the rows so far.
func TestCancelledScatter(t *testing.T) {
	clusters(t, both, func(t *testing.T, c cluster) {
		for _, u := range []User{c.here, c.there} {
			orders := make([]Order, 2000)
			for i := range orders {
				orders[i] = Order{BuyerID: u.ID, Amount: i}
			}
			check(t, c.db.WithContext(t.Context()).CreateInBatches(&orders, 500).Error)
		}
		ctx, cancel := context.WithCancel(t.Context())
		rows, err := route.Scatter(c.db.WithContext(ctx)).Model(&Order{}).Order("id").Rows()
		check(t, err)
		defer rows.Close()
		n := 0
		for rows.Next() {
			if n++; n == 10 {
				cancel()
			}
		}
		if n < 4000 && !errors.Is(rows.Err(), context.Canceled) {
			t.Errorf("%d rows, and %v", n, rows.Err())
		}
		cancel()
		if n, err := c.all(ctx); !errors.Is(err, context.Canceled) || n != 0 {
			t.Errorf("got %d users and %v", n, err)
		}
		c.wantFirst(t)
	})
}
