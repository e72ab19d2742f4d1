//go:build unix

package gormsnow_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/shardsnow/snow/gormsnow"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/internal/testkit/gormtest"
)

func TestMain(m *testing.M) { gormtest.Main(m) }

// openMariaDB returns an empty database on server. The driver treats it as MariaDB,
// with RETURNING, or as MySQL, without.
func openMariaDB(tb testing.TB, server *dbtest.Server, returning bool, cfg *gorm.Config) *gorm.DB {
	tb.Helper()
	return gormtest.OpenWith(tb, mysql.New(mysql.Config{
		DSN:                  server.DSN(server.CreateDatabase(tb)),
		DisableWithReturning: !returning,
	}), cfg)
}

func TestMariaDB(t *testing.T) {
	t.Parallel()
	server := dbtest.MariaDB(t)
	for name, returning := range map[string]bool{"mariadb": true, "mysql": false} {
		t.Run(name, func(t *testing.T) {
			gormtest.Run(t, func(tb testing.TB, cfg *gorm.Config) *gorm.DB { return openMariaDB(tb, server, returning, cfg) })
		})
	}
}

// A transaction with an old snapshot sees rows that are gone, but its insert meets
// the present ones.
func TestMariaDBSnapshot(t *testing.T) {
	t.Parallel()
	db := openMariaDB(t, dbtest.MariaDB(t), false, &gorm.Config{})
	if err := errors.Join(db.Use(gormsnow.New(gormtest.NewGenerator(t))), db.AutoMigrate(&gormtest.Login{})); err != nil {
		t.Fatal(err)
	}
	create := func(db *gorm.DB) gormtest.Login {
		login := gormtest.Login{Name: "root"}
		if err := db.Clauses(clause.OnConflict{DoNothing: true}).Create(&login).Error; err != nil {
			t.Fatal(err)
		}
		return login
	}
	first := create(db)
	if err := db.Transaction(func(tx *gorm.DB) error {
		// From 11.6 on it would end the transaction, as in TestCreateOnceWhereTheSnapshotEnds.
		if err := tx.Exec("SET /*M!100618 innodb_snapshot_isolation = OFF, */ @x = 1").Error; err != nil {
			return err
		}
		var seen []gormtest.Login
		if err := tx.Find(&seen).Error; err != nil || len(seen) != 1 {
			return fmt.Errorf("seen %v, %w", seen, err)
		}
		if err := db.Unscoped().Delete(&first).Error; err != nil {
			return err
		}
		second := create(db)
		if met := create(tx); met.ID != second.ID || met.ID == first.ID {
			t.Errorf("met %d, want %d, which is stored, and not %d", met.ID, second.ID, first.ID)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// AutoMigrate must create keys that are wide enough and not AUTO_INCREMENT.
func TestMariaDBColumns(t *testing.T) {
	t.Parallel()
	db := openMariaDB(t, dbtest.MariaDB(t), true, &gorm.Config{})
	if err := db.AutoMigrate(&gormtest.Customer{}, &gormtest.Basket{}, &gormtest.Topic{}, &gormtest.Visit{}, &gormtest.Voucher{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range [][2]string{
		{"customers.id", "bigint"},
		{"topics.id", "bigint"},
		{"visits.id", "bigint"},
		{"vouchers.id", "bigint"},
		{"vouchers.serial", "bigint unsigned"},
		{"vouchers.public", "bigint"},
		{"baskets.customer_id", "bigint"},
		{"customer_topics.topic_id", "bigint"},
	} {
		var got struct{ ColumnType, Extra string }
		err := db.Raw(`SELECT column_type, extra FROM information_schema.columns
			WHERE table_schema = DATABASE() AND CONCAT(table_name, '.', column_name) = ?`, want[0]).Scan(&got).Error
		got.ColumnType = strings.Replace(got.ColumnType, "(20)", "", 1) // the width that only MariaDB shows
		if err != nil || got.ColumnType != want[1] || got.Extra != "" {
			t.Errorf("%s is %q %q, want %q (%v)", want[0], got.ColumnType, got.Extra, want[1], err)
		}
	}
}
