package database

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shardsnow/snow/sqlsnow"
)

func TestDialectOf(t *testing.T) {
	for _, tt := range []struct {
		dsn, name, environment string
		want                   sqlsnow.Dialect
	}{
		{"postgres://h/d", "", "", sqlsnow.Postgres},
		{"postgresql://h/d", "", "", sqlsnow.Postgres},
		{"host=h dbname=d.db", "", "", sqlsnow.Postgres},
		{"host=h dbname=d", "postgresql", "", sqlsnow.Postgres},
		{"a@tcp(h)/d", "mysql", "", sqlsnow.MySQL},
		{"a@tcp(h)/d", "mariadb", "", sqlsnow.MySQL},
		{"a:b@/c@tcp([::1]:3306)/d.db?x=y", "", "", sqlsnow.MySQL},
		{"a@unix(/run/m.sock)/d", "", "", sqlsnow.MySQL},
		{"tcp(h)/", "", "", sqlsnow.MySQL},
		{"a:b@/d", "", "", sqlsnow.MySQL},
		{"a:b@(h:3306)/d", "", "", sqlsnow.MySQL},
		{"file:x", "", "", sqlsnow.SQLite},
		{"x.db?key=1", "", "", sqlsnow.SQLite},
		{"/data/a@b/x.db", "", "", sqlsnow.SQLite},
		{"x", "sqlite", "", sqlsnow.SQLite},
		{"x", "", "sqlite", sqlsnow.SQLite},
		{"postgres://h/d", "", "mysql", sqlsnow.Postgres}, // the DSN knows better
		{"x", "", "", 0},
		{"x", "", "oracle", 0},
		{"x.db", "oracle", "", 0},
		{"host=h", "mysql", "", 0},
		{"postgres://h/d", "sqlite", "", 0},
		{"a@tcp(h)/d", "postgres", "", 0},
	} {
		t.Setenv(DialectVariable, tt.environment)
		if got, err := dialectOf(tt.dsn, tt.name); got != tt.want || (err == nil) != (tt.want != 0) {
			t.Errorf("%q, %q: %v, %v", tt.dsn, tt.name, got, err)
		}
	}
	if got, err := dialectOf("x", "", "mysql"); got != sqlsnow.MySQL || err != nil {
		t.Errorf("another name: %v, %v", got, err)
	}
}

// No error shows a password, whatever the dialect, and no file is called like it.
func TestWrongDialects(t *testing.T) {
	folder := t.TempDir()
	t.Chdir(folder)
	t.Setenv("PGHOST", filepath.Join(folder, "nobody"))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, dsn := range []string{
		"host=127.0.0.1 port=1 user=a password=geheim dbname=d", "password=geheim host=127.0.0.1 port=1", "host=h password=geheim.db",
		"host=h password=ge(heim)/d", "user=a password=geheim@tcp(127.0.0.1:1)/d", "postgres://a:geheim@127.0.0.1:1/d", "postgresql://127.0.0.1:1/d?password=geheim",
		"a:geheim@tcp(127.0.0.1:1)/d", "a:geheim@unix(/none)/d", "a:geheim@/d", "a:geheim@d.db", "a:ge=heim@tcp(127.0.0.1:1)/d", "a:ge=heim@/d", "mysql://a:geheim@127.0.0.1:1/d",
		"mysql://a:geheim@tcp(127.0.0.1:1)/d", "mariadb://a:geheim@127.0.0.1/d.db", "geheim=x", "sqlserver://a:geheim@h", "file:d.db?key=geheim",
	} {
		t.Setenv("DSN", dsn)
		for _, dialect := range append(Dialects(), "") {
			for _, access := range []Access{ReadOnly, Create} {
				db, _, err := Open(ctx, "--dsn", "env:DSN", dialect, access, 5*time.Second)
				if err != nil && strings.Contains(err.Error(), "heim") {
					t.Errorf("%s, %q: %v", dsn, dialect, err)
				}
				if db != nil {
					_ = db.Close()
				}
			}
		}
	}
	if files, err := filepath.Glob("*heim*"); err != nil || files != nil {
		t.Errorf("files: %q, %v", files, err)
	}
}
