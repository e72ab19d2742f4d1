//go:build unix

package main

import (
	"bytes"
	"context"
	"database/sql"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
)

func TestStoryOnTwoServers(t *testing.T) {
	a, b := dbtest.MariaDB(t), dbtest.MariaDB(t)
	dsnA, dsnB := a.DSN(a.CreateDatabase(t)), b.DSN(b.CreateDatabase(t))
	for _, run := range []string{"first run", "second run"} {
		t.Run(run, func(t *testing.T) {
			got := runProgram(t, "-mysql", dsnA, "-mysql", dsnB)
			if got.code != 0 || got.stderr != "" {
				t.Fatalf("exit status %d, stderr %q, stdout:\n%s", got.code, got.stderr, got.stdout)
			}
			wantStory(t, got.stdout)
			// MySQL writes the table before the key's name.
			if want := "Error 1062 (23000): Duplicate entry '1' for key '"; !strings.Contains(strings.Join(strings.Fields(got.stdout), " "), want) {
				t.Errorf("the output lacks %q:\n%s", want, got.stdout)
			}
			wantTables(t, dsnA)
			wantTables(t, dsnB)
		})
	}
}

func TestMySQL(t *testing.T) {
	server := dbtest.MariaDB(t)
	databases := func(t *testing.T) (dsnA, dsnB string) {
		return server.DSN(server.CreateDatabase(t)), server.DSN(server.CreateDatabase(t))
	}

	t.Run("claims that do not hold", func(t *testing.T) {
		if !strings.HasPrefix(server.Product(t), "MariaDB") {
			t.Skip("without RETURNING, GORM takes the keys of several rows to count by one")
		}
		// One server counts 1, 3, 5 and the other one 2, 4, 6: nothing clashes.
		dsnA, dsnB := databases(t)
		got := runProgram(t, "-mysql", dsnA+"&auto_increment_increment=2&auto_increment_offset=1",
			"-mysql", dsnB+"&auto_increment_increment=2&auto_increment_offset=2")
		want := []string{
			"Both databases hand out 1, 2, 3 and so on.",
			"0 keys clash: each is one order in A and another one in B.",
			"A refuses B's orders, because their keys are taken.",
			"The refused merge changed nothing.",
		}
		if failed := marked(got.stdout, "✗"); got.code != 1 || got.stderr != "" || !slices.Equal(failed, want) {
			t.Errorf("exit status %d, stderr %q, failed claims %q, want %q", got.code, got.stderr, failed, want)
		}
		if !strings.HasSuffix(got.stdout, "\n4 of 17 claims do not hold.\n") {
			t.Errorf("the output does not end in the number of claims:\n%s", got.stdout)
		}
		wantTables(t, dsnA)
		wantTables(t, dsnB)
	})

	t.Run("one database twice", func(t *testing.T) {
		dsn, _ := databases(t)
		got := runProgram(t, "-mysql", dsn, "-mysql", dsn)
		if got.code != 1 || got.stderr != "shard-orders: databases A and B are the same one: want two different databases\n" {
			t.Errorf("exit status %d, stderr %q", got.code, got.stderr)
		}
		wantTables(t, dsn)
	})

	t.Run("a table of the user", func(t *testing.T) {
		for _, model := range tables {
			dsnA, dsnB := databases(t)
			d, err := openDatabase(t.Context(), location{File: t.TempDir() + "/names.db"})
			if err != nil {
				t.Fatal(err)
			}
			table := d.tableName(model)
			if err := d.close(); err != nil {
				t.Fatal(err)
			}
			pool := open(t, dsnB)
			if _, err := pool.ExecContext(t.Context(), "CREATE TABLE "+table+" AS SELECT 42 AS answer"); err != nil {
				t.Fatal(err)
			}
			got := runProgram(t, "-mysql", dsnA, "-mysql", dsnB)
			if got.code != 1 || !strings.HasPrefix(got.stderr, "shard-orders: database B: table "+table+" exists already") {
				t.Errorf("exit status %d, stderr %q", got.code, got.stderr)
			}
			var answer int
			if err := pool.QueryRowContext(t.Context(), "SELECT answer FROM "+table).Scan(&answer); err != nil || answer != 42 {
				t.Errorf("the user's table holds %d, %v", answer, err)
			}
			wantTables(t, dsnA)
			wantTables(t, dsnB, table)
		}
	})

	t.Run("interrupt", func(t *testing.T) {
		for _, text := range []string{"AUTO_INCREMENT", "The same merge"} {
			dsnA, dsnB := databases(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			stdout, stderr := &interrupter{text: text, cancel: cancel}, &bytes.Buffer{}
			code := run(ctx, []string{"-mysql", dsnA, "-mysql", dsnB}, nil, stdout, stderr)
			if code != 1 || !strings.HasPrefix(stderr.String(), "shard-orders: interrupted: ") {
				t.Errorf("%s: exit status %d, stderr %q", text, code, stderr)
			}
			wantTables(t, dsnA)
			wantTables(t, dsnB)
		}
	})

	t.Run("no such database", func(t *testing.T) {
		dsnA, dsnB := databases(t)
		got := runProgram(t, "-mysql", dsnA, "-mysql", strings.Replace(dsnB, "/", "/missing_", 1))
		if got.code != 1 || !strings.HasPrefix(got.stderr, "shard-orders: database B: can't reach missing_") {
			t.Errorf("exit status %d, stderr %q", got.code, got.stderr)
		}
		wantTables(t, dsnA)
	})

	t.Run("wrong password", func(t *testing.T) {
		dsnA, _ := databases(t)
		got := runProgram(t, "-mysql", "joe:"+secret+"@tcp("+server.Addr()+")/a", "-mysql", dsnA)
		if got.code != 1 || !strings.HasPrefix(got.stderr, "shard-orders: database A: can't reach a on "+server.Addr()+": ") || strings.Contains(got.stderr, secret) {
			t.Errorf("exit status %d, stderr %q", got.code, got.stderr)
		}
		wantTables(t, dsnA)
	})
}

func TestUnreachableServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	got := runProgram(t, "-mysql", "joe:"+secret+"@tcp("+addr+")/a", "-mysql", "joe:"+secret+"@tcp("+addr+")/b")
	if want := "shard-orders: database A: can't reach a on " + addr + ": "; got.code != 1 || got.stdout != "" ||
		!strings.HasPrefix(got.stderr, want) || !strings.Contains(got.stderr, "connection refused") {
		t.Errorf("exit status %d, stdout %q, stderr %q, want %q", got.code, got.stdout, got.stderr, want)
	}
	if strings.Contains(got.stderr, secret) {
		t.Errorf("the password is shown: %q", got.stderr)
	}
}

func open(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	pool, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	closeAtEnd(t, pool)
	return pool
}

// wantTables fails the test unless the database has these tables and no others.
func wantTables(t *testing.T, dsn string, want ...string) {
	t.Helper()
	var got string
	if err := open(t, dsn).QueryRowContext(t.Context(), "SELECT COALESCE(GROUP_CONCAT(table_name ORDER BY table_name), '') "+
		"FROM information_schema.tables WHERE table_schema = DATABASE()").Scan(&got); err != nil {
		t.Fatal(err)
	}
	if got != strings.Join(want, ",") {
		t.Errorf("tables %q, want %q", got, want)
	}
}
