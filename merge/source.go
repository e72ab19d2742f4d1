package merge

import "database/sql"

// A Source is a database whose tables are merged. It is only read.
type Source struct {
	// Name tells it from the others, in the plan, in suffixes of names and in
	// lookups for ever after: 1 to 40 letters, digits, dots, underscores or
	// hyphens of ASCII.
	Name string

	// DB is a pool of the database, with its driver's default settings or any
	// others. On MySQL its DSN names the database; on PostgreSQL the tables are
	// those of current_schema().
	DB *sql.DB
}
