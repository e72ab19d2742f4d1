//go:build unix

package command

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	_ "time/tzdata" // Europe/Berlin

	"github.com/shardsnow/snow/cmd/snow/internal/database"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/sqlsnow/numbers"
)

// numbersCommands returns the commands of docs/numbers.md in the order of the page, which is the same in Chinese.
func numbersCommands(t *testing.T) (commands [][]string) {
	t.Helper()
	var pages []string
	for _, page := range []string{"numbers.md", "zh-CN/numbers.md"} {
		b, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", page))
		if err != nil {
			t.Fatal(err)
		}
		lines := regexp.MustCompile("(?m)^    (snow .*)$|`(snow [^`]*)`").FindAllStringSubmatch(string(b), -1)
		commands = nil
		for _, line := range lines {
			var args []string
			for _, word := range words.FindAllString(line[1]+line[2], -1)[1:] {
				args = append(args, strings.Trim(word, "'"))
			}
			commands = append(commands, args)
		}
		pages = append(pages, strings.Join(slices.Concat(commands...), " "))
	}
	if len(commands) != 4 || pages[0] != pages[1] {
		t.Fatalf("the pages have the commands %q", pages)
	}
	return commands
}

// The commands of the page look after the series of the page.
func TestNumbersGuide(t *testing.T) {
	commands := numbersCommands(t)
	for name, start := range map[string]func(*testing.T) string{
		"SQLite": func(t *testing.T) string { return filepath.Join(t.TempDir(), "a.db") },
		"MariaDB": func(t *testing.T) string {
			server := dbtest.MariaDB(t)
			return server.DSN(server.CreateDatabase(t))
		},
		"PostgreSQL": func(t *testing.T) string {
			server := dbtest.Postgres(t)
			return server.DSN(server.CreateDatabase(t))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("SNOW_DSN", start(t))
			if got := execute(t, "migrate"); got.status != 0 {
				t.Fatal(got.stderr)
			}
			db, d, err := database.Open(t.Context(), "--dsn", "env:SNOW_DSN", "", database.Existing, 10e9)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			invoices, err := numbers.OpenGapFree(t.Context(), db, d, numbers.Config{
				Series: "invoices", Pattern: "INV-{yyyy}-{000000}", Restart: numbers.Yearly, Zone: "Europe/Berlin",
			})
			if err != nil {
				t.Fatal(err)
			}
			_, err = numbers.OpenFast(t.Context(), db, d, numbers.FastConfig{
				Config: numbers.Config{Series: "orders", Pattern: "{yyMMdd}-{000000}", Restart: numbers.Daily},
			})
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range []string{
				"INV-2026-000001", "counter 2026: the last number is 4711 (open)", "gap-free  INV-{yyyy}-{000000}  yearly   Europe/Berlin  2026",
				"counter 26-11-26: the last number is 5000 (open)",
			} {
				args := commands[i]
				if args[1] == "raise" {
					args = append(args, "-yes")
				}
				if got := execute(t, args...); got.status != 0 || !strings.Contains(got.stdout, want) {
					t.Errorf("snow %s: got %+v, want %q", strings.Join(args, " "), got, want)
				}
			}
			tx, err := db.BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = tx.Rollback() }()
			want := "000001" // of another year than the page has
			number, err := invoices.Take(t.Context(), tx)
			if strings.HasPrefix(number, "INV-2026-") {
				want = "004712"
			}
			if err != nil || !strings.HasSuffix(number, "-"+want) {
				t.Errorf("after the commands: got %q, %v, want %s", number, err, want)
			}
		})
	}
}
