package convert_test

import (
	"testing"

	"github.com/shardsnow/snow/sqlsnow"
)

// A schema is a database that is converted.
type schema struct {
	statements func(*testing.T, sqlsnow.Dialect) []string
	found      map[string]map[string]string // by dialect: references that no key declares
}

func ofFile(name string) func(*testing.T, sqlsnow.Dialect) []string {
	return func(t *testing.T, d sqlsnow.Dialect) []string {
		if d == sqlsnow.Postgres {
			return script(t, name+"_postgres.sql")
		}
		return script(t, name+"_mysql.sql")
	}
}

// schemas are the shop, and two that others wrote: a forum whose discussions and posts refer to each other, and a
// shop whose names are in upper and lower case on MySQL, and whose keys are GENERATED ALWAYS on PostgreSQL.
var schemas = map[string]schema{
	"shop": {
		func(_ *testing.T, d sqlsnow.Dialect) []string { return shopSchema(d, 1) },
		map[string]map[string]string{"MySQL": shopFound, "PostgreSQL": shopFound},
	},
	"flarum":  {statements: ofFile("flarum")},
	"chinook": {statements: ofFile("chinook")},
}

// The writers themselves, without a conversion: what they are told is what is in the database.
func TestWriters(t *testing.T) {
	eachSchema(t, []string{"shop"}, func(t *testing.T, w *world) {
		writers := []*writer{w.writer(false), w.writer(false)}
		for range 300 {
			for _, each := range writers {
				if err := each.once(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
		w.check()
	})
}
