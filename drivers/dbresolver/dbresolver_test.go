// Package dbresolver_test runs gormsnow beside gorm.io/plugin/dbresolver, on
// databases that don't replicate, so that it shows which of them was asked.
package dbresolver_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3/gormlite"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"
	"gorm.io/plugin/dbresolver"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
)

type (
	Order struct {
		gormsnow.Model
		Code  string `gorm:"unique"`
		Lines []Line
	}
	Line struct {
		gormsnow.Model
		OrderID snow.ID
		Item    string
	}
)

// A shop has the connection that was opened first, a source and a replica.
type shop struct {
	*gorm.DB
	first, source, replica *gorm.DB // each by itself, without plugins
}

// An order of registration.
type order string

const (
	resolverFirst order = "dbresolver first"
	resolverLast  order = "dbresolver last"
)

func dialector(dir, name string) gorm.Dialector {
	return gormlite.Open("file:" + filepath.Join(dir, name))
}

// openShop opens a shop with a replica of all tables, or only of the given ones.
// The source is the database that was opened first or, if apart, another one.
func openShop(t *testing.T, o order, cfg gorm.Config, apart bool, tables ...any) shop {
	t.Helper()
	dir := t.TempDir()
	open := func(name string, cfg gorm.Config) *gorm.DB {
		cfg.Logger = logger.Discard
		cfg.DisableForeignKeyConstraintWhenMigrating = true
		db, err := gorm.Open(dialector(dir, name), &cfg)
		check(t, err)
		pool, err := db.DB()
		check(t, err)
		t.Cleanup(func() { check(t, pool.Close()) })
		return db
	}
	s := shop{DB: open("first", cfg), first: open("first", gorm.Config{}), replica: open("replica", gorm.Config{})}
	s.source = s.first
	databases := dbresolver.Config{Replicas: []gorm.Dialector{dialector(dir, "replica")}}
	if apart {
		s.source = open("source", gorm.Config{})
		databases.Sources = []gorm.Dialector{dialector(dir, "source")}
	}
	for _, db := range []*gorm.DB{s.first, s.source, s.replica} {
		check(t, db.AutoMigrate(&Order{}, &Line{}))
	}
	worker, err := snow.Fixed(snow.DefaultLayout(), 7)
	check(t, err)
	keys, err := snow.NewGenerator(worker, snow.Config{})
	check(t, err)
	resolver := dbresolver.Register(databases, tables...)
	plugins := []gorm.Plugin{resolver, gormsnow.New(keys)}
	if o == resolverLast {
		slices.Reverse(plugins)
	}
	for _, p := range plugins {
		check(t, s.Use(p))
	}
	t.Cleanup(func() {
		check(t, resolver.Call(func(pool gorm.ConnPool) error { return pool.(*sql.DB).Close() }))
	})
	return s
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// ids returns the keys of a table, ascending.
func ids(t *testing.T, db *gorm.DB, table string) []snow.ID {
	t.Helper()
	ids := []snow.ID{}
	check(t, db.Table(table).Order("id").Pluck("id", &ids).Error)
	return ids
}

// want checks where orders are.
func (s shop) want(t *testing.T, source, first []snow.ID) {
	t.Helper()
	if got := ids(t, s.source, "orders"); !slices.Equal(got, source) {
		t.Errorf("the source has orders %v, want %v", got, source)
	}
	if s.first != s.source {
		if got := ids(t, s.first, "orders"); !slices.Equal(got, first) {
			t.Errorf("the first database has orders %v, want %v", got, first)
		}
	}
	if got := ids(t, s.replica, "orders"); len(got) > 0 {
		t.Errorf("the replica has orders %v", got)
	}
}

func eachOrder(t *testing.T, test func(t *testing.T, o order, cfg gorm.Config)) {
	for _, o := range []order{resolverFirst, resolverLast} {
		for name, cfg := range map[string]gorm.Config{
			"":                              {},
			", SkipDefaultTransaction":      {SkipDefaultTransaction: true},
			", PrepareStmt":                 {PrepareStmt: true},
			", PrepareStmt, no transaction": {PrepareStmt: true, SkipDefaultTransaction: true},
		} {
			t.Run(string(o)+name, func(t *testing.T) { test(t, o, cfg) })
		}
	}
}

func TestWritesGoToTheSource(t *testing.T) {
	eachOrder(t, func(t *testing.T, o order, cfg gorm.Config) {
		s := openShop(t, o, cfg, false)
		one := Order{Code: "one", Lines: []Line{{Item: "tea"}, {Item: "cup"}}}
		check(t, s.Create(&one).Error)
		rows := []Order{{Code: "a"}, {Code: "b"}, {Code: "c"}}
		check(t, s.CreateInBatches(&rows, 2).Error)
		entry := map[string]any{"code": "map"}
		check(t, s.Model(&Order{}).Create(entry).Error)
		generic := Order{Code: "generic"}
		check(t, gorm.G[Order](s.DB).Create(t.Context(), &generic))
		var inner Order
		check(t, s.Transaction(func(tx *gorm.DB) error { return tx.FirstOrCreate(&inner, Order{Code: "inner"}).Error }))

		s.want(t, []snow.ID{one.ID, rows[0].ID, rows[1].ID, rows[2].ID, entry["id"].(snow.ID), generic.ID, inner.ID}, nil)
		if want := []snow.ID{one.Lines[0].ID, one.Lines[1].ID}; !slices.Equal(ids(t, s.source, "lines"), want) {
			t.Errorf("the source has lines %v, want %v", ids(t, s.source, "lines"), want)
		}
	})
}

// Where the source is not the database that was opened first, a Create goes to
// the source, but whatever begins a transaction before it knows the table stays
// with the first database, unless a clause says otherwise.
func TestTransactionsBeginInTheFirstDatabase(t *testing.T) {
	create := func(t *testing.T, db *gorm.DB) (ids []snow.ID) {
		one, batches := Order{Code: "one"}, []Order{{Code: "a"}, {Code: "b"}}
		check(t, db.Transaction(func(tx *gorm.DB) error { return tx.Create(&one).Error }))
		check(t, db.CreateInBatches(&batches, 1).Error)
		return []snow.ID{one.ID, batches[0].ID, batches[1].ID}
	}
	for _, o := range []order{resolverFirst, resolverLast} {
		s := openShop(t, o, gorm.Config{}, true)
		first := create(t, s.DB)
		source := create(t, s.Clauses(dbresolver.Write))
		alone := Order{Code: "alone"}
		check(t, s.Create(&alone).Error)
		s.want(t, append(source, alone.ID), first)
	}
}

// Lines go where their order goes, because a Create is one transaction: resolvers
// of single tables must name all tables that are created together.
func TestChildrenFollowTheirParent(t *testing.T) {
	s := openShop(t, resolverFirst, gorm.Config{}, true, &Order{})
	one := Order{Code: "one", Lines: []Line{{Item: "tea"}}}
	check(t, s.Create(&one).Error)
	alone := Line{OrderID: one.ID}
	check(t, s.Create(&alone).Error)
	s.want(t, []snow.ID{one.ID}, nil)
	if got, want := ids(t, s.source, "lines"), []snow.ID{one.Lines[0].ID}; !slices.Equal(got, want) {
		t.Errorf("the source has lines %v, want %v", got, want)
	}
	if got, want := ids(t, s.first, "lines"), []snow.ID{alone.ID}; !slices.Equal(got, want) {
		t.Errorf("the first database has lines %v, want %v", got, want)
	}
}

// The plugin's query after an insert must not go to a replica, where the new row
// does not exist yet.
func TestSettleAsksTheSource(t *testing.T) {
	eachOrder(t, func(t *testing.T, o order, cfg gorm.Config) {
		for _, apart := range []bool{false, true} {
			s := openShop(t, o, cfg, apart)
			stored := Order{Code: "stored"}
			check(t, s.Create(&stored).Error)
			want := []snow.ID{stored.ID}
			for name, onConflict := range map[string]clause.OnConflict{
				"nothing": {DoNothing: true},
				"update":  {Columns: []clause.Column{{Name: "code"}}, DoUpdates: clause.AssignmentColumns([]string{"updated_at"})},
			} {
				rows := []Order{{Code: name}, {Code: "stored"}}
				check(t, s.Clauses(onConflict).Create(&rows).Error)
				want = append(want, rows[0].ID)
				if rows[1].ID != stored.ID && rows[1].ID != 0 {
					t.Errorf("%s: the row that exists got id %d, want %d or 0", name, rows[1].ID, stored.ID)
				}
			}
			s.want(t, want, nil)
		}
	})
}

// CreateOnce looks for the stored row in the database that it writes to.
func TestCreateOnceAgain(t *testing.T) {
	eachOrder(t, func(t *testing.T, o order, cfg gorm.Config) {
		for _, apart := range []bool{false, true} {
			s := openShop(t, o, cfg, apart)
			db := s.DB
			if apart {
				db = s.Clauses(dbresolver.Write)
			}
			var before Order
			for i := range 2 {
				row := Order{Code: "once"}
				created, err := gormsnow.CreateOnce(db, &row, "Code")
				if err != nil || created != (i == 0) || i == 1 && row.ID != before.ID {
					t.Errorf("call %d: got %v, id %d after %d, %v", i, created, row.ID, before.ID, err)
				}
				before = row
			}
			s.want(t, []snow.ID{before.ID}, nil)
		}
	})
}

// TestMain fails the package where goroutines are left at its end.
func TestMain(m *testing.M) {
	code := m.Run()
	stacks := make([]byte, 1<<20)
	for end := time.Now().Add(time.Minute); code == 0; runtime.Gosched() {
		left := bytes.Split(stacks[:runtime.Stack(stacks, true)], []byte("\n\n"))[1:] // without this one
		left = slices.DeleteFunc(left, func(stack []byte) bool {
			return bytes.Contains(stack, []byte("gorm/internal/lru.")) // GORM never ends it
		})
		if len(left) == 0 {
			break
		}
		if time.Now().After(end) {
			fmt.Printf("goroutines left:\n%s\n", bytes.Join(left, []byte("\n\n")))
			code = 1
		}
	}
	os.Exit(code)
}
