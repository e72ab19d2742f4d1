package route_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"maps"
	"reflect"
	"strings"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/shardsnow/snow/gormsnow/route"
	"github.com/shardsnow/snow/gormsnow/route/meter"
)

func TestStats(t *testing.T) {
	db, fakes := newRouter(t, 4)
	r, err := route.RouterOf(db)
	if err != nil {
		t.Fatal(err)
	}
	errs := errors.Join(
		db.Create(&Order{BuyerID: base + 1}).Error,
		db.Find(&[]Order{}, base+1).Error,
		db.Find(&[]Order{}, in(1, 5)).Error, // one database
		db.Find(&[]Order{}, in(1, 2)).Error,
		route.Scatter(db).Find(&[]Order{}).Error,
		db.Find(&[]Product{}).Error,
		db.Transaction(func(tx *gorm.DB) error {
			return errors.Join(tx.Find(&[]Order{}, base+3).Error, tx.Find(&[]Product{}).Error)
		}),
	)
	if errs != nil {
		t.Fatal(errs)
	}
	for _, err := range []error{
		db.Find(&[]Order{}).Error, db.AutoMigrate(&Order{}), db.Delete(&Order{}, in(1, 5)).Error, db.Model(&Order{ID: base}).Update("buyer_id", base+1).Error,
		route.On(db, 1).Find(&[]Order{}, base).Error,
		db.Transaction(func(tx *gorm.DB) error {
			return errors.Join(tx.Find(&[]Order{}, base+3).Error, tx.Find(&[]Order{}, base+1).Error)
		}),
	} {
		if err == nil {
			t.Error("no error")
		}
	}
	got := r.Stats()
	want := route.Stats{
		Databases: []meter.Database{{Statements: 2}, {Statements: 5}, {Statements: 2}, {Statements: 4}},
		Refused:   map[string]uint64{"unrouted": got.Refused["unrouted"], "spread": 1, "cross_shard": 1, "moves": 1, "mismatch": 1, "replica": 0},
		Scattered: 2, Asked: 6,
	}
	if !reflect.DeepEqual(got, want) || got.Refused["unrouted"] < 2 {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	for i, f := range fakes {
		n := 0
		for _, s := range f.take() {
			if s != "BEGIN" && s != "COMMIT" && s != "ROLLBACK" {
				n++
			}
		}
		if uint64(n) != got.Databases[i].Statements {
			t.Errorf("database %d got %d statements, counted are %d", i, n, got.Databases[i].Statements)
		}
	}
	again, err := route.RouterOf(db.Begin().Session(&gorm.Session{PrepareStmt: true}))
	if err != nil || !maps.Equal(again.Stats().Refused, got.Refused) {
		t.Error(err)
	}
	_, shards := databases(t, 1)
	if _, err := route.RouterOf(shards.At(0)); err == nil || err.Error() != "route: the database is no router: make it with New" {
		t.Error(err)
	}
	if _, err := route.RouterOf(nil); err == nil {
		t.Error("no error")
	}
}

// TestLog reads what GORM's logger, a hook and a driver learn from the context.
func TestLog(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(route.LogHandler(slog.NewTextHandler(&out, nil)))
	_, shards := databases(t, 4, func(c *gorm.Config) {
		c.Logger = logger.NewSlogLogger(log, logger.Config{LogLevel: logger.Info})
	})
	db, err := route.New(shards, route.Global(&Product{}))
	if err != nil {
		t.Fatal(err)
	}
	want := func(what, line string) {
		t.Helper()
		got := strings.Split(strings.TrimSpace(out.String()), "\n")
		if out.Reset(); !strings.Contains(got[len(got)-1], line) {
			t.Errorf("%s: got %q, want %q", what, got, line)
		}
	}
	db.Find(&[]Order{}, base+5)
	want("one", "route.shard=5 route.database=1")
	db.Find(&[]Order{}, in(5, 1))
	want("one database", "route.shards=\"[1 5]\" route.database=1")
	db.Find(&[]Order{}, in(5, 2))
	want("two", "route.shards=\"[2 5]\" route.databases=\"[1 2]\"")
	route.Scatter(db).Find(&[]Order{})
	want("all", "route.shards=all route.databases=\"[0 1 2 3]\"")
	db.Find(&[]Product{})
	want("any", "route.database=0")
	db.Create(&Order{BuyerID: base + 7, Lines: []Line{{Item: "tea"}}})
	want("create", "route.shard=7 route.database=3")
	db.Find(&[]Order{})
	if strings.Contains(out.String(), "route.") {
		t.Errorf("refused: %s", out.String())
	}
	// A statement that is used again has a context of its own, as deep as before.
	tx := db.Model(&Order{}).Where("id = ?", base+5)
	for range 3 {
		tx.Find(&[]Order{})
	}
	depth := 0
	for ctx := tx.Statement.Context; ctx != context.Background() && depth < 10; depth++ {
		v := reflect.ValueOf(ctx)
		if v.Kind() != reflect.Pointer {
			break
		}
		next, ok := v.Elem().FieldByName("Context").Interface().(context.Context)
		if !ok {
			break
		}
		ctx = next
	}
	if a := route.Attr(tx.Statement.Context); depth != 1 || a.String() != "route=[shard=5 database=1]" {
		t.Errorf("depth %d, %s", depth, a)
	}
	if a := route.Attr(t.Context()); !a.Equal(slog.Attr{}) {
		t.Error(a)
	}
	log.WithGroup("g").InfoContext(tx.Statement.Context, "x")
	want("group", "g.route.shard=5")
}

// A replica is in the log, too, and a context's values and end stay what they were.
func TestContext(t *testing.T) {
	db, _, _ := newReplicas(t)
	type key struct{}
	ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "v"))
	tx := route.Replica(db.WithContext(ctx)).Find(&[]Order{}, base)
	if a := route.Attr(tx.Statement.Context); a.String() != "route=[shard=0 database=0 replica=true]" {
		t.Error(a)
	}
	if tx.Statement.Context.Value(key{}) != "v" || tx.Statement.Context.Err() != nil {
		t.Error("another context")
	}
	cancel()
	if err := tx.Find(&[]Order{}).Error; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestExplain(t *testing.T) {
	db, fakes := newRouter(t, 4)
	for _, c := range []struct {
		name  string
		build func(tx *gorm.DB) *gorm.DB
		want  []string
	}{
		{"one", func(tx *gorm.DB) *gorm.DB { return tx.Find(&[]Order{}, "id = ?", base+5) }, []string{"query route_test.Order: database 1, the shard 5 by conditions on ID or BuyerID"}},
		{"several", func(tx *gorm.DB) *gorm.DB { return tx.Find(&[]Order{}, "id IN ?", in(1, 5, 6)) }, []string{"query route_test.Order: databases [1 2], the shards [1 5 6] by conditions on ID or BuyerID"}},
		{"all", func(tx *gorm.DB) *gorm.DB { return route.Scatter(tx).Model(&Order{}).Count(new(int64)) }, []string{"query route_test.Order: databases [0 1 2 3], all shards by Scatter"}},
		{"On", func(tx *gorm.DB) *gorm.DB { return route.On(tx, 6).Exec("UPDATE x") }, []string{"raw: database 2, the shard 6 by On"}},
		{"nothing", func(tx *gorm.DB) *gorm.DB { return tx.Find(&[]Order{}, "id = ? AND id = ?", base, base+1) }, []string{"query route_test.Order: database 0, any, because no row can match"}},
		{"global", func(tx *gorm.DB) *gorm.DB { return tx.Find(&[]Product{}) }, []string{"query route_test.Product: database 0, any, because its rows are in every database"}},
		{"refused", func(tx *gorm.DB) *gorm.DB { return tx.Model(&Order{}).Where("id = ?", base).Update("buyer_id", base+1) }, []string{
			"update route_test.Order: refused: the row would change its shard: it sets BuyerID to a value of the shard 1, and the rows are in the shard 0: delete the row and create another",
		}},
		{"spread", func(tx *gorm.DB) *gorm.DB { return tx.Delete(&Order{}, in(1, 5)) }, []string{
			"delete route_test.Order: refused: several shards: it is about the shards [1 5]: write in each shard on its own, because the writes are not atomic together",
		}},
		{"not merged", func(tx *gorm.DB) *gorm.DB { return tx.Limit(3).Find(&[]Order{}, in(1, 5)) }, []string{
			"query route_test.Order: refused: several shards: it is about the shards [1 5], and a limit needs an order: order by ID",
		}},
		{"scan", func(tx *gorm.DB) *gorm.DB {
			return tx.Model(&Order{}).Select("sum(amount)").Where("id = ?", base).Scan(new(int))
		}, []string{"row route_test.Order: database 0, the shard 0 by conditions on ID or BuyerID"}},
		{"create with rows of its own", func(tx *gorm.DB) *gorm.DB {
			return tx.Create(&Order{BuyerID: base + 7, Lines: []Line{{Item: "tea"}}})
		}, []string{"create route_test.Order: database 3, the shard 7 by ID and BuyerID of the rows", "create route_test.Line: database 3, the shard 7 by ID and OrderID of the rows"}},
		{"a write in a session that reads", func(tx *gorm.DB) *gorm.DB { return route.Replica(tx).Create(&Order{BuyerID: base}) }, []string{
			"create route_test.Order: refused: a write beside a replica: a session of Replica only reads: use one without it",
		}},
	} {
		plan, err := route.Explain(db, c.build)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		var got []string
		for _, e := range plan {
			if got = append(got, e.String()); e.SQL == "" {
				t.Errorf("%s: no SQL", c.name)
			}
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\ngot  %q\nwant %q", c.name, got, c.want)
		}
		if got := take(fakes); len(got) > 0 {
			t.Errorf("%s: sent to %v", c.name, got)
		}
	}
	_, err := route.Explain(db, func(tx *gorm.DB) *gorm.DB { return tx.Create(&Order{}) })
	if err == nil || !strings.HasPrefix(err.Error(), "route: explain: gormsnow: ") {
		t.Error(err)
	}
	_, shards := databases(t, 1)
	if _, err := route.Explain(shards.At(0), func(tx *gorm.DB) *gorm.DB { return tx }); err == nil {
		t.Error("no error")
	}
	// In a transaction that has begun.
	err = db.Transaction(func(tx *gorm.DB) error {
		if err := tx.Find(&[]Order{}, base+5).Error; err != nil {
			return err
		}
		plan, err := route.Explain(tx, func(tx *gorm.DB) *gorm.DB { return tx.Find(&[]Order{}, base+1) })
		if len(plan) != 1 || plan[0].Err == nil || !errors.Is(plan[0].Err, route.ErrCrossShard) {
			t.Error(plan)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// What Explain says is what happens, for all rules.
func TestExplainAgrees(t *testing.T) {
	db, fakes := newRouter(t, 4)
	for _, r := range rules(t) {
		if r.name == "row" || r.name == "row, no shard" {
			continue // GORM returns nil in a dry run
		}
		plan, explained := route.Explain(db, r.run)
		take(fakes)
		err := r.run(db.Session(&gorm.Session{})).Error
		got := take(fakes)
		refused := explained
		var want []uint64
		for _, e := range plan {
			if e.Err != nil {
				refused = errors.Join(refused, e.Err)
			}
			for _, d := range e.Databases {
				want = append(want, uint64(d))
			}
		}
		switch {
		case (err == nil) != (refused == nil):
			t.Errorf("%s: explained %v, then %v", r.name, refused, err)
		case err == nil && !reflect.DeepEqual(got, want):
			t.Errorf("%s: explained %v, then sent to %v", r.name, want, got)
		}
	}
}
