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
	"time"

	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/internal/testkit/testscale"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/numbers"
)

const busy = sqldialect.Busy

// Connections are killed, and contexts end, in the middle of transactions.
func testGapFreeKills(t *testing.T, g Target) {
	db, _ := g.open(t)
	s := g.openGapFree(t, db, invoices)
	var killed atomic.Int64
	var all sync.WaitGroup
	for range testscale.Of(16, takers) {
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

// Connections are killed, and contexts end, while blocks are taken. What was confirmed to nobody is given to nobody.
func testFastKills(t *testing.T, g Target) {
	db, dsn := g.open(t)
	two := g.openTwo(t, db, 3, 30)
	done := make(chan struct{})
	var all sync.WaitGroup
	given := make([][]string, testscale.Of(16, takers))
	var ended, filled atomic.Int64
	for i := range given {
		all.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				ctx, cancel := context.WithCancel(t.Context())
				if rand.N(4) == 0 {
					go cancel()
					ended.Add(1)
				}
				texts := make([]string, 1+rand.N(3))
				if err := two[i%2].Fill(ctx, texts, "a"); err == nil {
					given[i] = append(given[i], texts...)
					filled.Add(1)
				}
				cancel()
			}
		})
	}
	killer, err := sql.Open(g.Driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer killer.Close()
	killer.SetMaxOpenConns(1)
	for killed := 0; killed < kills() || ended.Load() < int64(kills()) || filled.Load() < int64(kills()); killed++ {
		if _, err := two[0].Next(t.Context(), "b"); err != nil && g.Others == "" {
			t.Error(err)
		}
		if g.Others == "" {
			continue
		}
		if err := g.killOthers(t.Context(), killer); err != nil {
			t.Error(err)
		}
	}
	close(done)
	all.Wait()
	seen := map[string]bool{}
	for _, texts := range given {
		for _, text := range texts {
			if seen[text] {
				t.Errorf("%s is there twice", text)
			}
			seen[text] = true
		}
	}
	if len(seen) == 0 {
		t.Error("no number was given out")
	}
}

// openTwo opens a fast series twice, as two processes do. The second one has a LossWindow and another step.
func (g Target) openTwo(t *testing.T, db *sql.DB, step, lossyStep int64) (two []*numbers.Fast) {
	t.Helper()
	for _, cfg := range []numbers.FastConfig{
		{Config: invoices, Step: step},
		{Config: invoices, Step: lossyStep, LossWindow: 10 * time.Millisecond},
	} {
		f, err := numbers.OpenFast(t.Context(), db, g.Dialect, cfg)
		if err != nil {
			t.Fatal(err)
		}
		two = append(two, f)
	}
	return two
}

// killOthers kills one of the other sessions, if there is any.
func (g Target) killOthers(ctx context.Context, killer *sql.DB) error {
	ids, err := others(ctx, killer, g.Others)
	if err != nil || len(ids) == 0 {
		return err
	}
	_, err = killer.ExecContext(ctx, fmt.Sprintf(g.Kill, ids[rand.N(len(ids))]))
	if err != nil && strings.Contains(err.Error(), "Unknown thread id") {
		err = nil // it has ended by itself
	}
	return err
}

func others(ctx context.Context, db *sql.DB, query string) (ids []int64, err error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
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
