package migrations_test

import (
	"fmt"
	"io/fs"

	"github.com/shardsnow/snow/migrations"
)

// The files in the order that a tool applies them in.
func Example() {
	files, err := fs.Glob(migrations.Postgres(), "*.up.sql")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range files {
		fmt.Println(name)
	}
	// Output:
	// 0001_snow_namespaces.up.sql
	// 0002_snow_workers.up.sql
	// 0003_snow_segments.up.sql
	// 0004_snow_numbers.up.sql
}

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

func ExampleMySQL() {
	files, err := fs.Glob(migrations.MySQL(), "0001_*")
	fmt.Println(files, err)
	// Output: [0001_snow_namespaces.down.sql 0001_snow_namespaces.up.sql] <nil>
}

func ExampleSQLite() {
	files, err := fs.Glob(migrations.SQLite(), "0002_*")
	fmt.Println(files, err)
	// Output: [0002_snow_workers.down.sql 0002_snow_workers.up.sql] <nil>
}
