//go:build unix

package command

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shardsnow/snow/cmd/snow/internal/database"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
)

// wanting returns a function that runs a command line and compares its exit status and a part of its output.
func wanting(t *testing.T) func(status int, output, line string) {
	return func(status int, output, line string) {
		t.Helper()
		line, input, _ := strings.Cut(line, " <<< ")
		args := strings.Fields(line)
		if strings.HasSuffix(line, " ") { // what a shell completes is empty
			args = append(args, "")
		}
		got := executeWith(t, strings.ReplaceAll(input, ",", "\n"), args...)
		if got.status != status || !strings.Contains(got.stdout+got.stderr, output) {
			t.Errorf("snow %s: exit status %d, stdout %q, stderr %q; want %d and %q", line, got.status, got.stdout, got.stderr, status, output)
		}
	}
}

func TestMigrateStatus(t *testing.T) {
	for _, product := range []string{"sqlite", "mariadb", "postgres"} {
		t.Run(product, func(t *testing.T) {
			switch product {
			case "sqlite":
				t.Setenv("SNOW_DSN", filepath.Join(t.TempDir(), "a.db"))
			case "mariadb":
				server := dbtest.MariaDB(t)
				t.Setenv("SNOW_DSN", server.DSN(server.CreateDatabase(t)))
			default:
				server := dbtest.Postgres(t)
				t.Setenv("SNOW_DSN", server.DSN(server.CreateDatabase(t)))
			}
			want := wanting(t)
			db, d, err := database.Open(t.Context(), "--dsn", "env:SNOW_DSN", "", database.Create, 10e9)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = db.Close() })
			// a file of SQLite is there
			if _, err := db.ExecContext(t.Context(), "CREATE TABLE other (id INT)"); err != nil {
				t.Fatal(err)
			}
			want(3, "0001_snow_namespaces  missing  -\n", "migrate status")
			all, err := migrationsOf(d)
			if err != nil || len(all) < 3 {
				t.Fatal(all, err)
			}
			want(0, all[1].statement+";\n", "migrate --print")
			// What is printed makes the tables.
			for _, m := range all {
				if _, err := db.ExecContext(t.Context(), m.statement); err != nil {
					t.Fatal(err)
				}
			}
			want(3, "0004_snow_numbers     not recorded  -\n", "migrate status")
			want(0, "the tables are there", "migrate")
			want(0, "0004_snow_numbers     applied  20", "migrate status")
			for _, statement := range []string{"DROP TABLE snow_numbers", "INSERT INTO snow_migrations (version, name, applied_at) VALUES (99, '0099_later', CURRENT_TIMESTAMP)"} {
				if _, err := db.ExecContext(t.Context(), statement); err != nil {
					t.Fatal(err)
				}
			}
			want(3, "migrate status: 1 migration to apply", "migrate status")
			want(3, `"state": "newer"`, "migrate status --json")
		})
	}
	want := wanting(t)
	want(0, "ENGINE=InnoDB", "migrate --print --dialect mariadb")
	want(0, "PRIMARY KEY (tag)\n) STRICT, WITHOUT ROWID;\n", "migrate --print --dialect sqlite")
	want(2, "--dialect is missing", "migrate --print")
}

