// Package migrations holds the SQL files that make the tables of package sqlsnow, for golang-migrate and other tools that
// read numbered pairs of up and down files. sqlsnow.Migrate applies them without a tool.
//
// Every dialect has the same numbers and names. A file holds one statement, and an up file can run again on a database
// that has its table, so that a tool and sqlsnow.Migrate can take turns. Once released a file never changes or goes away:
// what differs later is another number.
//
// The last down file drops the registry of worker windows. Ids that are made after the tables are made anew can repeat
// earlier ones for as long as a window that was granted before reaches into the future.
package migrations

import (
	"embed"
	"io/fs"
)

//go:embed mysql/*.sql postgres/*.sql sqlite/*.sql
var files embed.FS

// MySQL returns the files for MySQL 5.7 or later, MariaDB, Galera and TiDB.
// Like the others it has no directories and is safe for concurrent use.
func MySQL() fs.FS { return dialect("mysql") }

// Postgres returns the files for PostgreSQL.
func Postgres() fs.FS { return dialect("postgres") }

// SQLite returns the files for SQLite 3.37 or later, which has strict tables.
func SQLite() fs.FS { return dialect("sqlite") }

func dialect(dir string) fs.FS {
	sub, _ := fs.Sub(files, dir) // fails for malformed names only
	return sub
}
