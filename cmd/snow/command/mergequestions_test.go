//go:build unix

package command

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shardsnow/snow/cmd/snow/internal/database"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
)

// gameServers makes two databases with the same tables, in EU and US, and returns the flags of them.
func gameServers(t *testing.T, product string) string {
	t.Helper()
	var server *dbtest.Server
	for _, name := range []string{"EU", "US"} {
		number, now := "INTEGER PRIMARY KEY AUTOINCREMENT", "TEXT"
		var dsn string
		switch product {
		case "mysql":
			if server == nil {
				server = dbtest.MariaDB(t)
			}
			dsn = server.DSN(server.CreateDatabase(t))
			number, now = "INT AUTO_INCREMENT PRIMARY KEY", "DATETIME"
		case "postgres":
			if server == nil {
				server = dbtest.Postgres(t)
			}
			dsn = server.DSN(server.CreateDatabase(t))
			number, now = "SERIAL PRIMARY KEY", "TIMESTAMP"
		default:
			dsn = filepath.Join(t.TempDir(), name+".db")
		}
		t.Setenv(name, dsn)
		db, _, err := database.Open(t.Context(), "--dsn", "env:"+name, product, database.Create, 10e9)
		if err != nil {
			t.Fatal(err)
		}
		makeGame(t, db, name, number, now)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return "--dialect " + product + " --source eu=env:EU --source us=env:US"
}

func makeGame(t *testing.T, db *sql.DB, server, number, now string) {
	t.Helper()
	do := func(format string, args ...any) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), fmt.Sprintf(format, args...)); err != nil {
			t.Fatal(err)
		}
	}
	do("CREATE TABLE players (id %s, name VARCHAR(30) NOT NULL UNIQUE, created_at %s)", number, now)
	do("CREATE TABLE guilds (id %s, name VARCHAR(30) NOT NULL)", number)
	do("CREATE TABLE items (id %s, owner_id INT NOT NULL, label VARCHAR(30))", number)
	for i := 1; i <= 40; i++ {
		name := fmt.Sprintf("%s player %d", server, i)
		if i == 7 {
			name = "Aragorn"
		}
		do("INSERT INTO players (name, created_at) VALUES ('%s', '2025-01-01 00:00:%02d')", name, i)
		do("INSERT INTO items (owner_id, label) VALUES (%d, 'sword of %s')", 41-i, server)
		if i <= 5 {
			do("INSERT INTO guilds (name) VALUES ('%s guild %d')", server, i)
		}
	}
}

// A plan that inspect wrote is answered and settled on the terminal, with rows of both sources.
func TestMergeQuestions(t *testing.T) {
	for _, product := range []string{"mysql", "postgres", "sqlite"} {
		t.Run(product, func(t *testing.T) {
			sources := gameServers(t, product)
			plan := filepath.Join(t.TempDir(), "plan.yaml")
			merge := func(input, line string) outcome {
				t.Helper()
				return executeWith(t, input, strings.Fields("merge "+line+" --plan "+plan)...)
			}
			inspected := merge("", "inspect --json "+sources)
			if inspected.status != 0 {
				t.Fatal(inspected.stderr)
			}
			var counted struct{ Open int }
			got := merge("", "questions --json "+sources)
			var list struct {
				Open      int
				Questions []struct{ Name string }
			}
			if err := json.Unmarshal([]byte(got.stdout), &list); err != nil || list.Open < 2 || list.Open != len(list.Questions) {
				t.Fatalf("%v: %s%s", err, got.stdout, got.stderr)
			}
			if err := json.Unmarshal([]byte(inspected.stdout), &counted); err != nil || counted.Open != list.Open {
				t.Errorf("%v: inspect counts %d questions, and questions %d", err, counted.Open, list.Open)
			}
			us := strings.TrimPrefix(sources, "--dialect "+product+" --source eu=env:EU") + " --source eu=env:EU" // in another order
			if got := merge("", "settle "+us); got.status != 0 || !strings.Contains(got.stdout, fmt.Sprintf("with %d open questions", list.Open)) {
				t.Errorf("settle: %s%s", got.stdout, got.stderr)
			}
			if got := merge("", "questions"); got.status != 0 || !strings.Contains(got.stdout, "items.owner_id") || !strings.Contains(got.stdout, "players(name)") {
				t.Errorf("without sources: %s%s", got.stdout, got.stderr)
			}
			if got := merge("", "settle --interactive "+sources); got.status != 1 || !strings.Contains(got.stderr, "standard input is no terminal and has no answers") {
				t.Errorf("nobody answers: %d: %s", got.status, got.stderr)
			}
			t.Setenv("COLUMNS", "300")
			got = merge(strings.Repeat("1\n", list.Open)+"y\n", "settle --interactive "+sources)
			if got.status != 0 {
				t.Fatalf("exit status %d: %s%s", got.status, got.stdout, got.stderr)
			}
			for _, want := range []string{
				fmt.Sprintf("Question 1 of %d: ", list.Open), "Rows of items: eu 40 of 40 different values are ids of players eu id 1, owner_id 40, label sword of EU, in players 40 EU player 40", "us id 1, owner_id 40",
				"Rows of players: eu id 7, name Aragorn us id 7, name Aragorn", fmt.Sprintf("All %d questions have answers.", list.Open), "with 0 open questions",
			} {
				if !strings.Contains(strings.Join(strings.Fields(got.stdout), " "), want) {
					t.Errorf("no %q in %s", want, got.stdout)
				}
			}
			b, err := os.ReadFile(plan)
			if err != nil || strings.Contains(string(b), "questions:") || !strings.Contains(string(b), "{to: players, columns: [items.owner_id]}") {
				t.Errorf("%v: %s", err, b)
			}
		})
	}
}

