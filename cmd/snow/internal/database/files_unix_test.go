//go:build unix

package database

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/shardsnow/snow/sqlsnow"
)

// A pipe is read once.
func TestPipe(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "dsn")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "a.db")
	written := make(chan error, 1)
	go func() { written <- os.WriteFile(fifo, []byte(file+"\n"), 0) }()
	db, d, err := Open(t.Context(), "--dsn", "@"+fifo, "", Create, patience)
	if err != nil || d != sqlsnow.SQLite {
		t.Fatal(d, err)
	}
	if err := errors.Join(<-written, db.Close()); err != nil {
		t.Fatal(err)
	}

	// Nobody writes: the context ends the wait.
	ctx, cancel := context.WithCancel(t.Context())
	waiting := make(chan error, 1)
	go func() {
		_, err := Resolve(ctx, "--dsn", "@"+fifo, "")
		waiting <- err
	}()
	cancel()
	if err := <-waiting; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	f, err := os.OpenFile(fifo, os.O_RDWR, 0) // what still waits in it ends
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Error(err)
	}
}

// There is a warning of a file with a password that all users can read.
func TestExposedFiles(t *testing.T) {
	top, err := os.MkdirTemp("", "exposed-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(top) })
	file := filepath.Join(top, "dsn")
	for _, tt := range []struct {
		folder, file os.FileMode
		dsn          string
		warns        bool
	}{
		{0o755, 0o644, "postgres://a:geheim@h/d", true},
		{0o755, 0o604, "postgres://a:geheim@h/d", true},
		{0o755, 0o640, "postgres://a:geheim@h/d", false},
		{0o700, 0o644, "postgres://a:geheim@h/d", false},
		{0o755, 0o644, "a.db", false},
	} {
		if err := errors.Join(os.WriteFile(file, []byte(tt.dsn), 0o600), os.Chmod(file, tt.file), os.Chmod(top, tt.folder)); err != nil {
			t.Fatal(err)
		}
		at, err := Resolve(t.Context(), "--dsn", "@"+file, "")
		if err != nil || (at.Warning != "") != tt.warns || strings.Contains(at.Warning, "geheim") {
			t.Errorf("%v %v %s: %+v, %v", tt.folder, tt.file, tt.dsn, at, err)
		}
	}
}

// A read-only file in a read-only folder can be looked at: with a journal, and in WAL mode.
func TestReadableFiles(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to become nobody")
	}
	folder, err := os.MkdirTemp("", "readable-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	for _, mode := range []string{"delete", "wal"} {
		file := filepath.Join(folder, mode+".db")
		db, _, err := Open(t.Context(), "--dsn", file, "", Create, patience)
		if err != nil {
			t.Fatal(err)
		}
		for _, statement := range []string{"PRAGMA journal_mode = " + mode, "CREATE TABLE a (id INTEGER)", "INSERT INTO a VALUES (7)"} {
			if _, err := db.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(db.Close(), os.Chmod(file, 0o444)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Chmod(folder, 0o555), syscall.Seteuid(65534)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Seteuid(0) })
	for _, mode := range []string{"delete", "wal"} {
		db, _, err := Open(t.Context(), "--dsn", filepath.Join(folder, mode+".db"), "", ReadOnly, patience)
		if err != nil {
			t.Errorf("%s: %v", mode, err)
			continue
		}
		tx, err := db.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		var id int
		if err := tx.QueryRowContext(t.Context(), "SELECT id FROM a").Scan(&id); err != nil || id != 7 {
			t.Errorf("%s: %d, %v", mode, id, err)
		}
		if err := errors.Join(tx.Rollback(), db.Close()); err != nil {
			t.Error(err)
		}
	}
}
