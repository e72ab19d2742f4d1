package route_test

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
	"github.com/shardsnow/snow/gormsnow/route"
)

func newRouter(t testing.TB, n int) (*gorm.DB, []*fake) {
	t.Helper()
	fakes, shards := databases(t, n)
	db, err := route.New(shards, route.Global(&Product{}))
	if err != nil {
		t.Fatal(err)
	}
	return db, fakes
}

// take returns which databases got statements other than BEGIN and COMMIT.
func take(fakes []*fake) (at []uint64) {
	for i, f := range fakes {
		if slices.ContainsFunc(f.take(), func(s string) bool { return s != "BEGIN" && s != "COMMIT" && s != "ROLLBACK" }) {
			at = append(at, uint64(i))
		}
	}
	return at
}

// TestRules runs the statements through routers over 1, 2, 4 and 16 databases: all refuse the same ones.
func TestRules(t *testing.T) {
	for _, n := range []int{1, 2, 4, 16} {
		db, fakes := newRouter(t, n)
		for _, r := range rules(t) {
			t.Run(r.name, func(t *testing.T) {
				for range 2 { // the second time, the text is known
					err := r.run(db.Session(&gorm.Session{})).Error
					checkRule(t, r, n, take(fakes), err)
				}
			})
		}
	}
}

// checkRule compares what became of a statement, and which of n databases it was sent to.
func checkRule(t *testing.T, r rule, n int, got []uint64, err error) {
	t.Helper()
	switch {
	case r.err != "":
		if err == nil || err.Error() != r.err || len(got) > 0 {
			t.Fatalf("over %d: sent to %v, error %v, want %s", n, got, err, r.err)
		}
	case len(r.want) == 0:
		if err != nil || len(got) != 1 {
			t.Fatalf("over %d: sent to %v, %v", n, got, err)
		}
	case len(r.want) == 1:
		if want := r.want[0] % uint64(n); err != nil || len(got) != 1 || got[0] != want {
			t.Fatalf("over %d: sent to %v, %v, want %d", n, got, err, want)
		}
	default:
		var want []uint64
		for _, s := range r.want {
			want = append(want, s%uint64(n))
		}
		slices.Sort(want)
		if want = slices.Compact(want); err != nil || !slices.Equal(got, want) {
			t.Fatalf("over %d: sent to %v, %v, want %v", n, got, err, want)
		}
	}
}

// TestRefusals has what a router refuses beyond the rules for all databases.
func TestRefusals(t *testing.T) {
	db, fakes := newRouter(t, 4)
	for _, r := range []rule{
		{
			"create in two shards", func(db *gorm.DB) *gorm.DB { return db.Create(&[]Order{{BuyerID: base + 1}, {BuyerID: base + 5}}) }, nil,
			"route: create route_test.Order: several shards: it is about the shards [1 5]: create the rows of each shard on their own, or use CreateAcross",
		},
		{"update in two shards", func(db *gorm.DB) *gorm.DB {
			return db.Model(&Order{}).Where("id IN ?", in(1, 5)).Update("state", "x")
		}, nil, "route: update route_test.Order: several shards: it is about the shards [1 5]: write in each shard on its own, because the writes are not atomic together"},
		{
			"delete in two shards", func(db *gorm.DB) *gorm.DB { return db.Delete(&Order{}, in(1, 5)) }, nil,
			"route: delete route_test.Order: several shards: it is about the shards [1 5]: write in each shard on its own, because the writes are not atomic together",
		},
		{
			"delete in all shards", func(db *gorm.DB) *gorm.DB { return route.Scatter(db).Delete(&Order{}, "state = ?", "x") }, nil,
			"route: delete route_test.Order: several shards: it is about all shards: write in each shard on its own, because the writes are not atomic together",
		},
		{
			"raw in all shards", func(db *gorm.DB) *gorm.DB { return route.Scatter(db).Exec("DELETE FROM orders") }, nil,
			"route: raw: several shards: it is about all shards: write in each shard on its own, because the writes are not atomic together",
		},
		{
			"no tag", func(db *gorm.DB) *gorm.DB { return db.Find(&[]Plain{}, "id = ?", base) }, nil,
			"route: query route_test.Plain: the shard is unknown: it has no shard tag: give its key one, pass it to Global if its rows are in every database, or name the shard with On",
		},
		{
			"write of a global table", func(db *gorm.DB) *gorm.DB { return db.Create(&Product{ID: 1}) }, nil,
			"route: create route_test.Product: the shard is unknown: its rows are in every database: write them in each, with Shards.Each, or in one with On",
		},
		{"prepared, raw", func(db *gorm.DB) *gorm.DB {
			return db.Session(&gorm.Session{PrepareStmt: true}).Exec("DELETE FROM orders")
		}, nil, "route: raw: the shard is unknown: it is raw SQL: name the shard with On"},
		{"AutoMigrate", func(db *gorm.DB) *gorm.DB { _ = db.AddError(db.AutoMigrate(&Order{})); return db }, nil, ""},
		{
			"DB", func(db *gorm.DB) *gorm.DB { _, err := db.DB(); _ = db.AddError(err); return db }, nil,
			"route: connection: the shard is unknown: a router has no connection of its own: use one of its databases, or On for SQL",
		},
		{"Connection", func(db *gorm.DB) *gorm.DB {
			_ = db.AddError(db.Connection(func(*gorm.DB) error { return nil }))
			return db
		}, nil, "route: connection: the shard is unknown: a router has no connection of its own: use one of its databases, or On for SQL"},
		{"another connection", func(db *gorm.DB) *gorm.DB {
			tx := db.Model(&Order{})
			tx.Statement.ConnPool = new(sql.DB) // as dbresolver does
			return tx.Find(&[]Order{}, "id = ?", base)
		}, nil, "route: query: the shard is unknown: its connection is a *sql.DB: is dbresolver in use?"},
	} {
		t.Run(r.name, func(t *testing.T) {
			err := r.run(db.Session(&gorm.Session{NewDB: true})).Error
			if got := take(fakes); err == nil || r.err != "" && err.Error() != r.err || len(got) > 0 {
				t.Fatalf("sent to %v, error %v, want %s", got, err, r.err)
			}
			if e := new(route.Error); !errors.As(err, &e) {
				t.Errorf("%v is no *Error", err)
			}
		})
	}
}

