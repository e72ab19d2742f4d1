package route_test

import (
	"database/sql"
	"errors"
	"slices"
	"strings"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow/route"
)

// newReplicas returns a router over two databases with two replicas each.
func newReplicas(t *testing.T) (db *gorm.DB, primaries, replicas []*fake) {
	t.Helper()
	primaries, shards := databases(t, 2)
	replicas, dbs, err := fakeDatabases(generator(t), 4, func(pool *sql.DB) { t.Cleanup(func() { pool.Close() }) })
	if err != nil {
		t.Fatal(err)
	}
	db, err = route.New(shards, route.Global(&Product{}), route.Replicas(dbs[:2], dbs[2:]))
	if err != nil {
		t.Fatal(err)
	}
	return db, primaries, replicas
}

// TestReplicas has what a session of Replica may ask a replica, and what not.
func TestReplicas(t *testing.T) {
	db, primaries, replicas := newReplicas(t)
	for _, r := range []struct {
		name               string
		run                func(db *gorm.DB) error
		primaries, replica []uint64
	}{
		{"find", func(db *gorm.DB) error { return db.Find(&[]Order{}, base+1).Error }, nil, []uint64{2}},
		{"in turn", func(db *gorm.DB) error {
			return errors.Join(db.Find(&[]Order{}, base+1).Error, db.Find(&[]Order{}, base+3).Error)
		}, nil, []uint64{2, 3}},
		{"count", func(db *gorm.DB) error { return db.Model(&Order{}).Where("id = ?", base).Count(new(int64)).Error }, nil, []uint64{0}},
		{"row", func(db *gorm.DB) error {
			return ignoreNoRows(db.Model(&Order{}).Select("max(amount)").Where("id = ?", base).Row().Scan(new(int)))
		}, nil, []uint64{1}},
		{"global", func(db *gorm.DB) error { return db.Find(&[]Product{}).Error }, nil, []uint64{0}},
		{"several", func(db *gorm.DB) error { return db.Find(&[]Order{}, in(1, 2)).Error }, nil, []uint64{1, 3}},
		{"scatter", func(db *gorm.DB) error { return route.Scatter(db).Find(&[]Order{}).Error }, nil, []uint64{0, 2}},
		{"raw", func(db *gorm.DB) error { return route.On(db, 1).Raw("SELECT 1 FROM x").Scan(&[]Order{}).Error }, nil, []uint64{3}},
		{"On before it", func(db *gorm.DB) error {
			return route.Replica(route.On(db, 1)).Raw("SELECT 1 FROM x").Scan(&[]Order{}).Error
		}, nil, []uint64{2}},
		{"preload", func(db *gorm.DB) error { return db.Preload("Lines").Find(&[]Order{}, base).Error }, nil, []uint64{1}},
		{"dry run", func(db *gorm.DB) error { return db.Session(&gorm.Session{DryRun: true}).Find(&[]Order{}, base).Error }, nil, nil},

		{"locking", func(db *gorm.DB) error {
			return db.Clauses(clause.Locking{Strength: "UPDATE"}).Find(&[]Order{}, base).Error
		}, []uint64{0}, nil},
		{"locking raw", func(db *gorm.DB) error {
			return route.On(db, 0).Raw("SELECT 1 FROM x LOCK IN SHARE MODE").Scan(&[]Order{}).Error
		}, []uint64{0}, nil},
		{"raw write", func(db *gorm.DB) error {
			return route.On(db, 0).Raw("UPDATE x SET a = 1 RETURNING id").Scan(&[]Order{}).Error
		}, []uint64{0}, nil},
		{"raw write in front", func(db *gorm.DB) error {
			return route.On(db, 0).Raw("WITH d AS (DELETE FROM x RETURNING id) SELECT id FROM d").Scan(&[]Order{}).Error
		}, []uint64{0}, nil},
		{"raw, two queries", func(db *gorm.DB) error {
			return route.On(db, 0).Raw("SELECT 1 FROM x UNION TABLE y").Scan(&[]Order{}).Error
		}, []uint64{0}, nil},
		{"raw into", func(db *gorm.DB) error { return route.On(db, 0).Raw("SELECT 1 INTO @x").Scan(&[]Order{}).Error }, []uint64{0}, nil},
		{"raw, two statements", func(db *gorm.DB) error {
			return route.On(db, 0).Raw("SELECT 1 FROM x; DELETE FROM x").Scan(&[]Order{}).Error
		}, []uint64{0}, nil},
		{"transaction", func(db *gorm.DB) error {
			return db.Transaction(func(tx *gorm.DB) error {
				return errors.Join(tx.Find(&[]Product{}).Error, tx.Find(&[]Order{}, base).Error, route.Replica(tx).Find(&[]Order{}, base).Error)
			})
		}, []uint64{0}, nil},
		{"prepared transaction", func(db *gorm.DB) error {
			return db.Session(&gorm.Session{PrepareStmt: true}).Transaction(func(tx *gorm.DB) error { return tx.Find(&[]Order{}, base).Error })
		}, []uint64{0}, nil},
		{"prepared", func(db *gorm.DB) error {
			return db.Session(&gorm.Session{PrepareStmt: true}).Find(&[]Order{}, base).Error
		}, nil, []uint64{0}},
	} {
		t.Run(r.name, func(t *testing.T) {
			err := r.run(route.Replica(db.Session(&gorm.Session{})))
			if got, also := take(primaries), take(replicas); err != nil || !slices.Equal(got, r.primaries) || !slices.Equal(also, r.replica) {
				t.Errorf("%v, databases %v, replicas %v", err, got, also)
			}
		})
	}
	if err := db.Find(&[]Order{}, base).Error; err != nil || len(take(replicas)) > 0 || len(take(primaries)) != 1 {
		t.Error("a replica was asked that nobody wanted")
	}
	if err := db.Scopes(route.Replica).Find(&[]Order{}, base).Error; err != nil || len(take(replicas)) != 1 {
		t.Error(err)
	}
}

