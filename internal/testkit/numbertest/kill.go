//go:build unix

package numbertest

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/sqlsnow"
)

const busy = sqldialect.Busy

// Connections are killed, and contexts end, in the middle of transactions.
func testGapFreeKills(t *testing.T, g Target) {
	db, _ := g.open(t)
	s := g.openGapFree(t, db, invoices)
	var killed atomic.Int64
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for killed.Load() < int64(kills()) {
				ctx, cancel := context.WithCancel(t.Context())
				_ = g.store(ctx, db, s, "a", func(tx *sql.Tx) error {
					switch rand.N(4) {
					case 0:
						if g.Session != "" {
							var id int64
							if err := tx.QueryRowContext(ctx, g.Session).Scan(&id); err != nil {
								return err
							}
							if _, err := db.ExecContext(ctx, fmt.Sprintf(g.Kill, id)); err != nil {
								return err
							}
						} else {
							cancel()
						}
						killed.Add(1)
					case 1:
						go cancel() // before the commit, during it or after it
					}
					return tx.Commit()
				})
				cancel()
			}
		})
	}
	all.Wait()
	if rows := wantDense(t, db, s.Pattern()); rows == 0 {
		t.Error("no transaction was committed")
	}
	if err := g.store(t.Context(), db, s, "a", commit); err != nil {
		t.Error(err)
	}
	wantDense(t, db, s.Pattern())
}

const (
	childDSN    = "SNOW_NUMBERTEST_DSN"
	childDriver = "SNOW_NUMBERTEST_DRIVER"
)

// Child is the work of a process that testGapFreeChildren kills. The test TestNumbersChild of a package calls it.
func Child(t *testing.T, drivers map[string]sqlsnow.Dialect) {
	dsn, driver := os.Getenv(childDSN), os.Getenv(childDriver)
	if dsn == "" {
		t.Skip("only for the test that starts it")
	}
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	g := Target{Dialect: drivers[driver], Driver: driver}
	s := g.openGapFree(t, db, invoices)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for t.Context().Err() == nil {
				if err := g.store(t.Context(), db, s, "a", commit); err == nil {
					fmt.Println("stored")
				}
			}
		})
	}
	all.Wait()
}

// Processes are killed in the middle of transactions.
func testGapFreeChildren(t *testing.T, g Target) {
	db, dsn := g.open(t)
	s := g.openGapFree(t, db, invoices)
	const atOnce = 2
	var all sync.WaitGroup
	for range atOnce {
		all.Go(func() {
			for range max(kills()/10/atOnce, 1) {
				if err := g.killChild(t.Context(), dsn, rand.N(20)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if err := g.store(t.Context(), db, s, "a", commit); err != nil {
		t.Error(err)
	}
	if rows := wantDense(t, db, s.Pattern()); rows < atOnce {
		t.Errorf("%d rows were stored", rows)
	}
}

// killChild starts a process and kills it after it has stored so many rows.
func (g Target) killChild(ctx context.Context, dsn string, rows int) error {
	child := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestNumbersChild$", "-test.v")
	child.Env = append(os.Environ(), childDSN+"="+dsn, childDriver+"="+g.Driver)
	out, err := child.StdoutPipe()
	if err != nil {
		return err
	}
	if err := child.Start(); err != nil {
		return err
	}
	var text strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.HasSuffix(lines.Text(), "stored") {
			if rows--; rows < 0 {
				_ = child.Process.Kill()
				_ = child.Wait()
				return nil
			}
		}
		text.WriteString(lines.Text() + "\n")
	}
	return fmt.Errorf("the process ended by itself: %w\n%s", child.Wait(), text.String())
}