func TestOpen(t *testing.T) {
	_, shards := databases(t, 2)
	if _, err := route.New(nil); err == nil || err.Error() != "route: there are no shards: make them with snow.NewShards" {
		t.Error(err)
	}
	flat, err := snow.NewShards(snow.DefaultLayout(), shards.At(0))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := route.New(flat); err == nil || !strings.Contains(err.Error(), "has no shard bits") {
		t.Error(err)
	}
	if _, err := route.New(shards, route.Global(5)); err == nil || !strings.Contains(err.Error(), "global model int") {
		t.Error(err)
	}
	if err := shards.At(0).Use(route.Guard(shards, 2)); err == nil || err.Error() != "route: guard: there is no database 2 among the shards" {
		t.Error(err)
	}
	// The first database still works by itself.
	if _, err := route.New(shards); err != nil {
		t.Fatal(err)
	}
	if _, err := route.New(shards); err != nil {
		t.Fatal(err)
	}
	if err := shards.At(0).Exec("DELETE FROM orders").Error; err != nil {
		t.Error(err)
	}
}

// A router over guarded databases works, whichever came first.
func TestGuardedRouter(t *testing.T) {
	for _, guardFirst := range []bool{true, false} {
		fakes, shards := databases(t, 2)
		guard := func() {
			for i := range shards.Len() {
				if err := shards.At(uint64(i)).Use(route.Guard(shards, i)); err != nil {
					t.Fatal(err)
				}
			}
		}
		if guardFirst {
			guard()
		}
		db, err := route.New(shards)
		if err != nil {
			t.Fatal(err)
		}
		if !guardFirst {
			guard()
		}
		if err := db.Create(&Order{BuyerID: base + 1}).Error; err != nil || !slices.Equal(take(fakes), []uint64{1}) {
			t.Error(guardFirst, err)
		}
		if err := db.Find(&[]Order{}, in(1, 2)).Error; err != nil || !slices.Equal(take(fakes), []uint64{0, 1}) {
			t.Error(guardFirst, err)
		}
		if err := shards.At(0).Find(&[]Order{}, "id = ?", base+1).Error; !errors.Is(err, route.ErrCrossShard) {
			t.Error(guardFirst, err)
		}
		if err := shards.At(0).Use(route.Guard(shards, 0)); !errors.Is(err, gorm.ErrRegistered) {
			t.Error(err)
		}
	}
}

func TestGlobal(t *testing.T) {
	db, fakes := newRouter(t, 4)
	if err := db.Find(&[]Product{}, "name = ?", "tea").Error; err != nil || len(take(fakes)) != 1 {
		t.Error(err)
	}
	err := db.Transaction(func(tx *gorm.DB) error {
		if err := tx.Find(&[]Order{}, "id = ?", base+2).Error; err != nil {
			return err
		}
		return tx.Find(&[]Product{}).Error
	})
	if got := take(fakes); err != nil || !slices.Equal(got, []uint64{2}) {
		t.Error(got, err)
	}
}

