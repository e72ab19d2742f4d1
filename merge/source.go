package merge

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
)

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

const longestSource = 40

func checkSourceNames(names []string) error {
	if len(names) == 0 {
		return fmt.Errorf("no sources")
	}
	for i, name := range names {
		bad := func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._-", r)
		}
		if name == "" || len(name) > longestSource || strings.ContainsFunc(name, bad) {
			return fmt.Errorf("source name %q: want 1 to %d letters, digits, dots, underscores or hyphens of ASCII", name, longestSource)
		}
		if slices.ContainsFunc(names[:i], func(other string) bool { return strings.EqualFold(other, name) }) {
			return fmt.Errorf("source name %q: there are two of it", name)
		}
	}
	return nil
}
