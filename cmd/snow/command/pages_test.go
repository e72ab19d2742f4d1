package command

import (
	"database/sql"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/shardsnow/snow/cmd/snow/internal/database"
	"github.com/shardsnow/snow/sqlsnow/numbers"
	"github.com/shardsnow/snow/sqlsnow/segments"
)

// What the pages show of commands that need no database is what they print.
func TestCommandsOfPages(t *testing.T) {
	names, err := filepath.Glob(filepath.Join("..", "..", "..", "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile(`(?m)^    \$ snow (layout|id) [^\n]*\n(    [^\n]*\n)*`)
	checked := 0
	for _, name := range names {
		page, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, shown := range block.FindAllString(string(page), -1) {
			shown = strings.ReplaceAll(strings.TrimPrefix(shown, "    "), "\n    ", "\n")
			command, _, _ := strings.Cut(strings.TrimPrefix(shown, "$ snow "), "\n")
			checked++
			if got := strings.TrimSuffix(transcript(t, command), "\n"); got != shown {
				t.Errorf("%s shows\n%s\nand it prints\n%s", filepath.Base(name), shown, got)
			}
		}
	}
	if checked < 2 {
		t.Errorf("found %d commands on the pages", checked)
	}
}

// The commands for a database that has everything, on the page for the day after a restore.
func TestCommandsAfterARestore(t *testing.T) {
	newRegistry(t)
	db, err := (&databaseFlags{dsn: "env:SNOW_DSN", access: database.Existing, timeout: 10e9}).open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	s, err := segments.Open(t.Context(), []*sql.DB{db.DB}, db.Dialect, segments.Config{Tag: "orders", Logger: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := numbers.OpenFast(t.Context(), db.DB, db.Dialect, numbers.FastConfig{
		Config: numbers.Config{Series: "tickets", Pattern: "T-{yyyy}-{000000}", Restart: numbers.Yearly},
	}); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "after-a-restore.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, block, found := strings.Cut(string(page), "for a database that has everything:\n\n")
	block, _, _ = strings.Cut(block, "\n\n")
	want := map[string]string{"fence": "fence", "segments": "5000001", "numbers": "250000", "workers": "cooling"}
	if lines := strings.Split(block, "\n"); !found || len(lines) != len(want) {
		t.Fatalf("the page has %q", lines)
	}
	for line := range strings.Lines(block) {
		args := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "snow "))
		got := execute(t, args...)
		if got.status != 0 || !strings.Contains(got.stdout, want[args[0]]) {
			t.Errorf("%s: exit status %d: %s%s", line, got.status, got.stdout, got.stderr)
		}
	}
}