func TestTransactions(t *testing.T) {
	db, fakes := newRouter(t, 4)
	sent := func() (all []string) {
		for i, f := range fakes {
			for _, s := range f.take() {
				if strings.HasPrefix(s, "SAVEPOINT ") {
					s = "SAVEPOINT"
				} else if strings.HasPrefix(s, "ROLLBACK TO ") {
					s = "ROLLBACK TO"
				}
				word, _, _ := strings.Cut(s, " * ")
				all = append(all, strings.Repeat(" ", i)+word)
			}
		}
		return all
	}
	want := func(t *testing.T, statements ...string) {
		t.Helper()
		if got := sent(); !slices.Equal(got, statements) {
			t.Errorf("sent %q, want %q", got, statements)
		}
	}
	find := func(tx *gorm.DB, shard snow.ID) error { return tx.Find(&[]Order{}, "id = ?", base+shard).Error }
	undo := errors.New("undo")
	t.Run("another shard", func(t *testing.T) {
		err := db.Transaction(func(tx *gorm.DB) error {
			if err := find(tx, 1); err != nil {
				return err
			}
			return find(tx, 5) // in the same database
		})
		if !errors.Is(err, route.ErrCrossShard) || err.Error() != "route: query route_test.Order: another shard: the transaction is in the shard 1, and this belongs to the shard 5: use a transaction for each" {
			t.Error(err)
		}
		want(t, " BEGIN", " SELECT", " ROLLBACK")
	})
	t.Run("several shards", func(t *testing.T) {
		err := db.Transaction(func(tx *gorm.DB) error { return tx.Find(&[]Order{}, in(1, 5)).Error })
		if err == nil {
			t.Error("no error")
		}
		want(t)
	})
	t.Run("empty", func(t *testing.T) {
		if err := db.Transaction(func(*gorm.DB) error { return nil }); err != nil {
			t.Error(err)
		}
		want(t)
	})
	t.Run("nested", func(t *testing.T) {
		err := db.Transaction(func(tx *gorm.DB) error {
			err := tx.Transaction(func(tx *gorm.DB) error { return undo }) // before the first statement
			if !errors.Is(err, undo) {
				return err
			}
			err = tx.Transaction(func(tx *gorm.DB) error { return errors.Join(find(tx, 1), undo) })
			if !errors.Is(err, undo) {
				return err
			}
			return find(tx, 1)
		})
		if err != nil {
			t.Error(err)
		}
		want(t, " BEGIN", " SAVEPOINT", " SAVEPOINT", " SELECT", " ROLLBACK TO", " SELECT", " COMMIT")
	})
	t.Run("On", func(t *testing.T) {
		err := route.On(db, 2).Transaction(func(tx *gorm.DB) error {
			return errors.Join(tx.Exec("UPDATE * x").Error, tx.Exec("UPDATE * x").Error, find(tx, 2))
		})
		if err != nil {
			t.Error(err)
		}
		want(t, "  BEGIN", "  UPDATE", "  UPDATE", "  SELECT", "  COMMIT")
	})
	t.Run("by hand", func(t *testing.T) {
		tx := db.Begin()
		err := errors.Join(tx.Error, tx.SavePoint("one").Error, find(tx, 3), tx.RollbackTo("one").Error, tx.Commit().Error)
		if err != nil {
			t.Error(err)
		}
		want(t, "   BEGIN", "   SAVEPOINT", "   SELECT", "   ROLLBACK TO", "   COMMIT")
		if err := tx.Commit().Error; !errors.Is(err, sql.ErrTxDone) {
			t.Error(err)
		}
		if err := find(tx, 3); !errors.Is(err, sql.ErrTxDone) {
			t.Error(err)
		}
		sent()
	})
	t.Run("ended before it began", func(t *testing.T) {
		tx := db.Begin()
		if err := errors.Join(tx.Commit().Error, find(tx, 3)); !errors.Is(err, sql.ErrTxDone) {
			t.Error(err)
		}
		want(t)
	})
	t.Run("SQL in a savepoint's name", func(t *testing.T) {
		tx := db.Begin()
		defer tx.Rollback()
		if err := tx.SavePoint("a; DELETE FROM orders").Error; !errors.Is(err, route.ErrUnrouted) {
			t.Error(err)
		}
		want(t)
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := db.WithContext(ctx).Begin().Error; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		want(t)
	})
	t.Run("reused session", func(t *testing.T) {
		s := route.On(db, 1)
		for range 2 {
			if err := s.Where("state = ?", "x").Find(&[]Order{}).Error; err != nil {
				t.Error(err)
			}
		}
		if got := fakes[1].take(); len(got) != 2 || got[0] != got[1] {
			t.Errorf("%q", got)
		}
	})
}

