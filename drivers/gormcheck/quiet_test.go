//go:build unix

package gormcheck_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"

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
