package sqlsnowtest_test

import (
	"database/sql"
	"testing"

	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/sqlsnowtest"
)

// The whole of a test of another MySQL, its settings and its driver.
func ExampleRun() {
	_ = func(t *testing.T) {
		sqlsnowtest.Run(t, sqlsnow.MySQL, func(t *testing.T) sqlsnowtest.Database {
			return sqlsnowtest.Database{Open: func(t *testing.T) *sql.DB { // of one empty database, each time
				db, err := sql.Open("mysql", "app@tcp(registry.internal)/empty")
				if err != nil {
					t.Fatal(err)
				}
				return db
			}}
		})
	}
}
