//go:build unix

package page_test

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/sqlsnow"
)

// TestMain is a process that holds a worker number, if a test started it as one.
func TestMain(m *testing.M) {
	if os.Getenv("SNOW_HOLDER_DSN") == "" {
		os.Exit(m.Run())
	}
	if err := holdNumber(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// holdNumber leases a number, writes it and an id, and waits until the test ends.
func holdNumber(ctx context.Context) error {
	db, err := sql.Open(os.Getenv("SNOW_HOLDER_DRIVER"), os.Getenv("SNOW_HOLDER_DSN"))
	if err != nil {
		return err
	}
	dialect, err := strconv.Atoi(os.Getenv("SNOW_HOLDER_DIALECT"))
	if err != nil {
		return err
	}
	lease, err := sqlsnow.Acquire(ctx, db, sqlsnow.Dialect(dialect), sqlsnow.LeaseConfig{
		Namespace: "shop", Holder: "process-" + strconv.Itoa(os.Getpid()), Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return err
	}
	gen, err := snow.NewGenerator(lease, snow.Config{})
	if err != nil {
		return err
	}
	id, err := gen.Next(ctx)
	if err != nil {
		return err
	}
	fmt.Println(lease.Stats().Worker, id)
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// A holder is a process that holds a number.
type holder struct {
	worker, id, holder string
	kill               func()
}

func hold(t *testing.T, d database) holder {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0])
	c.Env = append(os.Environ(), "SNOW_HOLDER_DRIVER="+d.driver, "SNOW_HOLDER_DSN="+d.dsn, fmt.Sprintf("SNOW_HOLDER_DIALECT=%d", d.dialect))
	c.Stderr = t.Output()
	if _, err := c.StdinPipe(); err != nil { // the process ends with this one
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	kill := func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	}
	t.Cleanup(kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	worker, id, _ := strings.Cut(strings.TrimSpace(line), " ")
	return holder{worker, id, "process-" + strconv.Itoa(c.Process.Pid), kill}
}
