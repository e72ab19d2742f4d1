package command

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/cmd/snow/internal/database"
	"github.com/shardsnow/snow/sqlsnow/segments"
)

func TestSegments(t *testing.T) {
	newRegistry(t)
	want := func(status int, output, line string) {
		t.Helper()
		got := execute(t, strings.Fields(line)...)
		if got.status != status || !strings.Contains(got.stdout+got.stderr, output) {
			t.Fatalf("snow %s: exit status %d, stdout %q, stderr %q; want %d and %q", line, got.status, got.stdout, got.stderr, status, output)
		}
	}
	want(0, "There is no counter", "segments show")
	want(0, "[]", "segments show -json")
	want(1, `the database has no tag "orders"`, "segments raise -tag orders -above 7 -yes")

	f := &databaseFlags{dsn: "env:SNOW_DSN", access: database.Existing, timeout: 10e9}
	db, err := f.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	s, err := segments.Open(t.Context(), []*sql.DB{db.DB}, db.Dialect, segments.Config{Tag: "orders", Logger: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Fill(t.Context(), make([]snow.ID, 3)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	want(0, "orders  open   ", "segments show")
	want(0, `"databases": 1,`, "segments show -json")
	want(2, "--tag is missing", "segments raise -above 1")
	want(2, "--above is missing", "segments raise -tag orders")
	want(2, "want an id in decimal", "segments raise -tag orders -above x")
	want(0, "will be above 5000000", "segments raise -tag orders -above 5000000 -dry-run")
	want(4, "not confirmed", "segments raise -tag orders -above 5000000")
	if c, err := segments.Counters(t.Context(), db.DB, db.Dialect); err != nil || len(c) != 1 || c[0].Next >= 5_000_000 {
		t.Fatalf("raised without a confirmation: %+v, %v", c, err)
	}
	want(0, "the next number is 5000001 (open)", "segments raise -tag orders -above 5000000 -yes")
	want(0, "the next number is 5000001 (open)", "segments raise -tag orders -above 5 -yes") // it never goes back
}