func TestToSQL(t *testing.T) {
	db, fakes := newRouter(t, 2)
	text := db.ToSQL(func(tx *gorm.DB) *gorm.DB { return tx.Find(&[]Order{}) })
	if text != "SELECT * FROM `orders` WHERE `orders`.`deleted_at` IS NULL" || len(take(fakes)) > 0 {
		t.Error(text)
	}
}

// The first error of a query over several databases ends the others.
func TestScatterFails(t *testing.T) {
	db, fakes := newRouter(t, 4)
	fakes[0].hangs, fakes[1].hangs, fakes[3].hangs = true, true, true
	fakes[2].fails = errors.New("disk full")
	err := route.Scatter(db).Find(&[]Order{}).Error
	var shard *snow.ShardError
	if !errors.As(err, &shard) || shard.Index != 2 || !errors.Is(err, fakes[2].fails) {
		t.Error(err)
	}
	fakes[2].hangs = true
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := route.Scatter(db.WithContext(ctx)).Find(&[]Order{}).Error; !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestCreateAcross(t *testing.T) {
	db, fakes := newRouter(t, 4)
	rows := []Order{{BuyerID: base + 1}, {BuyerID: base + 6}, {BuyerID: base + 5}, {BuyerID: base + 1}}
	if err := route.CreateAcross(db, rows); err != nil {
		t.Fatal(err)
	}
	for i, r := range rows {
		if layout(t).Shard(r.ID) != layout(t).Shard(r.BuyerID) {
			t.Errorf("row %d has the key %d", i, r.ID)
		}
	}
	if got := len(fakes[1].take()); got != 6 || !slices.Equal(take(fakes), []uint64{2}) {
		t.Errorf("database 1 got %d statements", got)
	}
	if err := route.CreateAcross(db, []Order{{State: "x"}}); err == nil ||
		err.Error() != "route: create across: route: create route_test.Order: the shard is unknown: row 0 has neither BuyerID nor ID: set one" {
		t.Error(err)
	}
	if err := route.CreateAcross(db, []*Order{{}}); !errors.Is(err, gorm.ErrInvalidData) {
		t.Error(err)
	}
	if err := route.CreateAcross(db, []Plain{{}}); !errors.Is(err, route.ErrUnrouted) {
		t.Error(err)
	}
	_, shards := databases(t, 1)
	if err := route.CreateAcross(shards.At(0), rows); err == nil || err.Error() != "route: create across: the database is no router: make it with New" {
		t.Error(err)
	}
}

// A callback may change a row after the plugin has looked at it.
func TestMismatch(t *testing.T) {
	fakes, shards := databases(t, 4)
	err := shards.At(0).Callback().Create().After("gormsnow:verify").Before("gorm:create").Register("test:change", func(tx *gorm.DB) {
		if o, ok := tx.Statement.Dest.(*Order); ok {
			o.ID = base + 9
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	db, err := route.New(shards)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Create(&Order{BuyerID: base + 5}).Error
	const want = "route: create route_test.Order: two shards at once: row 0 has ID of the shard 9 and BuyerID of the shard 5: use Layout.WithShard, or leave the key to the plugin"
	if err == nil || err.Error() != want || len(take(fakes)) > 0 {
		t.Error(err)
	}
}

// A soft delete is an update in the shard of the row, and the tag of the embedded model says which that is.
func TestSoftModel(t *testing.T) {
	type Loan struct {
		gormsnow.SoftModel `snow:"shard=BuyerID"`
		BuyerID            snow.ID
	}
	db, fakes := newRouter(t, 4)
	for name, statement := range map[string]func() error{
		"create":        func() error { return db.Create(&Loan{BuyerID: base + 5}).Error },
		"find":          func() error { return db.Find(&[]Loan{}, "id = ?", base+5).Error },
		"delete":        func() error { return db.Delete(&Loan{}, base+5).Error },
		"find by buyer": func() error { return db.Unscoped().Find(&[]Loan{}, "buyer_id = ?", base+5).Error },
	} {
		if err := statement(); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := take(fakes); !slices.Equal(got, []uint64{1}) {
			t.Errorf("%s: sent to %v, want 1", name, got)
		}
	}
	if err := db.Find(&[]Loan{}, "deleted_at IS NULL").Error; !errors.Is(err, route.ErrUnrouted) {
		t.Errorf("no condition on a shard: %v", err)
	}
}
