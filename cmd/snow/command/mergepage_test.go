//go:build unix

package command

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
)

// shownCommand is a command of a page with what it prints.
var shownCommand = regexp.MustCompile(`(?m)^    \$ snow (.*)\n((?:    [^$\n][^\n]*\n|\n    [^$\n][^\n]*\n|    \n)*)`)

// changing is what differs from run to run in what a merge prints: ids, hashes, times and rates. The width of columns follows.
var changing = regexp.MustCompile(`[0-9a-f]{32,64}|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC|\b\d+(\.\d+)?(ms|s|µs)\b|\b\d{12,19}\b|\b\d+\n`)

// The page about two servers: its accounts, its commands, and what they print.
func TestMergeTwoServers(t *testing.T) {
	file := filepath.Join("..", "..", "..", "docs", "merge-two-servers.md")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	if n := len(strings.Fields(page)); n > 1200 || strings.Count(page, "…") > 1 { // of snow_merge_…
		t.Errorf("the page has %d words, want at most 1,200 and nothing left out", n)
	}
	twoServers(t, page)
	t.Chdir(t.TempDir())
	variables := strings.NewReplacer("$S", "-source eu=env:EU -source us=env:US -plan plan.yaml", "$T", "-target env:GAME -namespace game")
	shown := shownCommand.FindAllStringSubmatch(page, -1)
	if len(shown) < 8 {
		t.Fatalf("the page has %d commands", len(shown))
	}
	for _, block := range shown {
		var args []string
		for _, word := range words.FindAllString(variables.Replace(block[1]), -1) {
			args = append(args, strings.Trim(word, "'"))
		}
		switch args[1] {
		case "settle":
			plan, err := os.ReadFile("plan.yaml")
			if err != nil {
				t.Fatal(err)
			}
			answered := strings.ReplaceAll(string(plan), "answer:\n", "answer: yes\n")
			if err := os.WriteFile("plan.yaml", []byte(answered), 0o600); err != nil {
				t.Fatal(err)
			}
		case "run":
			args = append(args, "-yes")
		}
		got := execute(t, args...)
		if got.status != 0 {
			t.Fatalf("snow %s: exit status %d: %s%s", block[1], got.status, got.stdout, got.stderr)
		}
		want := strings.TrimSpace(regexp.MustCompile(`(?m)^    `).ReplaceAllString(block[2], ""))
		if told := strings.TrimSpace(got.stdout); stable(told) != stable(want) {
			t.Errorf("$ snow %s\nprints\n%s\nand the page has\n%s", block[1], told, want)
		}
	}
	if report := os.Getenv("SNOW_MERGE_REPORT"); report != "" { // to look at
		if err := os.Rename("night.html", report); err != nil {
			t.Error(err)
		}
	}
}

// stable returns text without what changes, and with one space between words.
func stable(text string) string {
	return strings.Join(strings.Fields(changing.ReplaceAllString(text+"\n", "0 ")), " ")
}

// twoServers makes the databases and accounts of the page.
func twoServers(t *testing.T, page string) {
	t.Helper()
	server := dbtest.MariaDB(t)
	config, err := mysql.ParseDSN(server.DSN(server.CreateDatabase(t)))
	if err != nil {
		t.Fatal(err)
	}
	root, err := sql.Open("mysql", config.FormatDSN())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	do := func(format string, args ...any) {
		t.Helper()
		if _, err := root.ExecContext(t.Context(), fmt.Sprintf(format, args...)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"reader", "writer"} {
		do("CREATE USER '%s'@'%%' IDENTIFIED BY 'secret'", name)
	}
	for i, name := range []string{"eu", "us"} {
		do("CREATE DATABASE %s", name)
		do("CREATE TABLE %s.players (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(40) NOT NULL UNIQUE, gold BIGINT NOT NULL)", name)
		do("CREATE TABLE %s.items (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, owner_id BIGINT NOT NULL, kind VARCHAR(20) NOT NULL)", name)
		for n := range 40 {
			do("INSERT INTO %s.players VALUES (%d, '%s', %d)", name, 1200+n, map[bool]string{true: "Aragorn", false: fmt.Sprint(name, n)}[n == 3], n)
		}
		for n := range 90 - 20*i {
			do("INSERT INTO %s.items (owner_id, kind) VALUES (%d, '%s sword %d')", name, 1200+(n*7+10*i)%40, name, n)
		}
	}
	_, rights, found := strings.Cut(page, "```sql\n")
	rights, _, _ = strings.Cut(rights, "```")
	if !found {
		t.Fatal("the page has no rights")
	}
	for line := range strings.Lines(rights) {
		do("%s", strings.TrimSpace(line))
	}
	for variable, at := range map[string][2]string{"EU": {"reader", "eu"}, "US": {"reader", "us"}, "GAME": {"writer", "game"}} {
		own := config.Clone()
		own.User, own.Passwd, own.DBName, own.Params = at[0], "secret", at[1], nil
		t.Setenv(variable, own.FormatDSN())
	}
}
