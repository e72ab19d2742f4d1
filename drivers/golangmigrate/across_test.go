//go:build unix

package golangmigrate_test

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/golang-migrate/migrate/v4"
	"github.com/golang-migrate/migrate/v4/database"
	"github.com/golang-migrate/migrate/v4/database/mysql"
	"github.com/golang-migrate/migrate/v4/source/iofs"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
)

// tools returns golang-migrate for each database.
func tools(files fs.FS, databases []string, open func(dsn string) (database.Driver, error)) (all []*migrate.Migrate, err error) {
	for i, dsn := range databases {
		source, err := iofs.New(files, ".")
		if err != nil {
			return nil, err
		}
		driver, err := open(dsn)
		if err != nil {
			return nil, &snow.ShardError{Index: i, Err: err}
		}
		tool, err := migrate.NewWithInstance("migrations", source, "database", driver)
		if err != nil {
			return nil, &snow.ShardError{Index: i, Err: err}
		}
		all = append(all, tool)
	}
	return all, nil
}

// up migrates all databases, one after the other. After an error, repeat it.
func up(databases []*migrate.Migrate) error {
	for i, tool := range databases {
		if err := tool.Up(); err != nil && !errors.Is(err, migrate.ErrNoChange) {
			return &snow.ShardError{Index: i, Err: err}
		}
	}
	return nil
}

// current fails unless all databases have the version. A program calls it when it starts.
func current(databases []*migrate.Migrate, wants uint) error {
	for i, tool := range databases {
		has, dirty, err := tool.Version()
		if errors.Is(err, migrate.ErrNilVersion) {
			err = nil // it has none, which is the version 0
		}
		if err == nil && (dirty || has != wants) {
			err = fmt.Errorf("it has the version %d, dirty: %v, and the program has %d", has, dirty, wants)
		}
		if err != nil {
			return &snow.ShardError{Index: i, Err: err}
		}
	}
	return nil
}

func TestAcross(t *testing.T) {
	files := fstest.MapFS{
		"1_orders.up.sql":   {Data: []byte("CREATE TABLE orders (id BIGINT PRIMARY KEY, buyer_id BIGINT NOT NULL);")},
		"1_orders.down.sql": {Data: []byte("DROP TABLE orders;")},
		"2_state.up.sql":    {Data: []byte("ALTER TABLE orders ADD COLUMN state VARCHAR(64);")},
		"2_state.down.sql":  {Data: []byte("ALTER TABLE orders DROP COLUMN state;")},
	}
	server := dbtest.MariaDB(t)
	var dsns []string
	for range 4 {
		dsns = append(dsns, server.DSN(server.CreateDatabase(t)))
	}
	all, err := tools(files, dsns, func(dsn string) (database.Driver, error) {
		db, err := sql.Open("mysql", dsn)
		if err != nil {
			return nil, err
		}
		return mysql.WithInstance(db, &mysql.Config{})
	})
	done(t, err)
	t.Cleanup(func() {
		for _, tool := range all {
			if a, b := tool.Close(); a != nil || b != nil {
				t.Error(a, b)
			}
		}
	})
	behind := func(err error, index int, text string) {
		t.Helper()
		var shard *snow.ShardError
		if !errors.As(err, &shard) || shard.Index != index || !strings.Contains(err.Error(), text) {
			t.Errorf("got %v, want database %d with %s", err, index, text)
		}
	}
	behind(current(all, 2), 0, "it has the version 0, dirty: false, and the program has 2")
	for _, tool := range all {
		done(t, tool.Steps(1))
	}
	done(t, current(all, 1))

	// Database 2 has a column that is in the way of the second migration.
	db, err := sql.Open("mysql", dsns[2])
	done(t, err)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), "ALTER TABLE orders ADD COLUMN state INT")
	done(t, err)
	behind(up(all), 2, "Duplicate column")
	behind(current(all, 2), 2, "it has the version 2, dirty: true, and the program has 2")
	_, err = db.ExecContext(t.Context(), "ALTER TABLE orders DROP COLUMN state")
	done(t, err)
	done(t, all[2].Force(1))
	done(t, up(all))
	done(t, current(all, 2))
}
