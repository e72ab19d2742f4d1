//go:build unix

package audit_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/shardsnow/snow/cmd/snow/internal/database"
)

func open(t *testing.T, value, dialect string, access database.Access) *sql.DB {
	t.Helper()
	db, _, err := database.Open(t.Context(), "--dsn", value, dialect, access, 30*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// inFile writes a DSN to a file, and returns what stands for it.
func inFile(t *testing.T, dsn string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "dsn")
	if err := os.WriteFile(name, []byte(dsn), 0o600); err != nil {
		t.Fatal(err)
	}
	return "@" + name
}
