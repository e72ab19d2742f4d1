//go:build unix

package sqlsnow_test

import (
	"database/sql"
	"testing"

	_ "github.com/go-sql-driver/mysql"

	"github.com/shardsnow/snow/internal/dbtest"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/sqlsnowtest"
)

func TestLeasesOnMariaDB(t *testing.T) {
	server := dbtest.MariaDB(t)
	sqlsnowtest.Run(t, sqlsnow.MySQL, func(t *testing.T) sqlsnowtest.Database {
		dsn := server.DSN(server.CreateDatabase(t))
		open := func(parameters string) func(*testing.T) *sql.DB {
			return func(t *testing.T) *sql.DB {
				db, err := sql.Open("mysql", dsn+parameters)
				if err != nil {
					t.Fatal(err)
				}
				return db
			}
		}
		return sqlsnowtest.Database{
			Open:       open(""),
			ReadOnly:   open("&tx_read_only=1"),
			NotDurable: open("&autocommit=0"), // nobody would commit
			Sessions: map[string]func(*testing.T) *sql.DB{
				"found-rows":   open("&clientFoundRows=true"),
				"interpolated": open("&interpolateParams=true"),
				"kolkata":      open("&time_zone=%27%2B05:30%27&loc=Asia%2FKolkata"),
				"serializable": open("&tx_isolation=%27SERIALIZABLE%27"),
				"sloppy":       open("&sql_mode=%27%27"),
				"ansi":         open("&sql_mode=%27ANSI,TRADITIONAL%27"),
			},
		}
	})
}
