//go:build unix

package gormcheck_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
)

// counter is a source without a layout.
type counter struct{}

func (counter) Next(context.Context) (snow.ID, error) { return 1, nil }

func (counter) Fill(_ context.Context, ids []snow.ID) error {
	for i := range ids {
		ids[i] = snow.ID(i + 1)
	}
	return nil
}

func TestCheckDatabases(t *testing.T) {
	each(t, func(t *testing.T, d database) {
		bare := d.openBare(t, gorm.Config{})
		execute(t, bare, "CREATE TABLE lives (id BIGINT PRIMARY KEY)", fmt.Sprintf("INSERT INTO lives VALUES (%d)", idAt(t, time.Now().Add(time.Hour))))

		if err := gormsnow.Check(bare, &live{}); !errors.Is(err, gormsnow.ErrNoPlugin) {
			t.Errorf("without the plugin: %v, want ErrNoPlugin", err)
		}
		without := d.openBare(t, gorm.Config{})
		if err := without.Use(gormsnow.New(counter{})); err != nil {
			t.Fatal(err)
		}
		if err := gormsnow.Check(without, &live{}); err != nil {
			t.Errorf("with a source without a layout: %v", err)
		}
		if err := gormsnow.Check(without.Session(&gorm.Session{DryRun: true}), &live{}); !errors.Is(err, gorm.ErrDryRunModeUnsupported) {
			t.Errorf("in a dry run: %v", err)
		}

		db := d.open(t, gorm.Config{
			NamingStrategy: schema.NamingStrategy{TablePrefix: "shop_", SingularTable: true},
			PrepareStmt:    true,
			Plugins:        map[string]gorm.Plugin{},
		})
		execute(t, db, "CREATE TABLE shop_live (id BIGINT PRIMARY KEY)", "CREATE TABLE lives_3 (id VARCHAR(9) PRIMARY KEY)")
		if err := gormsnow.Check(db, &live{}); err != nil {
			t.Errorf("with a prefix: %v", err)
		}
		if got, want := findings(t, gormsnow.Check(db.Table("lives_3"), &live{})), []string{"live ID lives_3.id"}; !slices.Equal(got, want) {
			t.Errorf("with a table: %q, want %q", got, want)
		}
		err := db.Transaction(func(tx *gorm.DB) error {
			return gormsnow.Check(tx.Where("1 = 0").Select("nothing"), &live{})
		})
		if err != nil {
			t.Errorf("in a transaction: %v", err)
		}
		err = gormsnow.Check(db, 5, nil, &live{})
		if joined, ok := err.(interface{ Unwrap() []error }); !ok || len(joined.Unwrap()) != 2 || !strings.Contains(err.Error(), "model int: ") {
			t.Errorf("models that are none: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := gormsnow.Check(db.WithContext(ctx), &live{}); !errors.Is(err, context.Canceled) {
			t.Errorf("with a context that has ended: %v", err)
		}
	})
}

// Schemas, the search path and privileges.
func TestCheckSchemas(t *testing.T) {
	t.Parallel()
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		db := newDatabase(t, "postgres").open(t, gorm.Config{})
		execute(t, db, "CREATE SCHEMA first", "CREATE SCHEMA second",
			"CREATE TABLE second.lives (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY)", "CREATE TABLE first.other (id BIGINT PRIMARY KEY)")
		if got, want := findings(t, gormsnow.Check(db, &live{})), []string{"live  lives"}; !slices.Equal(got, want) {
			t.Errorf("outside of the search path: %q, want %q", got, want)
		}
		if got, want := findings(t, gormsnow.Check(db.Table("second.lives"), &live{})), []string{"live ID second.lives.id"}; !slices.Equal(got, want) {
			t.Errorf("with a schema: %q, want %q", got, want)
		}
		err := db.Transaction(func(tx *gorm.DB) error {
			execute(t, tx, "SET LOCAL search_path TO first, second")
			return gormsnow.Check(tx, &live{})
		})
		if got, want := findings(t, err), []string{"live ID lives.id"}; !slices.Equal(got, want) {
			t.Errorf("on the search path: %q, want %q", got, want)
		}
	})
	t.Run("mariadb", func(t *testing.T) {
		t.Parallel()
		d := newDatabase(t, "mariadb")
		db := d.open(t, gorm.Config{})
		var name string
		if err := db.Raw("SELECT DATABASE()").Scan(&name).Error; err != nil {
			t.Fatal(err)
		}
		execute(t, db, "CREATE DATABASE second", "CREATE TABLE second.lives (id BIGINT AUTO_INCREMENT PRIMARY KEY)",
			"CREATE TABLE lives (id BIGINT PRIMARY KEY)", "CREATE TABLE books (id BIGINT AUTO_INCREMENT PRIMARY KEY)",
			"CREATE USER reader@'%' IDENTIFIED BY 'secret'", "GRANT SELECT ON "+name+".lives TO reader@'%'")
		if got, want := findings(t, gormsnow.Check(db.Table("second.lives"), &live{})), []string{"live ID second.lives.id"}; !slices.Equal(got, want) {
			t.Errorf("with a schema: %q, want %q", got, want)
		}
		_, server, _ := strings.Cut(d.dsn, "@")
		d.dsn = "reader:secret@" + server
		err := gormsnow.Check(d.open(t, gorm.Config{}), &live{}, &book{})
		if got, want := findings(t, err), []string{"book  books"}; !slices.Equal(got, want) {
			t.Errorf("without a privilege on books: %q, want %q: %v", got, want, err)
		}
	})
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		db := newDatabase(t, "sqlite").open(t, gorm.Config{})
		err := db.Connection(func(tx *gorm.DB) error {
			execute(t, tx, "ATTACH ':memory:' AS second", "CREATE TABLE second.lives (id INTEGER PRIMARY KEY AUTOINCREMENT)")
			return gormsnow.Check(tx.Table("second.lives"), &live{})
		})
		if got, want := findings(t, err), []string{"live ID second.lives.id"}; !slices.Equal(got, want) {
			t.Errorf("with a schema: %q, want %q", got, want)
		}
	})
}