// TestWritesReachNoReplica runs every statement of the rules that writes.
func TestWritesReachNoReplica(t *testing.T) {
	db, primaries, replicas := newReplicas(t)
	refused := 0
	for _, r := range rules(t) {
		_ = r.run(route.Replica(db.Session(&gorm.Session{}))).Error
		for i, f := range replicas {
			for _, s := range f.take() {
				if !strings.HasPrefix(s, "SELECT") || strings.Contains(s, "FOR UPDATE") {
					t.Errorf("%s: replica %d got %s", r.name, i, s)
				}
			}
		}
		for i, f := range primaries {
			for _, s := range f.take() {
				if s != "BEGIN" && s != "ROLLBACK" && s != "COMMIT" && !strings.Contains(s, "FOR UPDATE") {
					t.Errorf("%s: database %d got %s", r.name, i, s)
				}
			}
		}
	}
	replica := route.Replica(db)
	for name, write := range map[string]func() error{
		"create": func() error { return replica.Create(&Order{BuyerID: base}).Error },
		"save":   func() error { return replica.Save(&Order{ID: base, BuyerID: base}).Error },
		"update": func() error { return replica.Model(&Order{ID: base}).Update("state", "x").Error },
		"delete": func() error { return replica.Delete(&Order{ID: base}).Error },
		"exec":   func() error { return route.On(replica, 0).Exec("UPDATE x").Error },
		"first or create": func() error {
			return replica.Where(Order{BuyerID: base}).FirstOrCreate(&Order{}).Error
		},
		"in a transaction": func() error {
			return replica.Transaction(func(tx *gorm.DB) error { return tx.Create(&Order{BuyerID: base}).Error })
		},
	} {
		err := write()
		var e *route.Error
		if !errors.As(err, &e) || !errors.Is(err, route.ErrReplica) || e.Reason != "a session of Replica only reads: use one without it" {
			t.Errorf("%s: %v", name, err)
		}
		if take(primaries) != nil {
			t.Errorf("%s was sent", name)
		}
		take(replicas)
		refused++
	}
	r, err := route.RouterOf(db)
	if err != nil || int(r.Stats().Refused["replica"]) < refused {
		t.Error(err)
	}
}

func TestReplicasOpen(t *testing.T) {
	_, shards := databases(t, 2)
	_, dbs, err := fakeDatabases(generator(t), 1, func(pool *sql.DB) { t.Cleanup(func() { pool.Close() }) })
	if err != nil {
		t.Fatal(err)
	}
	other := &gorm.DB{Config: &gorm.Config{Dialector: sqliteName{dbs[0].Dialector}}}
	for want, lists := range map[string][][]*gorm.DB{
		"": {dbs, nil},
		"route: there are replicas for 1 databases, and 2 databases: give each a list, or an empty one": {dbs},
		"route: replica 0 of database 1 is nil":                                                         {nil, {nil}},
		"route: replica 0 of database 0 has the dialect sqlite, and database 0 has mysql":               {{other}, nil},
	} {
		if _, err := route.New(shards, route.Replicas(lists...)); (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	// A replica that fails is an error.
	db, _, replicas := newReplicas(t)
	replicas[0].fails = errors.New("gone")
	if err := route.Replica(db).Find(&[]Order{}, base).Error; !errors.Is(err, replicas[0].fails) {
		t.Error(err)
	}
	var shard *snow.ShardError
	replicas[1].fails = replicas[0].fails
	if err := route.Scatter(route.Replica(db)).Find(&[]Order{}).Error; !errors.As(err, &shard) || shard.Index != 0 {
		t.Error(err)
	}
}

type sqliteName struct{ gorm.Dialector }

func (sqliteName) Name() string { return "sqlite" }
