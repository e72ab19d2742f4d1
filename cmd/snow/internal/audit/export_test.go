package audit

import (
	"context"
	"database/sql"

	"github.com/shardsnow/snow/sqlsnow"
)

// RunAt is Run with a clock.
var RunAt = runAt

// References returns the tables that a table of the schema public refers to, once for each foreign key.
func References(ctx context.Context, db *sql.DB, d sqlsnow.Dialect, table string) (to []string, err error) {
	a := &audit{db: db, dialect: d}
	if err := a.readCatalog(ctx); err != nil {
		return nil, err
	}
	for _, r := range a.named[a.nameOf("public", table)].references {
		to = append(to, r.table)
	}
	return to, nil
}
