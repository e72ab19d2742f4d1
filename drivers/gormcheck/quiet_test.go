//go:build unix

package gormcheck_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
)

// failures is a logger that remembers what failed.
type failures struct {
	logger.Interface
	mu   sync.Mutex
	all  int
	errs []error
}

func (f *failures) LogMode(logger.LogLevel) logger.Interface { return f }

func (f *failures) Trace(_ context.Context, _ time.Time, sql func() (string, int64), err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all++
	if err != nil {
		f.errs = append(f.errs, err)
	}
}

// A repeated call is no error in the log, and any other failure is one.
func TestCreateOnceLogs(t *testing.T) {
	each(t, func(t *testing.T, d database) {
		for _, config := range []gorm.Config{{}, {TranslateError: true}} {
			db := d.open(t, config)
			migrate(t, db, &order{}, &line{})
			log := &failures{Interface: logger.Discard}
			db = db.Session(&gorm.Session{Logger: log})
			first := order{Buyer: "ann"}
			once(t, db, true, &first)
			again := order{ID: first.ID}
			once(t, db.Debug(), false, &again)
			if again.Buyer != "ann" || len(log.errs) != 0 || log.all < 3 {
				t.Errorf("row %+v, %d statements, logged %v; want ann and no error", again, log.all, log.errs)
			}
			execute(t, db, "DROP TABLE orders")
			if _, err := gormsnow.CreateOnce(db, &order{}); err == nil || len(log.errs) != 1 {
				t.Errorf("without a table: error %v, logged %v; want one", err, log.errs)
			}
		}
	})
}

// Where MariaDB ends the caller's transaction CreateOnce says so, and nothing of
// it is stored if the caller heeds that.
func TestCreateOnceWhereTheSnapshotEnds(t *testing.T) {
	t.Parallel()
	d := newDatabase(t, "mariadb")
	d.dsn += "&innodb_snapshot_isolation=ON"
	db := d.open(t, gorm.Config{})
	migrate(t, db, &order{}, &line{})
	id := snow.ID(5)
	attempt := func(between func()) error {
		return db.Transaction(func(tx *gorm.DB) error {
			count(t, tx, &order{}) // takes the snapshot
			between()
			if err := tx.Create(&line{Text: "of the transaction"}).Error; err != nil {
				return err
			}
			_, err := gormsnow.CreateOnce(tx, &order{ID: id})
			return err
		})
	}
	err := attempt(func() { once(t, db, true, &order{ID: id, Buyer: "ann"}) })
	var ended *mysql.MySQLError
	if !errors.As(err, &ended) || ended.Number != 1020 {
		t.Errorf("error %v, want 1020", err)
	}
	if n := count(t, db, &line{}); n != 0 {
		t.Errorf("%d lines are stored, want none", n)
	}
	if err := attempt(func() {}); err != nil || count(t, db, &line{}) != 1 {
		t.Errorf("repeated: %v", err)
	}
}