func TestMonitoring(t *testing.T) {
	t.Setenv("SNOW_DSN", filepath.Join(t.TempDir(), "a.db"))
	want := wanting(t)
	want(0, "", "migrate")
	want(1, `"snow init" makes a namespace`, "workers --check")
	want(0, "", "init --namespace shop --workers 4")
	want(0, "", "init --namespace game --workers 1000")
	want(0, "0 late", "workers --check")
	want(0, "shop at ", "workers --check --namespace shop")
	want(3, "workers: free, late: 1004 numbers", "workers --check --state free,late")
	want(0, "0–999   free   -", "workers --state free")
	want(0, "0–3     free   -", "workers --namespace shop --all")
	db, _, err := database.Open(t.Context(), "--dsn", "env:SNOW_DSN", "", database.Existing, 10e9)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	const gone = "UPDATE snow_workers SET state = 2, fence = 7, holder = 'gone', renewed_at_ms = 0, ceiling_tick = 2199023255551 WHERE namespace = 'shop' AND worker_id = 1"
	if _, err := db.ExecContext(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	want(3, "workers: late: 1 number\n", "workers --check")
	want(3, "1       late   gone", "workers --check --namespace shop")
	want(3, `"error":"workers: late: 1 number"`, "workers --check --json")
	want(0, "0 late", "workers --check --namespace game")
	want(2, "--state: want held, late", "workers --state sick")
	want(2, "not both", "workers --check --watch")
}

func TestEnvironment(t *testing.T) {
	t.Setenv("SNOW_DSN", filepath.Join(t.TempDir(), "a.db"))
	want := wanting(t)
	want(0, "", "migrate")
	t.Setenv("SNOW_NAMESPACE", "shop")
	want(0, "namespace shop", "init --workers 4")
	want(0, "shop at ", "workers")
	want(0, "namespace  workers", "workers --namespace=")
	want(0, "worker 1 is free", "release --worker 1")
	want(0, "", "id new")
	want(0, "", "id new --worker 7")
	want(0, "nothing was changed", "fence --dry-run")
	t.Setenv("SNOW_DIALECT", "mariadb")
	want(0, "CREATE FUNCTION", "sql functions")
	want(0, "", "workers") // the DSN knows better
	t.Setenv("SNOW_DIALECT", "oracle")
	want(2, "want mysql", "sql functions")
}

func TestDidYouMean(t *testing.T) {
	want := wanting(t)
	want(2, "did you mean workers? There are ", "wokers")
	want(2, "did you mean show? There are new, range, show", "id sohw")
	want(2, "unknown flag --namspace; did you mean --namespace?", "workers --namspace shop")
	want(2, "unknown flag --geheim; see", "workers --geheim")
}

func TestBadLines(t *testing.T) {
	want := wanting(t)
	want(2, "175928847299117063  base32", "id show <<< zwölf,175928847299117063,,0")
	want(2, "standard input: 2 lines could not be read:\n  line 1: id \"zwölf\": want decimal", "id show <<< zwölf,175928847299117063,,0")
	want(2, "\n  line 4: id 0: it means", "id show <<< zwölf,175928847299117063,,0")
	want(2, "175928847299117063  base32", "id show zwölf 175928847299117063")
	want(2, "line 2: ", "layout - <<< default,nix")
}

func TestCompletion(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.db")
	t.Setenv("SNOW_DSN", file)
	t.Setenv("SHOP_DSN", "geheim")
	want := wanting(t)
	want(0, "", "migrate")
	want(0, "", "init --namespace shop --workers 4")
	want(0, "shop\n:4", "__complete workers --namespace ")
	want(0, "shop\n:4", "__complete fence --namespace ")
	want(0, "mariadb\npostgres\n", "__complete workers --dialect ")
	want(0, "late\n", "__complete workers --state ")
	want(0, "discord\n", "__complete id new --layout ")
	want(0, "env:SHOP_DSN\nenv:SNOW_DSN\n", "__complete workers --dsn ")
	want(0, "@"+file+"\n", "__complete workers --dsn @"+file[:len(file)-2])
	want(0, "base32\n", "__complete id new --format ")
	want(0, "raise\t", "__complete segments ")
	want(0, "preview\t", "__complete numbers ")
	want(0, "monthly\n", "__complete numbers preview --restart ")
	want(0, ":4", "__complete workers --dsn env:NIX --namespace ")
}

// Names that others wrote do not change the terminal.
func TestNamesOfStrangers(t *testing.T) {
	t.Setenv("SNOW_DSN", filepath.Join(t.TempDir(), "a.db"))
	want := wanting(t)
	want(0, "", "migrate")
	want(0, "", "init --namespace shop --workers 4")
	db, _, err := database.Open(t.Context(), "--dsn", "env:SNOW_DSN", "", database.Existing, 10e9)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	const evil = "'ev' || char(27) || '[31mil' || char(10) || 'x'"
	for _, statement := range []string{
		"INSERT INTO snow_segments VALUES (" + evil + ", 'space', 1, 0, 1, 5, 0)",
		"INSERT INTO snow_numbers VALUES (" + evil + ", '', 'x', 'UTC', 1, 0, 1, 0, '!')",
		"CREATE TEMPORARY TABLE one AS SELECT * FROM snow_namespaces",
		"UPDATE one SET namespace = " + evil,
		"INSERT INTO snow_namespaces SELECT * FROM one",
		"UPDATE snow_workers SET state = 2, fence = 7, holder = " + evil + ", renewed_at_ms = 0, ceiling_tick = 2199023255551 WHERE worker_id = 1",
	} {
		db.SetMaxOpenConns(1) // which has the temporary table
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	for line, shown := range map[string]string{
		"workers":                          "ev?[31mil?x",
		"workers --namespace shop":         "ev?[31mil?x",
		"segments show":                    "ev?[31mil?x",
		"numbers list":                     "ev?[31mil?x",
		"workers --state free":             "ev\\x1b[31mil", // which is no namespace
		"__complete workers --namespace s": "shop",
	} {
		got := execute(t, strings.Fields(line)...)
		if text := got.stdout + got.stderr; strings.Contains(text, "\x1b") || strings.Contains(text, "\nx") || !strings.Contains(text, shown) {
			t.Errorf("snow %s: %q, want %q", line, text, shown)
		}
	}
	a := &app{}
	var out strings.Builder
	a.Err = &out
	a.printError(errors.New("the server says \x1b[31m\r\nno"), false)
	if out.String() != "snow: the server says ?[31m\nno\n" {
		t.Errorf("%q", &out)
	}
}
