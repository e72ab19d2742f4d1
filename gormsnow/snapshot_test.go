//go:build unix

package gormsnow_test

import (
	"errors"
	"strings"
	"testing"

	driver "github.com/go-sql-driver/mysql"
	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/shardsnow/snow/gormsnow"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/internal/testkit/gormtest"
)

// Where MariaDB ends the caller's transaction CreateOnce says so, and nothing of
// it is stored if the caller heeds that.
func TestCreateOnceWhereTheSnapshotEnds(t *testing.T) {
	t.Parallel()
	server := dbtest.MariaDB(t)
	if !strings.HasPrefix(server.Product(t), "MariaDB") {
		t.Skip("only MariaDB has innodb_snapshot_isolation")
	}
	dsn := server.DSN(server.CreateDatabase(t)) + "&innodb_snapshot_isolation=ON"
	db, err := gorm.Open(mysql.Open(dsn), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		t.Fatal(err)
	}
	pool, err := db.DB()
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	if err := errors.Join(db.Use(gormsnow.New(gormtest.NewGenerator(t))), db.AutoMigrate(&gormtest.Login{}, &gormtest.Topic{})); err != nil {
		t.Fatal(err)
	}
	topics := func(db *gorm.DB) (n int64) {
		if err := db.Model(&gormtest.Topic{}).Count(&n).Error; err != nil {
			t.Error(err)
		}
		return n
	}
	attempt := func(between func() error) error {
		return db.Transaction(func(tx *gorm.DB) error {
			topics(tx) // takes the snapshot
			if err := errors.Join(between(), tx.Create(&gormtest.Topic{}).Error); err != nil {
				return err
			}
			_, err := gormsnow.CreateOnce(tx, &gormtest.Login{Name: "root"}, "Name")
			return err
		})
	}
	err = attempt(func() error { return db.Create(&gormtest.Login{Name: "root"}).Error })
	var ended *driver.MySQLError
	if !errors.As(err, &ended) || ended.Number != 1020 {
		t.Errorf("error %v, want 1020", err)
	}
	if n := topics(db); n != 0 {
		t.Errorf("%d topics are stored, want none", n)
	}
	if err := attempt(func() error { return nil }); err != nil || topics(db) != 1 {
		t.Errorf("repeated: %v, %d topics; want 1", err, topics(db))
	}
}
