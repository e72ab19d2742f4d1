package gormsnow_test

import (
	"errors"
	"io"
	"log"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/DATA-DOG/go-sqlmock"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/utils/tests"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
)

// dry returns a database that builds statements and sends none.
func dry(tb testing.TB, src snow.Source) *gorm.DB {
	tb.Helper()
	db := bare(tb)
	if err := db.Use(gormsnow.New(src)); err != nil {
		tb.Fatal(err)
	}
	return db
}

// bare is dry without the plugin.
func bare(tb testing.TB) *gorm.DB {
	tb.Helper()
	db, err := gorm.Open(tests.DummyDialector{}, &gorm.Config{
		DryRun:                 true,
		SkipDefaultTransaction: true,
		Logger:                 logger.New(log.New(io.Discard, "", 0), logger.Config{}),
	})
	if err != nil {
		tb.Fatal(err)
	}
	return db
}

type Order struct {
	ID    snow.ID
	Buyer string
}

func TestUseRefuses(t *testing.T) {
	t.Parallel()
	t.Run("no source", func(t *testing.T) {
		var generator *snow.Generator
		for _, src := range []snow.Source{nil, generator} {
			if err := bare(t).Use(gormsnow.New(src)); !errors.Is(err, gormsnow.ErrNoSource) {
				t.Errorf("Use(New(%#v)) = %v, want ErrNoSource", src, err)
			}
		}
	})
	t.Run("a second plugin", func(t *testing.T) {
		src := newSequence()
		db := dry(t, src)
		if err := db.Use(gormsnow.New(newSequence())); !errors.Is(err, gorm.ErrRegistered) {
			t.Errorf("second Use = %v, want gorm.ErrRegistered", err)
		}
		plugin := gormsnow.New(newSequence())
		one, two := bare(t), bare(t) // one plugin may serve both, but each once
		if err := errors.Join(one.Use(plugin), two.Use(plugin)); err != nil {
			t.Error(err)
		}
		for _, db := range []*gorm.DB{db, one, two} {
			if err := db.Use(plugin); !errors.Is(err, gorm.ErrRegistered) || !strings.HasPrefix(err.Error(), "gormsnow: the database has this plugin") {
				t.Errorf("second Use = %v, want an error that names the plugin", err)
			}
		}
		if err := db.Session(&gorm.Session{}).Use(gormsnow.New(newSequence())); !errors.Is(err, gorm.ErrRegistered) {
			t.Errorf("Use of a session = %v, want gorm.ErrRegistered", err)
		}
		order := Order{}
		if err := db.Create(&order).Error; err != nil || order.ID != 1001 {
			t.Errorf("Create after the second Use: id %d, %v; want 1001", order.ID, err)
		}
		if want := []int{1}; !slices.Equal(src.fills, want) {
			t.Errorf("fills = %v, want %v", src.fills, want)
		}
	})
	t.Run("the callback without the plugin", func(t *testing.T) {
		db := dry(t, newSequence())
		clear(db.Plugins)
		if err := db.Use(gormsnow.New(newSequence())); !errors.Is(err, gorm.ErrRegistered) {
			t.Errorf("Use = %v, want gorm.ErrRegistered", err)
		}
	})
	t.Run("a database without the callbacks to run before", func(t *testing.T) {
		for _, name := range []string{"gorm:before_create", "gorm:create", "gorm:save_after_associations"} {
			db := bare(t)
			if err := db.Callback().Create().Remove(name); err != nil {
				t.Fatal(err)
			}
			if err := db.Use(gormsnow.New(newSequence())); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("Use without %s = %v, want an error that names it", name, err)
			}
		}
	})
	t.Run("a broken callback chain", func(t *testing.T) {
		db := bare(t)
		create := db.Callback().Create()
		conflict := create.After("gorm:create").Before("gorm:before_create").Register("conflict", func(*gorm.DB) {})
		if conflict == nil {
			t.Fatal("want a conflict to start from")
		}
		if err := db.Use(gormsnow.New(newSequence())); err == nil || !strings.HasPrefix(err.Error(), "gormsnow: register gormsnow:assign: ") {
			t.Errorf("Use = %v, want the error of Register", err)
		}
	})
}

func TestPluginsOfConfig(t *testing.T) {
	t.Parallel()
	db, err := gorm.Open(tests.DummyDialector{}, &gorm.Config{
		DryRun:  true,
		Plugins: map[string]gorm.Plugin{"keys": gormsnow.New(newSequence())},
	})
	if err != nil {
		t.Fatal(err)
	}
	var row struct {
		gormsnow.Model
	}
	if err := db.Table("rows").Create(&row).Error; err != nil || row.ID != 1001 {
		t.Errorf("Create: id %d, %v; want 1001", row.ID, err)
	}
}

func TestOnePluginForTwoDatabases(t *testing.T) {
	t.Parallel()
	plugin := gormsnow.New(newSequence())
	var got []snow.ID
	for range 2 {
		db := bare(t)
		if err := db.Use(plugin); err != nil {
			t.Fatal(err)
		}
		order := Order{}
		if err := db.Create(&order).Error; err != nil {
			t.Fatal(err)
		}
		got = append(got, order.ID)
	}
	if want := []snow.ID{1001, 1002}; !slices.Equal(got, want) {
		t.Errorf("ids = %d, want %d", got, want)
	}
}

type hooked struct {
	ID   snow.ID
	seen []snow.ID
}

func (h *hooked) BeforeSave(*gorm.DB) error   { h.seen = append(h.seen, h.ID); return nil }
func (h *hooked) BeforeCreate(*gorm.DB) error { h.seen = append(h.seen, h.ID); return nil }

