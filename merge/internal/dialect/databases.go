package dialect

import (
	"slices"
	"strings"

	"github.com/shardsnow/snow/sqlsnow"
)

// In returns the dialect of sessions that merge tables of several databases: databases are their names
// there, by their names in the plan. The name "" stands for the database of tables without one. Without databases it
// returns d itself.
func (d *Dialect) In(databases map[string]string) *Dialect {
	if len(databases) == 0 {
		return d
	}
	in := *d
	in.databases = databases
	return &in
}

// Yielding returns the dialect of a job whose sessions in sources give up after 5 s where they wait for a lock.
// Statements that wait for them, such as ALTER TABLE, wait no longer for that.
func (d *Dialect) Yielding() *Dialect {
	yielding := *d
	switch d.Kind {
	case sqlsnow.MySQL:
		yielding.Source = append(slices.Clone(d.Source), "SET SESSION lock_wait_timeout = 5, innodb_lock_wait_timeout = 5")
	case sqlsnow.Postgres:
		yielding.Source = append(slices.Clone(d.Source), "SET LOCAL lock_timeout = '5s'")
	}
	return &yielding
}

// Databases are what In was given.
func (d *Dialect) Databases() map[string]string { return d.databases }

// Table returns a table of the plan as SQL. A session's own dialect must be asked, see [Dialect.In]: any other one
// writes the plan's name, which no database has.
func (d *Dialect) Table(name string) string {
	database, table := d.Locate(name)
	if database == "" {
		return d.Quote(table)
	}
	return d.Quote(database) + "." + d.Quote(table)
}

// Locate returns the database that a table of the plan is in, or "" for the session's own one, and its name there.
func (d *Dialect) Locate(name string) (database, table string) {
	if before, after, ok := strings.Cut(name, "."); ok && before != "" {
		if database, ok := d.databases[before]; ok {
			return database, after
		}
	}
	return d.databases[""], name
}

// Expand replaces the plan's names of databases in braces, such as {auth}, by the real ones. The values are
// pairs of other texts in braces and what is written in their place, which count before the names.
func (d *Dialect) Expand(text string, values ...string) string {
	for name, database := range d.databases {
		values = append(values, "{"+name+"}", d.Quote(database))
	}
	return strings.NewReplacer(values...).Replace(text)
}
