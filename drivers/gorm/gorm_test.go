//go:build unix

package gorm_test

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ncruces/go-sqlite3/gormlite"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/internal/testkit/gormtest"
)

func TestMain(m *testing.M) { gormtest.Main(m) }

func openSQLite(tb testing.TB, cfg *gorm.Config) *gorm.DB {
	tb.Helper()
	file := filepath.Join(tb.TempDir(), "snow.db")
	return gormtest.OpenWith(tb, gormlite.Open("file:"+file+"?_txlock=immediate&_pragma=busy_timeout(600000)&_pragma=journal_mode(wal)&_pragma=synchronous(off)"), cfg)
}

func TestSQLite(t *testing.T) {
	t.Parallel()
	gormtest.Run(t, openSQLite)
}

func TestPostgres(t *testing.T) {
	t.Parallel()
	server := dbtest.Postgres(t)
	for name, simple := range map[string]bool{"extended protocol": false, "simple protocol": true} {
		t.Run(name, func(t *testing.T) {
			gormtest.Run(t, func(tb testing.TB, cfg *gorm.Config) *gorm.DB {
				return gormtest.OpenWith(tb, postgres.New(postgres.Config{DSN: server.DSN(server.CreateDatabase(tb)), PreferSimpleProtocol: simple}), cfg)
			})
		})
	}
}

// A trigger may drop rows of a plain insert, which is no error.
func TestTriggers(t *testing.T) {
	t.Parallel()
	type Drop struct {
		ID   snow.ID
		Name string
	}
	drops := func(t *testing.T, db *gorm.DB, trigger ...string) {
		if err := db.Use(gormsnow.New(gormtest.NewGenerator(t))); err != nil {
			t.Fatal(err)
		}
		if err := db.AutoMigrate(&Drop{}); err != nil {
			t.Fatal(err)
		}
		for _, statement := range trigger {
			if err := db.Exec(statement).Error; err != nil {
				t.Fatal(err)
			}
		}
		rows, one := []Drop{{Name: "kept"}, {Name: "dropped"}, {Name: "kept"}}, Drop{Name: "dropped"}
		entry := map[string]any{"name": "dropped"}
		upsert := Drop{Name: "dropped"}
		onID := clause.OnConflict{Columns: []clause.Column{{Name: "id"}}, UpdateAll: true}
		for _, tx := range []*gorm.DB{db.Create(&rows), db.Create(&one), db.Model(&Drop{}).Create(entry), db.Clauses(onID).Create(&upsert)} {
			if tx.Error != nil {
				t.Fatal(tx.Error)
			}
		}
		if rows[1].ID != 0 || one.ID != 0 || entry["id"] != snow.ID(0) || upsert.ID != 0 {
			t.Errorf("ids %d, %d, %v and %d of dropped rows, want 0", rows[1].ID, one.ID, entry["id"], upsert.ID)
		}
		var stored []Drop
		if err := db.Order("id").Find(&stored).Error; err != nil || len(stored) != 2 || stored[0] != rows[0] || stored[1] != rows[2] {
			t.Errorf("stored %v, %v; want the first and the last of %v", stored, err, rows)
		}
	}
	t.Run("SQLite", func(t *testing.T) {
		drops(t, openSQLite(t, &gorm.Config{Logger: logger.Discard}),
			"CREATE TRIGGER t BEFORE INSERT ON drops WHEN NEW.name = 'dropped' BEGIN SELECT RAISE(IGNORE); END")
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		server := dbtest.Postgres(t)
		drops(t, gormtest.OpenWith(t, postgres.Open(server.DSN(server.CreateDatabase(t))), &gorm.Config{Logger: logger.Discard}),
			"CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN IF NEW.name = ''dropped'' THEN RETURN NULL; END IF; RETURN NEW; END'",
			"CREATE TRIGGER t BEFORE INSERT ON drops FOR EACH ROW EXECUTE FUNCTION f()")
	})
	// One that stores the row elsewhere makes it look dropped.
	elsewhere := func(t *testing.T, db *gorm.DB, statements ...string) {
		if err := db.Use(gormsnow.New(gormtest.NewGenerator(t))); err != nil {
			t.Fatal(err)
		}
		for _, statement := range statements {
			if err := db.Exec(statement).Error; err != nil {
				t.Fatal(err)
			}
		}
		rows, entry := []Drop{{Name: "a"}, {Name: "b"}}, map[string]any{"name": "c"}
		if err := errors.Join(db.Create(&rows).Error, db.Model(&Drop{}).Create(entry).Error); err != nil {
			t.Fatal(err)
		}
		var stored []snow.ID
		if err := db.Table("partition").Order("name").Pluck("id", &stored).Error; err != nil {
			t.Fatal(err)
		}
		if want := []snow.ID{rows[0].ID, rows[1].ID, entry["id"].(snow.ID)}; !slices.Equal(stored, want) {
			t.Errorf("stored ids %d, the rows have %d", stored, want)
		}
	}
	t.Run("SQLite, a view", func(t *testing.T) {
		elsewhere(t, openSQLite(t, &gorm.Config{Logger: logger.Discard}),
			"CREATE TABLE partition (id bigint PRIMARY KEY, name text)",
			"CREATE VIEW drops AS SELECT id, name FROM partition",
			"CREATE TRIGGER t INSTEAD OF INSERT ON drops BEGIN INSERT INTO partition VALUES (NEW.id, NEW.name); END")
	})
	t.Run("PostgreSQL, a partition", func(t *testing.T) {
		server := dbtest.Postgres(t)
		elsewhere(t, gormtest.OpenWith(t, postgres.Open(server.DSN(server.CreateDatabase(t))), &gorm.Config{Logger: logger.Discard}),
			"CREATE TABLE drops (id bigint PRIMARY KEY, name text)",
			"CREATE TABLE partition () INHERITS (drops)",
			"CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO partition VALUES (NEW.*); RETURN NULL; END'",
			"CREATE TRIGGER t BEFORE INSERT ON drops FOR EACH ROW EXECUTE FUNCTION f()")
	})
}
