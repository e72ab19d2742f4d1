package command

import (
	"strings"
	"testing"

	"github.com/shardsnow/snow/cmd/snow/internal/database"
	"github.com/shardsnow/snow/sqlsnow/numbers"
)

func TestNumbers(t *testing.T) {
	newRegistry(t)
	want := func(status int, output, line string) {
		t.Helper()
		got := execute(t, strings.Fields(line)...)
		if got.status != status || !strings.Contains(got.stdout+got.stderr, output) {
			t.Fatalf("snow %s: exit status %d, stdout %q, stderr %q; want %d and %q", line, got.status, got.stdout, got.stderr, status, output)
		}
	}
	want(0, "There is no series", "numbers list")
	want(0, "[]", "numbers list -json")
	want(1, `the database has no series "invoices"`, "numbers raise -series invoices -scope 2026 -last 7 -yes")

	f := &databaseFlags{dsn: "env:SNOW_DSN", access: database.Existing, timeout: 10e9}
	db, err := f.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	_, err = numbers.OpenGapFree(t.Context(), db.DB, db.Dialect, numbers.Config{Series: "invoices", Pattern: "INV-{yyyy}-{000000}", Restart: numbers.Yearly})
	if err != nil {
		t.Fatal(err)
	}
	want(0, "none yet", "numbers list")
	want(0, `"counters": []`, "numbers list -json")
	want(2, "--series is missing", "numbers raise -scope 2026 -last 7")
	want(2, "--scope is missing", "numbers raise -series invoices -last 7")
	want(2, "--last is missing", "numbers raise -series invoices -scope 2026")
	want(0, "the last number is 0 and will be 4711", "numbers raise -series invoices -scope 2026 -last 4711 -dry-run")
	want(4, "not confirmed", "numbers raise -series invoices -scope 2026 -last 4711")
	want(1, "want a scope such as 2026", "numbers raise -series invoices -scope x -last 4711 -yes")
	want(0, "the last number is 4711 (open)", "numbers raise -series invoices -scope 2026 -last 4711 -yes")
	want(0, "the last number is 4711 (open)", "numbers raise -series invoices -scope 2026 -last 5 -yes") // it never goes back
	want(0, "invoices  gap-free  INV-{yyyy}-{000000}  yearly   UTC   2026     open   4711", "numbers list")
}

func TestNumbersPreview(t *testing.T) {
	for line, want := range map[string]string{
		"--pattern INV-{yyyy}-{000000} --restart yearly --at 2026-12-31T23:30:00Z --zone Europe/Berlin": "INV-2027-000001\n\ncounter         2027\n",
		"--pattern {tenant}/{yyMMdd}/{0000} --number 7 --at 2026-11-26T00:00:00Z":                       "tenant/261126/0007\n\ncounter         tenant\n",
		"--pattern {a}/{b}/{0}{luhn} --partition b=x --json":                                            `"text": "a/x/18"`,
	} {
		got := execute(t, append([]string{"numbers", "preview"}, strings.Fields(line)...)...)
		if got.status != 0 || !strings.Contains(got.stdout, want) {
			t.Errorf("%s: got %d, %q, %q", line, got.status, got.stdout, got.stderr)
		}
	}
	for line, want := range map[string]string{
		"":                                      "there is no number",
		"--pattern {0":                          "offset 0",
		"--pattern {0} --restart weekly":        "want never, yearly, monthly, daily",
		"--pattern {0} --restart yearly":        "the pattern shows no year",
		"--pattern {0} --zone Mars":             "want a name of the IANA database",
		"--pattern {0} --at yesterday":          "--at: want a time",
		"--pattern {0} --number 10":             "has room for the numbers 1 to 9",
		"--pattern {a}/{0} --partition b=c":     `the pattern has no partition "b"`,
		"--pattern {a}/{0} --partition a=c/d":   "want 1 to 32 ASCII letters",
		"--pattern {yyyy}{0} --restart Monthly": "want never",
	} {
		got := execute(t, append([]string{"numbers", "preview"}, strings.Fields(line)...)...)
		if got.status != 2 || !strings.Contains(got.stderr, want) {
			t.Errorf("%s: got %d, %q, want %q", line, got.status, got.stderr, want)
		}
	}
}
