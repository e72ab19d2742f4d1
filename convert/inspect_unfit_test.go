//go:build unix

package convert_test

import (
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/convert"
	"github.com/shardsnow/snow/convert/report"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/sqlsnow"
)

func exec(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// unfit inspects a database that can't be converted, and compares the reasons with parts of them. Without any, the
// database can be converted.
func unfit(t *testing.T, dialect sqlsnow.Dialect, db *sql.DB, cfg convert.InspectConfig, want ...string) {
	t.Helper()
	cfg.DeclaredOnly = true
	_, err := convert.Inspect(t.Context(), dialect, db, cfg)
	if len(want) == 0 {
		if err != nil {
			t.Error(err)
		}
		return
	}
	var e *report.UnfitError
	if !errors.As(err, &e) || len(e.Reasons) != len(want) {
		t.Errorf("got %v, want %q", err, want)
		return
	}
	for i, reason := range e.Reasons {
		if !strings.Contains(reason, want[i]) {
			t.Errorf("got %q, want a part %q", reason, want[i])
		}
	}
}

func TestUnfitMySQL(t *testing.T) {
	server := dbtest.MariaDB(t, "log-bin=binlog", "server-id=1")
	db := open(t, "mysql", server, "CREATE TABLE users (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY)", "CREATE TABLE orders (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY)",
		"CREATE USER limited", "CREATE USER trusted")
	var name string
	if err := db.QueryRowContext(t.Context(), "SELECT DATABASE()").Scan(&name); err != nil {
		t.Fatal(err)
	}
	exec(t, db, "GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, INDEX, REFERENCES, LOCK TABLES ON `"+name+"`.* TO limited", "GRANT ALL ON `"+strings.ReplaceAll(name, "_", `\_`)+"`.* TO trusted")
	as := func(user string) *sql.DB {
		config, err := mysql.ParseDSN(server.DSN(name))
		if err != nil {
			t.Fatal(err)
		}
		config.User, config.Passwd = user, ""
		db, err := sql.Open("mysql", config.FormatDSN())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		return db
	}
	unfit(t, sqlsnow.MySQL, db, convert.InspectConfig{})
	unfit(t, sqlsnow.MySQL, as("limited"), convert.InspectConfig{}, "log_bin_trust_function_creators", "the account lacks rights: GRANT TRIGGER ON `"+name+"`.*",
		"GRANT CREATE TEMPORARY TABLES ON `"+name+"`.*", "GRANT PROCESS ON *.*")
	exec(t, db, "GRANT PROCESS ON *.* TO trusted")
	unfit(t, sqlsnow.MySQL, as("trusted"), convert.InspectConfig{}, "log_bin_trust_function_creators")
	for _, test := range []struct {
		name, do, undo string
		want           []string
	}{
		{"functions are trusted", "SET GLOBAL log_bin_trust_function_creators = 1", "", nil},
		{"statements in the log", "SET GLOBAL binlog_format = 'STATEMENT'", "SET GLOBAL binlog_format = 'ROW'", []string{"binlog_format is STATEMENT"}},
		{"a replica", "SET GLOBAL read_only = 1", "SET GLOBAL read_only = 0", []string{"read-only"}},
		{"two primaries", "SET GLOBAL auto_increment_increment = 2", "SET GLOBAL auto_increment_increment = 1", []string{"auto_increment_increment is 2"}},
		{"zeros that are ids", "SET GLOBAL sql_mode = 'NO_AUTO_VALUE_ON_ZERO'", "SET GLOBAL sql_mode = ''", []string{"NO_AUTO_VALUE_ON_ZERO"}},
		{"a counter that was lifted", "INSERT INTO orders VALUES (4611686018427387904)", "DELETE FROM orders", []string{`table "orders" has counted up to 4611686018427387904`, `table "orders" has the id 4611686018427387904`}},
		{"a counter that stays lifted", "DO 1", "ALTER TABLE orders AUTO_INCREMENT = 5", []string{`table "orders" has counted up to 4611686018427387904`}},
		{"a counter that was set back", "DO 1", "", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			exec(t, db, test.do)
			unfit(t, sqlsnow.MySQL, as("trusted"), convert.InspectConfig{}, test.want...)
			if test.undo != "" {
				exec(t, db, test.undo)
			}
		})
	}
}

func TestUnfitPostgres(t *testing.T) {
	server := dbtest.Postgres(t)
	db := open(t, "pgx", server, "CREATE TABLE users (id serial PRIMARY KEY)", "CREATE TABLE orders (id bigserial PRIMARY KEY)", "CREATE ROLE limited LOGIN")
	config, err := pgx.ParseConfig(server.DSN(database(t, db)))
	if err != nil {
		t.Fatal(err)
	}
	config.RuntimeParams["role"] = "limited"
	exec(t, db, "GRANT SELECT ON ALL TABLES IN SCHEMA public TO limited", "GRANT USAGE ON SCHEMA public TO limited")
	limited := stdlib.OpenDB(*config)
	defer limited.Close()
	unfit(t, sqlsnow.Postgres, db, convert.InspectConfig{})
	unfit(t, sqlsnow.Postgres, limited, convert.InspectConfig{}, "GRANT CREATE ON SCHEMA public", "only owners change columns: orders, users")
	exec(t, db, "INSERT INTO orders VALUES (4611686018427387904)") // the sequence does not look
	unfit(t, sqlsnow.Postgres, db, convert.InspectConfig{}, `table "orders" has the id 4611686018427387904`)
	exec(t, db, "DELETE FROM orders", "SELECT setval('orders_id_seq', 4611686018427387904)")
	unfit(t, sqlsnow.Postgres, db, convert.InspectConfig{}, `table "orders" has counted up to 4611686018427387904`)
	exec(t, db, "ALTER SEQUENCE orders_id_seq RESTART")

	// A layout whose ids are small, in its first days.
	young, err := snow.NewLayout(time.Now().Add(-time.Hour), time.Second, snow.Bits{Timestamp: 32, Worker: 10, Sequence: 10})
	if err != nil {
		t.Fatal(err)
	}
	p, err := convert.Inspect(t.Context(), sqlsnow.Postgres, db, convert.InspectConfig{Layout: young, DeclaredOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if first := p.Table("users").First; first < 3600<<20 || first >= 1<<40 {
		t.Errorf("the limit is %d, want one hour of %v", first, young)
	}
	if _, err := convert.Inspect(t.Context(), sqlsnow.SQLite, db, convert.InspectConfig{}); err == nil {
		t.Error("SQLite is not refused")
	}
	if _, err := convert.Inspect(t.Context(), sqlsnow.Postgres, nil, convert.InspectConfig{}); err == nil {
		t.Error("no database is not refused")
	}
}

func database(t *testing.T, db *sql.DB) (name string) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), "SELECT current_database()").Scan(&name); err != nil {
		t.Fatal(err)
	}
	return name
}
