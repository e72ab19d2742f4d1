package command

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shardsnow/snow/cmd/snow/internal/database"
)

// words splits a command line, in which quotes keep words together.
var words = regexp.MustCompile(`'[^']*'|\S+`)

// guideCommands returns the commands of docs/merge.md for the days before a merge and for its night, in the order of a merge,
// with values where the page has an ellipsis.
func guideCommands(t *testing.T) (commands [][]string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "merge.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, page, found := strings.Cut(string(b), "## The days before")
	page, _, isThere := strings.Cut(page, "### The report as a page")
	if !found || !isThere {
		t.Fatal("docs/merge.md has other sections")
	}
	sources := "-source eu=env:EU -source us=env:US"
	for line := range strings.Lines(page) {
		command, isCommand := strings.CutPrefix(strings.TrimSpace(line), "snow merge ")
		if !isCommand || !strings.HasPrefix(line, "    ") {
			continue
		}
		command, _, _ = strings.Cut(command, " # ")
		command = strings.ReplaceAll(command, "-source … -source …", sources)
		command = strings.ReplaceAll(command, "-target …", "-target env:GAME")
		command = strings.ReplaceAll(command, "-assert …", "-assert 'gold=SELECT SUM(gold) FROM players'")
		command = strings.ReplaceAll(command, " … ", " -dialect mysql "+sources+" -target env:GAME -plan plan.yaml -namespace game ")
		if strings.Contains(command, "…") {
			t.Errorf("what is left out of %q?", command)
		}
		args := []string{"merge"}
		for _, word := range words.FindAllString(command, -1) {
			args = append(args, strings.Trim(word, "'"))
		}
		commands = append(commands, args)
	}
	last := slices.IndexFunc(commands, func(args []string) bool { return args[1] == "run" })
	if len(commands) < 9 || last < 0 {
		t.Fatalf("only %q", commands)
	}
	run := commands[last] // a forecast comes before it, and below it on the page
	at := slices.IndexFunc(commands, func(args []string) bool { return args[1] == "lookup" })
	return slices.Insert(slices.Delete(commands, last, last+1), at-1, run)
}

// The commands of the guide merge two servers.
func TestMergeGuide(t *testing.T) {
	commands := guideCommands(t)
	t.Chdir(t.TempDir())
	for _, name := range []string{"EU", "US", "GAME"} {
		t.Setenv(name, name+".db")
		if name == "GAME" {
			continue
		}
		db, _, err := database.Open(t.Context(), "--dsn", "env:"+name, "sqlite", database.Create, 10e9)
		if err != nil {
			t.Fatal(err)
		}
		do := func(format string, args ...any) {
			t.Helper()
			if _, err := db.ExecContext(t.Context(), fmt.Sprintf(format, args...)); err != nil {
				t.Fatal(err)
			}
		}
		do("CREATE TABLE players (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, gold INTEGER NOT NULL)")
		do("CREATE TABLE items (id INTEGER PRIMARY KEY AUTOINCREMENT, owner_id INTEGER NOT NULL)")
		for i := range 40 {
			do("INSERT INTO players VALUES (%d, '%s', %d)", 1200+i, map[bool]string{true: "Aragorn", false: fmt.Sprint(name, i)}[i == 3], i)
			do("INSERT INTO items (owner_id) VALUES (%d)", 1239-i)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	said := map[string]string{}
	for _, args := range commands {
		for i, word := range args {
			if i > 0 && args[i-1] == "-dialect" && word == "mysql" {
				args[i] = "sqlite" // the page is about MySQL
			}
		}
		input := ""
		switch {
		case slices.Contains(args, "-serve"):
			continue // which serves until somebody ends it
		case slices.Contains(args, "-interactive"):
			input = strings.Repeat("1\n", 20) + "n\n"
		case args[1] == "run":
			args = append(args, "-yes")
		}
		got := executeWith(t, input, args...)
		if said[args[1]] = got.stdout; got.status != 0 {
			t.Fatalf("snow %s: exit status %d: %s%s", strings.Join(args, " "), got.status, got.stdout, got.stderr)
		}
	}
	for step, want := range map[string]string{"settle": "with 0 open questions", "dry-run": "Nothing would stop a run.", "run": "Everything is as it should be."} {
		if !strings.Contains(said[step], want) {
			t.Errorf("%s: no %q in %s", step, want, said[step])
		}
	}
	if len(strings.TrimSpace(said["lookup"])) < 10 {
		t.Errorf("lookup: %q", said["lookup"])
	}
}
