package database

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shardsnow/snow/sqlsnow"
)

// patience is how long a file may take to open.
const patience = 10 * time.Second

func TestResolve(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return "@" + file
	}
	t.Setenv("DSN", " a:geheim@tcp(h)/d\n")
	t.Setenv("EMPTY", " ")
	for _, tt := range []struct {
		name, value, dialect string
		want                 string
		err                  string
	}{
		{"the environment", "env:DSN", "mysql", "a:geheim@tcp(h)/d", ""},
		{"a file", write("dsn", "postgres://a:geheim@h/d\n"), "", "postgres://a:geheim@h/d", ""},
		{"a database", "registry.db", "", "registry.db", ""},
		{"a URI", "file:registry?mode=ro", "", "file:registry?mode=ro", ""},
		{"a path of any name", "registry", "sqlite", "registry", ""},
		{"nothing", "", "", "", "--dsn is missing"},
		{"no such variable", "env:NIX", "", "", "the environment has no NIX"},
		{"a DSN in place of a variable", "env:postgres://a:geheim@h/d", "", "", "the name of an environment variable"},
		{"a DSN in place of a file", "@postgres://a:geheim@h/d", "", "", "the path of a file"},
		{"an empty variable", "env:EMPTY", "", "", "env:EMPTY is empty"},
		{"no such file", "@" + dir + "/nix", "", "", "no such file"},
		{"an empty file", write("empty", "\n"), "", "", "is empty"},
		{"two lines", write("two", "geheim\ngeheim"), "", "", "there are 2 lines"},
		{"a huge file", write("huge", strings.Repeat("geheim\n", 1<<14)), "", "", "longer than"},
		{"a server's DSN", "a:geheim@tcp(h)/d", "mysql", "", "list of processes"},
		{"a server's DSN that ends as a file", "a:geheim@tcp(h)/shop.db", "mysql", "", "list of processes"},
		{"the same without its dialect", "a:geheim@tcp(h)/shop.db", "", "", "list of processes"},
		{"a URL that ends as a file", "postgres://a:geheim@h/shop.db", "", "", "list of processes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			at, err := Resolve(t.Context(), "--dsn", tt.value, tt.dialect)
			got := ""
			if at != nil {
				got = at.dsn
			}
			switch {
			case tt.err == "" && (err != nil || got != tt.want):
				t.Errorf("%q, %v; want %q", got, err, tt.want)
			case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err) || strings.Contains(err.Error(), "geheim")):
				t.Errorf("%q, %v; want %q", got, err, tt.err)
			}
		})
	}
}

// A password that is not encoded is no part of an error, and nothing of it is asked of the DNS.
func TestPasswordsAreEncoded(t *testing.T) {
	for dsn, want := range map[string]string{
		"postgres://a:ge/heim@h/d":              "percent-encode",
		"postgres://a:1/geheim@h/d":             "percent-encode",
		"postgres://a:1?geheim@h/d":             "percent-encode",
		"postgres://a:1#geheim@h/d":             "percent-encode",
		"postgres://a:1@geheim/2@h/d":           "percent-encode",
		"postgresql://a:1@geheim#2@h/d":         "percent-encode",
		"postgres://a@h/d?password=ge#heim":     "percent-encode",
		"postgres://a:geh%eim@h/d":              "percent-encode",
		"postgres://a:g@e@heim@h/d":             "",
		"postgres://a:g%40%2F%3F%23%25@h/d":     "",
		"postgres://a:geheim@h/d?options=-c%20": "",
		"host=h password=1 geheim user=a":       "malformed",
		"host=h password='1 geheim' user=a":     "",
		"a:1@tcp/geheim@tcp(h)":                 "malformed",
		"a:g@/?#e@tcp(h)/d":                     "",
	} {
		dialect := "postgres"
		if strings.HasPrefix(dsn, "a:") {
			dialect = "mysql"
		}
		t.Setenv("DSN", dsn)
		at, err := Resolve(t.Context(), "--dsn", "env:DSN", dialect)
		if err != nil {
			t.Fatal(err)
		}
		db, err := at.Connect(ReadOnly)
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", dsn, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "heim")):
			t.Errorf("%s: got %v, want %q", dsn, err, want)
		}
		if db != nil {
			_ = db.Close()
		}
	}
}

func TestSecrets(t *testing.T) {
	t.Setenv("TOKENS", "\r\none\r\n\n  two  ")
	got, err := Secrets(t.Context(), "--token", "env:TOKENS")
	if err != nil || !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := Secrets(t.Context(), "--token", "geheim"); err == nil || strings.Contains(err.Error(), "geheim") {
		t.Errorf("a secret on the command line: %v", err)
	}
}

// The database itself refuses to write, also a file that is there.
func TestReadOnly(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.db")
	if _, _, err := Open(t.Context(), "--dsn", file, "", ReadOnly, patience); err == nil || !strings.Contains(err.Error(), "a.db") {
		t.Errorf("a file that does not exist: %v", err)
	}
	t.Setenv("SERVER", "a:geheim@tcp(h)/d")
	if _, _, err := Open(t.Context(), "--dsn", "env:SERVER", "sqlite", ReadOnly, patience); err == nil || strings.Contains(err.Error(), "geheim") {
		t.Errorf("a server's DSN with the wrong dialect: %v", err)
	}
	db, _, err := Open(t.Context(), "--dsn", file, "", Create, patience)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE a (id INTEGER)"); err != nil {
		t.Fatal(err)
	}
	reader, d, err := Open(t.Context(), "--dsn", file, "", ReadOnly, patience)
	if err != nil || d != sqlsnow.SQLite {
		t.Fatal(d, err)
	}
	defer reader.Close()
	if _, err := reader.ExecContext(t.Context(), "INSERT INTO a VALUES (1)"); err == nil {
		t.Error("a row is written")
	}
}
