package sqlsnow

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/shardsnow/snow"
)

// mistaken returns err, or a FieldError around it if the server speaks another dialect.
func mistaken(ctx context.Context, q queryer, d Dialect, err error) error {
	var failed *DatabaseError
	if !errors.As(err, &failed) || failed.Code == "" { // no server said it
		return err
	}
	found, version := SQLite, ""
	if q.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&version) != nil {
		if q.QueryRowContext(ctx, "SELECT VERSION()").Scan(&version) != nil {
			return err // it may be any
		}
		found = MySQL
		if strings.Contains(version, "PostgreSQL") || strings.Contains(version, "CockroachDB") {
			found = Postgres
		}
	}
	if found == d {
		return err
	}
	if len(version) > 64 {
		version = version[:64]
	}
	field := &snow.FieldError{Field: "dialect", Value: d.String(), Bound: fmt.Sprintf("the server speaks that of %v and says %q", found, version)}
	return fmt.Errorf("%w (%w)", field, err)
}