// Rows come from the database that has the table.
func TestMergeQuestionsOfSeveralDatabases(t *testing.T) {
	server := dbtest.MariaDB(t)
	var flags []string
	for _, name := range []string{"EU", "US"} {
		auth, game := server.CreateDatabase(t), server.CreateDatabase(t)
		t.Setenv(name, server.DSN(auth))
		db, _, err := database.Open(t.Context(), "--dsn", "env:"+name, "mysql", database.Existing, 10e9)
		if err != nil {
			t.Fatal(err)
		}
		for _, statement := range []string{
			"CREATE TABLE players (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(30))",
			"CREATE TABLE " + game + ".items (id INT AUTO_INCREMENT PRIMARY KEY, player_id INT)",
			"INSERT INTO players (name) VALUES ('A'), ('B'), ('C')",
			"INSERT INTO " + game + ".items (player_id) VALUES (3), (2), (1), (1), (2), (3)",
		} {
			if _, err := db.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		flags = append(flags, "--source", strings.ToLower(name)+"=env:"+name, "--databases", strings.ToLower(name)+"=auth:"+auth+",game:"+game)
	}
	flags = append(flags, "--dialect", "mysql", "--plan", filepath.Join(t.TempDir(), "plan.yaml"))
	if got := execute(t, append([]string{"merge", "inspect"}, flags...)...); got.status != 0 {
		t.Fatal(got.stderr)
	}
	t.Setenv("COLUMNS", "300")
	got := executeWith(t, "q\n", append([]string{"merge", "settle", "--interactive"}, flags...)...)
	if got.status != 0 || !strings.Contains(got.stdout, "us  id 1, player_id 3, in auth.players 3 C") {
		t.Errorf("exit status %d: %s%s", got.status, got.stdout, got.stderr)
	}
}

// If a source does not answer, the questions are asked without rows.
func TestMergeQuestionsWithoutASource(t *testing.T) {
	sources := gameServers(t, "sqlite")
	plan := filepath.Join(t.TempDir(), "plan.yaml")
	if got := execute(t, strings.Fields("merge inspect "+sources+" --plan "+plan)...); got.status != 0 {
		t.Fatal(got.stderr)
	}
	t.Setenv("US", filepath.Join(t.TempDir(), "gone.db"))
	got := executeWith(t, "1\nq\n", strings.Fields("merge settle --interactive "+sources+" --plan "+plan)...)
	if got.status != 0 || !strings.Contains(got.stderr, "there are no samples of rows") || !strings.Contains(got.stdout, "Stopped. ") {
		t.Errorf("exit status %d: %s%s", got.status, got.stdout, got.stderr)
	}
}

func TestMergeQuestionsUsage(t *testing.T) {
	for line, want := range map[string]string{
		"questions":                            "--plan is missing",
		"questions --plan p.yaml --port 80":    "--port is for --serve",
		"questions --plan p --serve --json":    "people are asked in words only",
		"settle --plan p.yaml":                 "--source is missing",
		"settle --interactive":                 "--plan is missing",
		"settle --interactive --plan p --json": "people are asked in words only",
	} {
		if got := execute(t, strings.Fields("merge "+line)...); got.status != 2 || !strings.Contains(got.stderr, want) {
			t.Errorf("%s: %d, %s", line, got.status, got.stderr)
		}
	}
}
