//go:build unix

package numbertest

import (
	"database/sql"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/testkit/testscale"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/numbers"
)

// Run checks what package numbers promises.
func Run(t *testing.T, g Target) {
	for name, test := range map[string]func(*testing.T, Target){
		"configuration":     testConfiguration,
		"overflow":          testOverflow,
		"raise":             testRaise,
		"gap-free takers":   testGapFreeTakers,
		"gap-free kills":    testGapFreeKills,
		"gap-free children": testGapFreeChildren,
		"fast takers":       testFastTakers,
		"fast kills":        testFastKills,
		"fast regression":   testFastRegression,
	} {
		t.Run(name, func(t *testing.T) { test(t, g) })
	}
}

// The configuration of a series stays, except for the padding.
func testConfiguration(t *testing.T, g Target) {
	dsn := g.DSN(t)
	db, err := sql.Open(g.Driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := numbers.OpenGapFree(t.Context(), db, g.Dialect, invoices); !errors.Is(err, sqlsnow.ErrNotMigrated) {
		t.Errorf("without tables: got %v, want %v", err, sqlsnow.ErrNotMigrated)
	}
	if err := sqlsnow.Migrate(t.Context(), db, g.Dialect); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := numbers.OpenGapFree(t.Context(), db, g.Dialect, invoices); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for field, change := range map[string]func(*numbers.Config){
		"Pattern": func(c *numbers.Config) { c.Pattern = "{shop}-{yyyy}-{000000}{luhn}" },
		"Restart": func(c *numbers.Config) { c.Restart = numbers.Never },
		"Zone":    func(c *numbers.Config) { c.Zone = "Europe/Berlin" },
		"":        func(c *numbers.Config) { c.Pattern = strings.Replace(c.Pattern, "0}", "000}", 1) },
	} {
		cfg := invoices
		change(&cfg)
		_, err := numbers.OpenGapFree(t.Context(), db, g.Dialect, cfg)
		var mismatch *numbers.MismatchError
		if field == "" && err != nil || field != "" && (!errors.As(err, &mismatch) || mismatch.Field != field || errors.As(err, new(*sqlsnow.DatabaseError))) {
			t.Errorf("another %q: got %v, want a MismatchError, which is no DatabaseError", field, err)
		}
	}
	var mismatch *numbers.MismatchError
	if _, err := numbers.OpenFast(t.Context(), db, g.Dialect, numbers.FastConfig{Config: invoices}); !errors.As(err, &mismatch) || mismatch.Field != "Kind" {
		t.Errorf("another kind: got %v", err)
	}
}

// A number that is too long is refused before anything is stored, and the transaction goes on.
func testOverflow(t *testing.T, g Target) {
	db, _ := g.open(t)
	cfg := numbers.Config{Series: "short", Pattern: "{shop}/{0}"}
	s := g.openGapFree(t, db, cfg)
	for range 9 {
		if err := g.store(t.Context(), db, s, "a", commit); err != nil {
			t.Fatal(err)
		}
	}
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	var overflow *numbers.OverflowError
	if text, err := s.Take(t.Context(), tx, "a"); !errors.As(err, &overflow) || overflow.Highest != 9 || overflow.Scope != "a" {
		t.Errorf("the tenth: got %q, %v", text, err)
	}
	if err := s.FillIn(t.Context(), tx, make([]string, 10), "b"); !errors.As(err, &overflow) {
		t.Errorf("ten at once: got %v", err)
	}
	if text, err := s.Take(t.Context(), tx, "b"); err != nil || text != "b/1" {
		t.Errorf("of another partition: got %q, %v", text, err)
	}
	texts := make([]string, 3)
	if err := s.FillIn(t.Context(), tx, texts, "b"); err != nil || strings.Join(texts, " ") != "b/2 b/3 b/4" {
		t.Errorf("three at once: got %q, %v", texts, err)
	}
	cfg.Pattern = "{shop}/{000}"
	wide := g.openGapFreeIn(t, tx, db, cfg)
	if text, err := wide.Take(t.Context(), tx, "a"); err != nil || text != "a/010" {
		t.Errorf("after widening: got %q, %v", text, err)
	}
	if err := s.FillIn(t.Context(), nil, texts, "b"); !errors.Is(err, numbers.ErrNoTransaction) {
		t.Errorf("without a transaction: got %v", err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}

	// The fast way takes less than a step where no more is left.
	f, err := numbers.OpenFast(t.Context(), db, g.Dialect, numbers.FastConfig{Config: numbers.Config{Series: "short-fast", Pattern: "{0}"}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 9 {
		if text, err := f.Next(t.Context()); err != nil || text != string(rune('1'+i)) {
			t.Errorf("fast: got %q, %v, want %d", text, err, i+1)
		}
	}
	if text, err := f.Next(t.Context()); !errors.As(err, &overflow) {
		t.Errorf("the tenth: got %q, %v", text, err)
	}
}

// openGapFreeIn opens a series while a transaction runs. On SQLite that is possible because nothing is stored.
func (g Target) openGapFreeIn(t *testing.T, _ *sql.Tx, db *sql.DB, cfg numbers.Config) *numbers.GapFree {
	t.Helper()
	return g.openGapFree(t, db, cfg)
}

func testRaise(t *testing.T, g Target) {
	db, _ := g.open(t)
	raise := func(series, scope string, last int64) error {
		return numbers.Raise(t.Context(), db, g.Dialect, series, scope, last)
	}
	if err := raise("invoices", "2026/a", 1); !errors.Is(err, numbers.ErrNoSeries) {
		t.Errorf("before the first Open: got %v", err)
	}
	cfg := numbers.Config{Series: "invoices", Pattern: "{shop}/{000000}"}
	s := g.openGapFree(t, db, cfg)
	if err := raise("invoices", "a", 4711); err != nil { // of the system before
		t.Fatal(err)
	}
	for _, scope := range []string{"", "a/b", "-", "2026/a", "ä"} {
		if err := raise("invoices", scope, 1); !errors.As(err, new(*snow.FieldError)) {
			t.Errorf("scope %q: got %v", scope, err)
		}
	}
	if err := raise("invoices", "a", 5); err != nil { // it never goes back
		t.Fatal(err)
	}
	if err := g.store(t.Context(), db, s, "a", commit); err != nil {
		t.Fatal(err)
	}
	if got := stored(t, db, s.Pattern())["[a]"]; len(got) != 1 || got[0] != 4712 {
		t.Errorf("after Raise: got %d, want 4712", got)
	}
	all, err := numbers.List(t.Context(), db, g.Dialect)
	if err != nil || len(all) != 1 || all[0].Pattern != cfg.Pattern || !all[0].GapFree || all[0].Zone != "UTC" ||
		len(all[0].Counters) != 1 || all[0].Counters[0] != (numbers.Counter{Scope: "a", Last: 4712}) {
		t.Errorf("got %+v, %v", all, err)
	}
}

// A counter that went back gives no numbers, to no process, until it is raised.
func testFastRegression(t *testing.T, g Target) {
	db, _ := g.open(t)
	open := func() *numbers.Fast {
		t.Helper()
		f, err := numbers.OpenFast(t.Context(), db, g.Dialect, numbers.FastConfig{Config: numbers.Config{Series: "orders", Pattern: "{000000}"}, Step: 2})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	next := func(f *numbers.Fast, want string) {
		t.Helper()
		if got, err := f.Next(t.Context()); err != nil || got != want {
			t.Fatalf("got %q, %v, want %s", got, err, want)
		}
	}
	a, b := open(), open()
	next(a, "000001")
	next(b, "000003")
	next(a, "000002")
	next(a, "000005")
	execute(t, db, "UPDATE snow_numbers SET last_number = 4 WHERE series = 'orders' AND scope = '-'")
	next(a, "000006") // it was at hand
	var back *numbers.RegressedError
	if got, err := a.Next(t.Context()); !errors.As(err, &back) || back.Last != 4 || back.Least != 6 {
		t.Errorf("got %q, %v", got, err)
	}
	next(b, "000004")
	if got, err := b.Next(t.Context()); !errors.As(err, &back) || back.Least != 0 {
		t.Errorf("another process: got %q, %v", got, err)
	}
	if all, err := numbers.List(t.Context(), db, g.Dialect); err != nil || !all[0].Counters[0].Regressed {
		t.Errorf("got %+v, %v", all, err)
	}
	if err := numbers.Raise(t.Context(), db, g.Dialect, "orders", "-", 10); err != nil {
		t.Fatal(err)
	}
	next(b, "000011")
	next(a, "000013")
}

// Many goroutines of two processes take numbers at once, and some of their transactions are rolled back.
func testGapFreeTakers(t *testing.T, g Target) {
	db, _ := g.open(t)
	db.SetMaxOpenConns(takers)
	two := []*numbers.GapFree{g.openGapFree(t, db, invoices), g.openGapFree(t, db, invoices)}
	each := testscale.Of(6, 50)
	var all sync.WaitGroup
	for i := range takers {
		all.Go(func() {
			for j := range each {
				again := true
				for again {
					err := g.store(t.Context(), db, two[i%2], "ab"[j%2:][:1], func(tx *sql.Tx) error {
						if (i+j)%4 == 0 {
							return errEnd
						}
						return tx.Commit()
					})
					again = g.isBusy(err)
					if err != nil && !again && !errors.Is(err, errEnd) {
						t.Error(err)
					}
				}
			}
		})
	}
	all.Wait()
	if got, want := wantDense(t, db, two[0].Pattern()), takers*each*3/4; got != want {
		t.Errorf("got %d rows, want %d", got, want)
	}
}

// isBusy reports whether a transaction must be done again.
func (g Target) isBusy(err error) bool { return err != nil && g.Dialect.Classify(err) == busy }

func testFastTakers(t *testing.T, g Target) {
	db, _ := g.open(t)
	db.SetMaxOpenConns(16)
	two := g.openTwo(t, db, 7, 200)
	each := testscale.Of(20, 500)
	var mu sync.Mutex
	seen := map[string]bool{}
	var all sync.WaitGroup
	for i := range takers {
		all.Go(func() {
			var last string
			for j := range each {
				texts := make([]string, 1+j%3)
				if err := two[i%2].Fill(t.Context(), texts, "a"); err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				for _, text := range texts {
					if seen[text] || text <= last {
						t.Errorf("%s is there twice, or after %s", text, last)
					}
					seen[text], last = true, text
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
}
