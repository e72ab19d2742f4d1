//go:build unix

package gormsnow_test

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"testing"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/internal/testkit/gormtest"
)

// autoMigrate lets one process after the other run AutoMigrate. It is in
// docs/getting-started.md.
func autoMigrate(ctx context.Context, db *gorm.DB, models ...any) error {
	return db.WithContext(ctx).Connection(func(tx *gorm.DB) error {
		tx = tx.Session(&gorm.Session{NewDB: true}) // statements on the connection that has the lock
		var got sql.NullInt64
		if err := tx.Raw("SELECT GET_LOCK('shop.automigrate', 60)").Row().Scan(&got); err != nil {
			return err
		}
		if got.Int64 != 1 {
			return errors.New("another process has had the lock for a minute")
		}
		defer tx.WithContext(context.WithoutCancel(ctx)).Exec("DO RELEASE_LOCK('shop.automigrate')")
		return tx.AutoMigrate(models...)
	})
}

// Ten processes start at the same time on an empty database.
func TestAutoMigrateInTurn(t *testing.T) {
	t.Parallel()
	server := dbtest.MariaDB(t)
	dsn := server.DSN(server.CreateDatabase(t))
	start := make(chan struct{})
	var wg sync.WaitGroup
	dbs := make([]*gorm.DB, 10)
	for i := range dbs {
		dbs[i] = gormtest.OpenWith(t, mysql.Open(dsn), &gorm.Config{})
		wg.Go(func() {
			<-start
			if err := autoMigrate(t.Context(), dbs[i], &member{}, &loan{}, &fine{}); err != nil {
				t.Error(err)
			}
		})
	}
	close(start)
	wg.Wait()
	for _, model := range []any{&member{}, &loan{}, &fine{}} {
		if !dbs[0].Migrator().HasTable(model) {
			t.Errorf("there is no table of %T", model)
		}
	}
	var free int
	if err := dbs[0].Raw("SELECT IS_FREE_LOCK('shop.automigrate')").Row().Scan(&free); err != nil || free != 1 {
		t.Errorf("the lock is free: %d, %v", free, err)
	}
}
