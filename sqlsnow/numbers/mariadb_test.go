//go:build unix

package numbers_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/testkit/contractdb"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/internal/testkit/numbertest"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/numbers"
)

func mariaDB(server *dbtest.Server) numbertest.Target {
	return numbertest.Target{
		Dialect: sqlsnow.MySQL, Driver: "mysql",
		DSN:     func(t *testing.T) string { return server.DSN(server.CreateDatabase(t)) },
		Session: "SELECT CONNECTION_ID()",
		Others:  "SELECT id FROM information_schema.processlist WHERE id <> CONNECTION_ID() AND db = DATABASE()",
		Kill:    "KILL %d",
	}
}

func TestNumbersOnMariaDB(t *testing.T) {
	numbertest.Run(t, mariaDB(dbtest.MariaDB(t, "max_connections=400")))
}

func TestNumbersTurnOnMariaDB(t *testing.T) {
	server := dbtest.MariaDB(t)
	if !strings.Contains(server.Product(t), "MariaDB") {
		t.Skip("MySQL stands still if its clock jumps; TestNumbersTurnInSessions runs there")
	}
	numbertest.RunTurn(t, mariaDB(server), server)
}

// The year of the database's session counts, whatever the clock of this machine says.
func TestNumbersTurnInSessions(t *testing.T) {
	ctx := t.Context()
	server := dbtest.MariaDB(t)
	dsn := server.DSN(server.CreateDatabase(t))
	usual := contractdb.Open(t, "mysql", dsn)
	if err := sqlsnow.Migrate(ctx, usual, sqlsnow.MySQL); err != nil {
		t.Fatal(err)
	}
	cfg := numbers.Config{Series: "invoices", Pattern: "{yyMMdd}-{000}", Restart: numbers.Yearly, Zone: "Asia/Shanghai"}
	s, err := numbers.OpenGapFree(ctx, usual, sqlsnow.MySQL, cfg)
	if err != nil {
		t.Fatal(err)
	}
	newYear := time.Date(2031, 1, 1, 0, 0, 0, 0, time.FixedZone("", 8*60*60)).Unix()
	for _, test := range []struct {
		at         int64
		parameters string
		want       string
	}{
		{newYear - 1, "", "301231-001"},
		{newYear, "&interpolateParams=true", "310101-001"},
		{newYear - 1, "&clientFoundRows=true", "301231-002"},
		{newYear + 86400, "&sql_mode=%27%27", "310102-002"},
		{newYear + 86400*31, "&sql_mode=%27ANSI,TRADITIONAL%27", "310201-003"},
	} {
		db := contractdb.Open(t, "mysql", dsn+fmt.Sprintf("&timestamp=%d", test.at)+test.parameters)
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.Take(ctx, tx); err != nil || got != test.want {
			t.Errorf("%+v: got %q, %v", test, got, err)
		}
		if err := tx.Commit(); err != nil {
			t.Error(err)
		}
		if _, err := numbers.OpenFast(ctx, db, sqlsnow.MySQL, numbers.FastConfig{Config: cfg}); err == nil {
			t.Error("a series was opened in a session whose clock stands still")
		}
	}
	// The statement that finds no room stores nothing, and says so even if the driver counts the rows that it finds.
	short, err := numbers.OpenGapFree(ctx, usual, sqlsnow.MySQL, numbers.Config{Series: "short", Pattern: "{0}"})
	if err != nil {
		t.Fatal(err)
	}
	db := contractdb.Open(t, "mysql", dsn+"&clientFoundRows=true")
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	if err := short.FillIn(ctx, tx, make([]string, 9)); err != nil {
		t.Fatal(err)
	}
	if got, err := short.Take(ctx, tx); !errors.As(err, new(*numbers.OverflowError)) {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestNumbersChild(t *testing.T) {
	numbertest.Child(t, map[string]sqlsnow.Dialect{"mysql": sqlsnow.MySQL})
}

// A replica takes over that lacks commits.
func TestNumbersFailoverOnMariaDB(t *testing.T) {
	numbertest.RunFailover(t, mariaDB(nil), func(t *testing.T) *dbtest.Server { return dbtest.MariaDB(t, "server-id=1", "log-bin=binlog") })
}

// Settings with which the server may lose 5 s of commits need a LossWindow of 5 s.
func TestLossWindowAndSettings(t *testing.T) {
	server := dbtest.MariaDB(t, "innodb-flush-log-at-trx-commit=2")
	db := contractdb.Open(t, "mysql", server.DSN(server.CreateDatabase(t)))
	if err := sqlsnow.Migrate(t.Context(), db, sqlsnow.MySQL); err != nil {
		t.Fatal(err)
	}
	for loss, want := range map[time.Duration]error{
		0: sqlsnow.ErrNotDurable, 4 * time.Second: sqlsnow.ErrNotDurable, 5 * time.Second: nil,
	} {
		cfg := numbers.FastConfig{Config: numbers.Config{Series: "orders", Pattern: "{0000}"}, LossWindow: loss}
		if _, err := numbers.OpenFast(t.Context(), db, sqlsnow.MySQL, cfg); !errors.Is(err, want) {
			t.Errorf("LossWindow %v: got %v, want %v", loss, err, want)
		}
	}
	var field *snow.FieldError
	for _, loss := range []time.Duration{-1, 10*time.Minute + 1} {
		_, err := numbers.OpenFast(t.Context(), db, sqlsnow.MySQL, numbers.FastConfig{Config: numbers.Config{Series: "orders", Pattern: "{0000}"}, LossWindow: loss})
		if !errors.As(err, &field) || field.Field != "LossWindow" {
			t.Errorf("LossWindow %v: got %v", loss, err)
		}
	}
	// A counter that went back can be raised there.
	if err := numbers.Raise(t.Context(), db, sqlsnow.MySQL, "orders", "-", 40); err != nil {
		t.Error(err)
	}
}
