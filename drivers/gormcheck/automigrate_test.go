//go:build unix

package gormcheck_test

import (
	"context"
	"os"
	"os/exec"
	"sync"
	"testing"

	"gorm.io/driver/postgres"
	"gorm.io/gorm"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
)

// migrated names the database in the environment of a process that migrates it.
const migrated = "SNOW_TEST_AUTOMIGRATE"

type voyage struct {
	gormsnow.Model
	Ship  string `gorm:"index"`
	Ports []port
}

type port struct {
	gormsnow.Model
	VoyageID snow.ID `gorm:"index"`
}

// autoMigrate lets one process after the other run AutoMigrate. It is in
// docs/getting-started.md.
func autoMigrate(ctx context.Context, db *gorm.DB, models ...any) error {
	return db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		if err := tx.Exec("SELECT pg_advisory_xact_lock(1)").Error; err != nil {
			return err
		}
		return tx.AutoMigrate(models...)
	})
}

// Two processes start at the same time on an empty database, again and again.
func TestAutoMigrateOfTwoProcesses(t *testing.T) {
	if dsn := os.Getenv(migrated); dsn != "" {
		migrateVoyages(t, dsn)
		return
	}
	t.Parallel()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	server := dbtest.Postgres(t)
	for range 5 {
		dsn := server.DSN(server.CreateDatabase(t))
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				cmd := exec.CommandContext(t.Context(), program, "-test.run=^TestAutoMigrateOfTwoProcesses$")
				cmd.Env = append(os.Environ(), migrated+"="+dsn)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%v\n%s", err, out)
				}
			})
		}
		wg.Wait()
		migrateVoyages(t, dsn) // when the tables are there
	}
}

func migrateVoyages(t *testing.T, dsn string) {
	t.Helper()
	db, err := gorm.Open(postgres.Open(dsn))
	if err != nil {
		t.Fatal(err)
	}
	pool, err := db.DB()
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	if err := db.Use(gormsnow.New(newGenerator(t))); err != nil {
		t.Fatal(err)
	}
	if err := autoMigrate(t.Context(), db, &voyage{}, &port{}); err != nil {
		t.Fatal(err)
	}
	if err := gormsnow.Check(db.WithContext(t.Context()), &voyage{}, &port{}); err != nil {
		t.Fatal(err)
	}
}
