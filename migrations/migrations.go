package migrations

import (
	"embed"
	"io/fs"
)

//go:embed mysql/*.sql postgres/*.sql sqlite/*.sql
var files embed.FS

// MySQL returns the files for MySQL 5.7 or later, MariaDB, Galera and TiDB. The
// file system has no directories and is safe for concurrent use.
func MySQL() fs.FS { return dialect("mysql") }

// Postgres returns the files for PostgreSQL, in the same form as [MySQL].
func Postgres() fs.FS { return dialect("postgres") }

// SQLite returns the files for SQLite 3.37 or later, which has strict tables, in
// the same form as [MySQL].
func SQLite() fs.FS { return dialect("sqlite") }

func dialect(dir string) fs.FS {
	sub, _ := fs.Sub(files, dir) // fails only for malformed names
	return sub
}
