package migrations_test

import (
	"fmt"
	"io/fs"

	"github.com/shardsnow/snow/migrations"
)

// golang-migrate reads them with iofs.New(migrations.Postgres(), ".").
func ExamplePostgres() {
	text, err := fs.ReadFile(migrations.Postgres(), "0001_snow_namespaces.down.sql")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(text))
	// Output: DROP TABLE IF EXISTS snow_namespaces;
}
