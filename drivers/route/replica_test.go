//go:build unix

package route_test

import (
	"errors"
	"fmt"
	"testing"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
	"github.com/shardsnow/snow/gormsnow/route"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
)

// TestReplica reads from a server that replicates both databases of a router. While the replication stands still, its
// rows are older, which tells who has answered.
func TestReplica(t *testing.T) {
	primary := dbtest.MariaDB(t, "server-id=1", "log-bin=binlog")
	server := primary.Replica(t)
	worker, err := snow.Fixed(layout(t), 7)
	check(t, err)
	keys, err := snow.NewGenerator(worker, snow.Config{})
	check(t, err)
	open := func(dsn string) *gorm.DB {
		db, err := gorm.Open(mysql.Open(dsn), &gorm.Config{Logger: logger.Discard, DisableForeignKeyConstraintWhenMigrating: true})
		check(t, err)
		pool, err := db.DB()
		check(t, err)
		t.Cleanup(func() { _ = pool.Close() })
		check(t, db.Use(gormsnow.New(keys)))
		return db
	}
	var databases, replicas []*gorm.DB
	for range 2 {
		name := primary.CreateDatabase(t)
		databases = append(databases, open(primary.DSN(name)))
		server.CatchUp(t, primary)
		replicas = append(replicas, open(server.DSN(name)))
	}
	shards, err := snow.NewShards(layout(t), databases...)
	check(t, err)
	check(t, route.MigrateAcross(t.Context(), shards, &User{}, &Order{}, &Line{}, &Product{}))
	db, err := route.New(shards, route.Replicas(replicas[:1], replicas[1:]))
	check(t, err)
	users := make([]User, 2) // one in each database
	for i := 0; users[0].ID == 0 || users[1].ID == 0; i++ {
		u := User{Name: fmt.Sprint("user", i), Email: "old"}
		check(t, db.Create(&u).Error)
		users[shards.Index(layout(t).Shard(u.ID))] = u
	}
	server.CatchUp(t, primary)
	server.Unfollow(t)
	before := server.Position(t)
	for _, u := range users {
		check(t, db.Model(&User{}).Where("id = ?", u.ID).Update("email", "new").Error)
		check(t, db.Create(&Order{BuyerID: u.ID}).Error)
	}

	// emails asks for each user, and counts those with each answer.
	emails := func(db *gorm.DB) map[string]int {
		t.Helper()
		found := make(map[string]int)
		for _, u := range users {
			var again User
			check(t, db.First(&again, "id = ?", u.ID).Error)
			found[again.Email]++
		}
		return found
	}
	replica := route.Replica(db)
	var all []User
	var orders int64
	ids := []snow.ID{users[0].ID, users[1].ID}
	check(t, route.Scatter(replica).Preload("Orders").Order("id").Find(&all, ids).Error)
	check(t, replica.Model(&Order{}).Where("buyer_id IN ?", ids).Count(&orders).Error)
	if len(all) != 2 || all[0].Email != "old" || all[1].Email != "old" || len(all[0].Orders)+len(all[1].Orders) != 0 || orders != 0 {
		t.Errorf("the replicas answer %+v, and a count of %d", all, orders)
	}
	for name, c := range map[string]struct {
		got  map[string]int
		want string
	}{
		"Replica": {emails(replica), "old"},
		"none":    {emails(db), "new"},
		"locking": {emails(replica.Clauses(clause.Locking{Strength: "SHARE"}).Session(&gorm.Session{})), "new"},
	} {
		if c.got[c.want] != 2 {
			t.Errorf("%s: got %v, want %s", name, c.got, c.want)
		}
	}
	for _, u := range users {
		check(t, replica.Transaction(func(tx *gorm.DB) error {
			var again User
			if err := tx.First(&again, "id = ?", u.ID).Error; err != nil || again.Email != "new" {
				t.Errorf("a transaction got %q, %v", again.Email, err)
			}
			return nil
		}))
		for name, write := range map[string]func(db *gorm.DB) error{
			"create": func(db *gorm.DB) error { return db.Create(&Order{BuyerID: u.ID}).Error },
			"update": func(db *gorm.DB) error { return db.Model(&User{ID: u.ID}).Update("email", "x").Error },
			"delete": func(db *gorm.DB) error { return db.Delete(&User{ID: u.ID}).Error },
			"first or create": func(db *gorm.DB) error {
				return db.Where(Order{BuyerID: u.ID, State: "x"}).FirstOrCreate(&Order{}).Error
			},
			"raw": func(db *gorm.DB) error {
				return route.On(db, layout(t).Shard(u.ID)).Exec("UPDATE users SET email = 'x'").Error
			},
		} {
			if err := write(replica); !errors.Is(err, route.ErrReplica) {
				t.Errorf("%s: got %v", name, err)
			}
			if err := replica.Transaction(write); !errors.Is(err, route.ErrReplica) {
				t.Errorf("%s in a transaction: got %v", name, err)
			}
			check(t, db.Transaction(func(tx *gorm.DB) error {
				if err := tx.SavePoint("whole").Error; err != nil {
					return err
				}
				if err := write(tx); err != nil {
					return err
				}
				return tx.RollbackTo("whole").Error
			}))
		}
	}
	if after := server.Position(t); after != before {
		t.Errorf("something was written to the replica: its log went from %s to %s", before, after)
	}
	if got := emails(db); got["new"] != 2 {
		t.Errorf("a write that was refused or rolled back was stored: %v", got)
	}
	server.Refollow(t)
	server.CatchUp(t, primary)
	if got := emails(replica); got["new"] != 2 {
		t.Errorf("after the replication went on: %v", got)
	}

	// A replica that is down is an error. Its database is not asked instead: a program would not see what it costs.
	server.Kill(t)
	r, err := route.RouterOf(db)
	check(t, err)
	sent := r.Stats()
	err = replica.First(&User{}, "id = ?", users[0].ID).Error
	if err == nil || errors.Is(err, gorm.ErrRecordNotFound) || errors.As(err, new(*route.Error)) {
		t.Errorf("got %v, though the replica is down", err)
	}
	var failed *snow.ShardError
	if err := route.Scatter(replica).Find(&all).Error; !errors.As(err, &failed) {
		t.Errorf("got %v, though both replicas are down", err)
	}
	now := r.Stats()
	for i := range now.Databases {
		if now.Databases[i].Statements != sent.Databases[i].Statements {
			t.Errorf("database %d was asked for its replica", i)
		}
	}
	if got := emails(db); got["new"] != 2 {
		t.Errorf("without the replica: %v", got)
	}
}
