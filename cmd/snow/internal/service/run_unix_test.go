//go:build unix

package service

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/httpsnow"
)

// A pipe without a writer does not keep the tokens of other routes from being read again.
func TestRereadIsBounded(t *testing.T) {
	pipe, file := filepath.Join(t.TempDir(), "pipe"), filepath.Join(t.TempDir(), "token")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o600), os.WriteFile(file, []byte(strings.Repeat("x", 40)), 0o600)); err != nil {
		t.Fatal(err)
	}
	worker, err := snow.Fixed(snow.DefaultLayout(), 0)
	if err != nil {
		t.Fatal(err)
	}
	gen, err := snow.NewGenerator(worker, snow.Config{})
	if err != nil {
		t.Fatal(err)
	}
	var routes []*route
	for _, path := range []string{pipe, file} {
		h, err := httpsnow.New(gen, httpsnow.Config{})
		if err != nil {
			t.Fatal(err)
		}
		routes = append(routes, &route{token: "@" + path, handler: h})
	}
	n, err := reread(t.Context(), 50*time.Millisecond, routes, nil)
	if n != 1 || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %d tokens and %v, want 1 and a deadline", n, err)
	}
	w, err := os.OpenFile(pipe, os.O_WRONLY, 0) // ends the reader, which waits for it
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}
