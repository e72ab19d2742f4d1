package sqlsnowtest_test

import (
	"database/sql"
	"testing"

	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/sqlsnowtest"
)

// The same databases as for Run; some clauses make several.
func ExampleRunSegments() {
	_ = func(t *testing.T) {
		sqlsnowtest.RunSegments(t, sqlsnow.MySQL, func(t *testing.T) sqlsnowtest.Database {
			// of one empty database, another one for each call of the function around it
			return sqlsnowtest.Database{Open: func(t *testing.T) *sql.DB {
				db, err := sql.Open("mysql", "app@tcp(registry.internal)/empty")
				if err != nil {
					t.Fatal(err)
				}
				return db
			}}
		})
	}
}