func TestHooksSeeTheID(t *testing.T) {
	t.Parallel()
	for _, skip := range []bool{true, false} { // it adds and drops callbacks that one could register at
		db, err := gorm.Open(tests.DummyDialector{}, &gorm.Config{DryRun: true, SkipDefaultTransaction: skip})
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Use(gormsnow.New(newSequence())); err != nil {
			t.Fatal(err)
		}
		row := hooked{}
		if err := db.Create(&row).Error; err != nil {
			t.Fatal(err)
		}
		if want := []snow.ID{1001, 1001}; !slices.Equal(row.seen, want) {
			t.Errorf("SkipDefaultTransaction %t: hooks saw %d, want %d", skip, row.seen, want)
		}
	}
}

// wantRefused fails the test if a row of a model is created, or an id is asked for.
func wantRefused(t *testing.T, row any, model, field, reason string) {
	t.Helper()
	src := newSequence()
	db := dry(t, src)
	for range 2 { // analysed, then cached
		wantFieldError(t, db.Table("rows").Create(row), model, field, reason)
	}
	if len(src.fills) != 0 {
		t.Errorf("asked the source for %v", src.fills)
	}
}

// wantFieldError checks that an insert was refused before it built any SQL.
func wantFieldError(t *testing.T, tx *gorm.DB, model, field, reason string) {
	t.Helper()
	var fe *gormsnow.FieldError
	switch {
	case !errors.As(tx.Error, &fe):
		t.Errorf("error %v is no *FieldError", tx.Error)
	case fe.Model != model || fe.Field != field || !strings.Contains(fe.Reason, reason):
		t.Errorf("error is about model %q, field %q: %q; want %q, %q: … %q …", fe.Model, fe.Field, fe.Reason, model, field, reason)
	case tx.Error.Error() != "gormsnow: model "+model+", field "+field+": "+fe.Reason:
		t.Errorf("error reads %q", tx.Error)
	}
	if sql := tx.Statement.SQL.String(); sql != "" {
		t.Errorf("built %q all the same", sql)
	}
}

func TestConcurrentInserts(t *testing.T) {
	t.Parallel()
	const goroutines, inserts = 16, 20
	db := dry(t, newSequence())
	columns := append(make([]string, 0, 8), "Buyer") // has room for more
	shared := db.Select(columns).Session(&gorm.Session{})

	var mu sync.Mutex
	seen := make(map[snow.ID]bool)
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for i := range inserts {
				type local struct{ gormsnow.Model }
				orders := []Order{{}, {}}
				row, entry := local{}, map[string]any{}
				for _, tx := range []*gorm.DB{
					shared.Create(&orders),
					db.Create(&row),
					db.Model(&Order{}).Create(entry),
				} {
					if tx.Error != nil {
						t.Errorf("insert %d: %v", i, tx.Error)
						return
					}
				}
				mu.Lock()
				for _, id := range []snow.ID{orders[0].ID, orders[1].ID, row.ID, entry["id"].(snow.ID)} {
					seen[id] = true
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if spare := columns[:2]; spare[1] != "" {
		t.Errorf("wrote %q into the caller's slice", spare)
	}
	if want := goroutines * inserts * 4; len(seen) != want || seen[0] {
		t.Errorf("%d different ids, want %d and no zero", len(seen), want)
	}
}

// Other plugins may take their place around the callbacks: GORM drops all
// callbacks without an error where it can't sort them.
func TestOtherPlugins(t *testing.T) {
	t.Parallel()
	for _, anchor := range []string{"gormsnow:assign", "gormsnow:verify", "gormsnow:settle"} {
		db, expect := mock(t, newSequence(), &gorm.Config{SkipDefaultTransaction: true})
		var order Order
		var calls []snow.ID
		see := func(*gorm.DB) { calls = append(calls, order.ID) }
		if err := errors.Join(
			db.Callback().Create().Before(anchor).Register("other:before", see),
			db.Callback().Create().After(anchor).Register("other:after", see),
		); err != nil {
			t.Fatal(err)
		}
		expect.ExpectExec("INSERT INTO `orders` (`id`,`buyer`) VALUES (?,?)").WithArgs(1001, "").WillReturnResult(sqlmock.NewResult(0, 1))
		if err := db.Create(&order).Error; err != nil || order.ID != 1001 {
			t.Errorf("%s: id %d, %v; want 1001", anchor, order.ID, err)
		}
		want := []snow.ID{1001, 1001}
		if anchor == "gormsnow:assign" {
			want[0] = 0
		}
		if !slices.Equal(calls, want) {
			t.Errorf("%s: others saw the ids %v, want %v", anchor, calls, want)
		}
	}
}

// GORM writes to the schema of a child while it parses the parent's.
func TestConcurrentAnalysis(t *testing.T) {
	t.Parallel()
	for range 50 {
		db := dry(t, newSequence()) // knows no schema yet
		var wg sync.WaitGroup
		for _, row := range []any{&Cart{}, &Line{}, &Line{}, &Item{}} {
			wg.Go(func() {
				if err := db.Create(row).Error; err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
}

// An insert must cost no more than the making of its ids and their memory.
func TestAllocations(t *testing.T) {
	for _, n := range []int{1, 100} {
		orders := make([]Order, n)
		insert := func(db *gorm.DB) float64 {
			return testing.AllocsPerRun(100, func() {
				clear(orders)
				if err := db.Create(&orders).Error; err != nil {
					t.Fatal(err)
				}
			})
		}
		without, with := insert(bare(t)), insert(dry(t, newSequence()))
		if more := min(n, 2); with > without+float64(more) {
			t.Errorf("%d rows: %v allocations, %v without the plugin; want at most %d more", n, with, without, more)
		}
	}
}
