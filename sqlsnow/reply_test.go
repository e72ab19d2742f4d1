//go:build unix

package sqlsnow_test

import (
	"database/sql"
	"errors"
	"testing"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/testkit/contractdb"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/segments"
)

// A trigger changes LAST_INSERT_ID, which returns the database's time, or the number. Without it no reply is accepted.
func TestTriggersOnMariaDB(t *testing.T) {
	server := dbtest.MariaDB(t)
	db := contractdb.Open(t, "mysql", server.DSN(server.CreateDatabase(t)))
	ctx := t.Context()
	ns := sqlsnow.Namespace{Name: "orders", Layout: snow.DefaultLayout(), Workers: 2}
	if err := errors.Join(sqlsnow.Migrate(ctx, db, sqlsnow.MySQL), sqlsnow.Init(ctx, db, sqlsnow.MySQL, ns)); err != nil {
		t.Fatal(err)
	}
	cfg := sqlsnow.LeaseConfig{Namespace: "orders", Logger: quiet.Logger}
	lease, err := sqlsnow.Acquire(ctx, db, sqlsnow.MySQL, cfg)
	if err != nil {
		t.Fatal(err)
	}
	exec(t, db, "CREATE TABLE audit (id BIGINT AUTO_INCREMENT PRIMARY KEY, at DATETIME(6))")
	for _, table := range []string{"snow_workers", "snow_segments"} {
		exec(t, db, "CREATE TRIGGER audit_"+table+" AFTER UPDATE ON "+table+" FOR EACH ROW INSERT INTO audit (at) VALUES (NOW(6))")
	}

	if got, err := sqlsnow.Acquire(ctx, db, sqlsnow.MySQL, cfg); !isBadReply(err) {
		t.Errorf("Acquire: got %v and %v, want a bad reply", got, err)
	}
	if got := answer(t, db, "SELECT COUNT(*) FROM snow_workers WHERE state = 0"); got != "1" {
		t.Errorf("after a refused Acquire %s numbers are free, want 1", got)
	}
	before := lease.Stats()
	if err := lease.Renew(ctx); !isBadReply(err) {
		t.Errorf("Renew: got %v, want a bad reply", err)
	}
	if got := lease.Stats(); got.Ceiling != before.Ceiling || got.Renewals != before.Renewals || !isBadReply(got.Err) {
		t.Errorf("Stats: got %+v after %+v, want the same ceiling and the error", got, before)
	}
	cfgOfSegments := segments.Config{Tag: "orders", Step: 1, MaxStep: 1, Logger: quiet.Logger}
	if _, err := segments.Open(ctx, []*sql.DB{db}, sqlsnow.MySQL, cfgOfSegments); !isBadReply(err) {
		t.Errorf("segments.Open: got %v, want a bad reply", err)
	}
	exec(t, db, "DROP TRIGGER audit_snow_workers")
	if err := errors.Join(lease.Renew(ctx), lease.Close(ctx)); err != nil {
		t.Errorf("without the trigger: %v", err)
	}
}

func isBadReply(err error) bool {
	var failed *sqlsnow.DatabaseError
	return errors.As(err, &failed) && failed.BadReply
}
