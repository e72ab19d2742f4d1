package rows

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
)

func testKeys(t *testing.T) []key {
	t.Helper()
	worker, err := snow.Fixed(snow.DefaultLayout(), 0)
	if err != nil {
		t.Fatal(err)
	}
	gen, err := snow.NewGenerator(worker, snow.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return keys(gen)
}

func names(keys []key) (names []string) {
	for _, k := range keys {
		names = append(names, k.name)
	}
	return names
}

func TestSchedule(t *testing.T) {
	all := testKeys(t)
	for _, tt := range []struct {
		rounds int
		want   []string
	}{
		{1, []string{AutoIncrement, Snow, UUIDv7, UUIDv4, UUIDv4Text}},
		{3, []string{
			AutoIncrement, Snow, UUIDv7,
			Snow, UUIDv7, AutoIncrement,
			UUIDv7, AutoIncrement, Snow,
			UUIDv4, UUIDv4Text,
		}},
	} {
		if got := names(schedule(all, tt.rounds)); !slices.Equal(got, tt.want) {
			t.Errorf("%d rounds: got %q, want %q", tt.rounds, got, tt.want)
		}
	}
}

func TestMiddle(t *testing.T) {
	for _, tt := range []struct{ rates, want []float64 }{
		{[]float64{7}, []float64{7}},
		{[]float64{9, 2}, []float64{2}},
		{[]float64{9, 2, 5}, []float64{5}},
		{[]float64{1, 9, 8, 2}, []float64{2}},
	} {
		var runs []Result
		for _, rate := range tt.rates {
			runs = append(runs, Result{Overall: rate})
		}
		got := middle(runs)
		if got.Overall != tt.want[0] || !slices.Equal(got.Runs, tt.rates) {
			t.Errorf("runs %v: got %v of %v, want %v", tt.rates, got.Overall, got.Runs, tt.want[0])
		}
	}
}

func TestPoolSize(t *testing.T) {
	const mib = 1 << 20
	for rows, want := range map[int]int64{
		1: 8 * mib, 250_000: 8 * mib, 500_000: 16 * mib, 1_999_999: 63 * mib, 2_000_000: 64 * mib, 50_000_000: 64 * mib,
	} {
		if got := poolSize(rows); got != want {
			t.Errorf("%d rows: got %d, want %d", rows, got, want)
		}
	}
}

func TestPercentile(t *testing.T) {
	var hundred []time.Duration
	for i := range 100 {
		hundred = append(hundred, time.Duration(i+1))
	}
	for _, tt := range []struct {
		sorted []time.Duration
		p      int
		want   time.Duration
	}{
		{nil, 50, 0},
		{hundred[:1], 1, 1},
		{hundred[:1], 99, 1},
		{hundred[:2], 50, 1},
		{hundred[:3], 50, 2},
		{hundred[:99], 99, 99},
		{hundred, 50, 50},
		{hundred, 99, 99},
		{hundred, 100, 100},
		{hundred, 0, 1},
	} {
		if got := percentile(tt.sorted, tt.p); got != tt.want {
			t.Errorf("p%d of %d: got %d, want %d", tt.p, len(tt.sorted), got, tt.want)
		}
	}
}

// The statements take 1, 2, 3 … seconds.
func slower(statements int) (marks []time.Duration) {
	var at time.Duration
	for i := range statements {
		at += time.Duration(i+1) * time.Second
		marks = append(marks, at)
	}
	return marks
}

func TestRate(t *testing.T) {
	for _, tt := range []struct {
		statements, from int
		want             float64
	}{
		{0, 0, 0},
		{1, 1, 0},
		{1, 0, batch},
		{4, 0, 4 * batch / 10.},
		{4, 3, batch / 4.},
		{4, 2, 2 * batch / 7.},
	} {
		if got := rate(slower(tt.statements), tt.from); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%d statements from %d on: got %v, want %v", tt.statements, tt.from, got, tt.want)
		}
	}
}

func TestPoints(t *testing.T) {
	for _, tt := range []struct {
		statements, each int
		want             []Point
	}{
		{0, 2, nil},
		{1, 2, []Point{{batch, 1, batch}}},
		{3, 1, []Point{{batch, 1, batch}, {2 * batch, 3, batch / 2.}, {3 * batch, 6, batch / 3.}}},
		{4, 2, []Point{{2 * batch, 3, 2 * batch / 3.}, {4 * batch, 10, 2 * batch / 7.}}},
		{5, 2, []Point{{2 * batch, 3, 2 * batch / 3.}, {5 * batch, 15, 3 * batch / 12.}}},
	} {
		got := points(slower(tt.statements), tt.each)
		if !slices.EqualFunc(got, tt.want, func(a, b Point) bool {
			return a.Rows == b.Rows && a.Seconds == b.Seconds && math.Abs(a.PerSecond-b.PerSecond) < 1e-9
		}) {
			t.Errorf("%d statements by %d: got %v, want %v", tt.statements, tt.each, got, tt.want)
		}
	}
}

// TestReservoir draws 100 of 1,000 values 500 times. Each tenth of the values should make up a tenth of the
// samples; with a fixed seed the result is always the same, and 5 % away is some 4 standard deviations.
func TestReservoir(t *testing.T) {
	values := make([]any, 1000)
	for i := range values {
		values[i] = i
	}
	var tenths [10]int
	r := newReservoir(100)
	for range 500 {
		r.seen, r.sample = 0, r.sample[:0]
		for part := range slices.Chunk(values, 70) {
			r.offer(part)
		}
		sample := r.shuffled()
		distinct := make(map[any]bool)
		for _, v := range sample {
			distinct[v] = true
			tenths[v.(int)/100]++
		}
		if len(sample) != 100 || len(distinct) != 100 {
			t.Fatalf("got %d values, %d of them different, want 100", len(sample), len(distinct))
		}
	}
	for i, n := range tenths {
		if n < 4750 || n > 5250 {
			t.Errorf("values from %d on: got %d, want about 5000", i*100, n)
		}
	}
}

func TestSampleOfFewIsAll(t *testing.T) {
	r := newReservoir(10)
	r.offer([]any{1, 2, 3})
	got := r.shuffled()
	slices.SortFunc(got, func(a, b any) int { return a.(int) - b.(int) })
	if !slices.Equal(got, []any{1, 2, 3}) {
		t.Errorf("got %v, want 1, 2 and 3", got)
	}
}

func TestInsertStatement(t *testing.T) {
	for _, e := range []*engine{&mariadb, &postgres} {
		for _, keyed := range []bool{false, true} {
			s := e.insert(batch, keyed)
			want := batch * (columns - 1)
			if keyed {
				want = batch * columns
			}
			_, values, _ := strings.Cut(s, ") VALUES (")
			if got := strings.Count(values, ",") + 1; got != want {
				t.Errorf("%s, keyed %t: got %d parameters, want %d", e.name, keyed, got, want)
			}
			if !strings.HasSuffix(s, e.param(want)+")") {
				t.Errorf("%s, keyed %t: ends in %q", e.name, keyed, s[len(s)-20:])
			}
			if got := len(newOrders(1, 2).append(nil)); got != columns-1 {
				t.Errorf("got %d values for a row, want %d", got, columns-1)
			}
		}
	}
}

func TestOptions(t *testing.T) {
	for _, tt := range []struct {
		opts Options
		want string
	}{
		{Options{Rows: -1}, "rows: rows: -1 is negative"},
		{Options{Rounds: -2}, "rows: rounds: -2 is negative"},
		{Options{PerKeyLimit: -time.Second}, "rows: limit: -1s is negative"},
		{Options{Engines: []string{"mariadb", "dBase"}}, `rows: engine "dBase": want MariaDB or PostgreSQL`},
	} {
		if _, err := Measure(t.Context(), tt.opts); err == nil || err.Error() != tt.want {
			t.Errorf("got %v, want %s", err, tt.want)
		}
	}
}

func TestLoad(t *testing.T) {
	for _, e := range []*engine{&mariadb, &postgres} {
		t.Run(e.name, func(t *testing.T) {
			s := e.start(t)
			for _, k := range testKeys(t) {
				t.Run(k.name, func(t *testing.T) { testLoad(t, e, k, s.DSN(s.CreateDatabase(t))) })
			}
		})
	}
}

func testLoad(t *testing.T, e *engine, k key, dsn string) {
	db, err := sql.Open(e.driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	r := run{engine: e, key: k, batches: 4, reading: time.Hour, report: t.Logf}
	got, err := r.measure(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	var rows, distinct int
	query := "SELECT COUNT(*), COUNT(DISTINCT id) FROM orders"
	if err := db.QueryRowContext(t.Context(), query).Scan(&rows, &distinct); err != nil {
		t.Fatal(err)
	}
	if rows != 2000 || distinct != 2000 {
		t.Errorf("got %d rows with %d keys, want 2000", rows, distinct)
	}
	if got.Rows != 2000 || got.Target != 2000 || got.Reads != 2000 || len(got.RowsPerSecond) != 4 {
		t.Errorf("got %d of %d rows, %d reads, %d points, want 2000, 2000, 2000, 4",
			got.Rows, got.Target, got.Reads, len(got.RowsPerSecond))
	}
	if got.Overall <= 0 || got.LastQuarter <= 0 || got.Bytes <= 0 || got.ReadP50 <= 0 || got.ReadP99 < got.ReadP50 {
		t.Errorf("got %+v", got)
	}
}

func TestLimitEndsTheLoad(t *testing.T) {
	s := dbtest.MariaDB(t)
	db, err := sql.Open("mysql", s.DSN(s.CreateDatabase(t)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	r := run{engine: &mariadb, key: testKeys(t)[1], batches: 4, limit: 1, reading: time.Hour, report: t.Logf}
	got, err := r.measure(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	if got.Rows != batch || got.Target != 4*batch || got.Reads != batch {
		t.Errorf("got %d of %d rows, %d reads, want 500, 2000, 500", got.Rows, got.Target, got.Reads)
	}
}

// private gets private servers even where the environment names others, and skips the test where there are none.
func private(t *testing.T) {
	t.Helper()
	t.Setenv("SNOW_MYSQL_DSN", "")
	dbtest.MariaDB(t)
}

// TestMeasure also shows that dbtest calls nothing of a test that a host lacks.
func TestMeasure(t *testing.T) {
	private(t)
	var lines []string
	got, err := Measure(t.Context(), Options{
		Rows: 600, Engines: []string{"mariadb"}, Rounds: 1, Progress: func(s string) { lines = append(lines, s) },
	})
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, r := range got {
		keys = append(keys, r.Key)
		if r.Engine != MariaDB || r.Rows != 1000 || r.Pool != 8<<20 || len(r.Runs) != 1 || r.Runs[0] != r.Overall {
			t.Errorf("%s: got %+v", r.Key, r)
		}
	}
	if want := names(testKeys(t)); !slices.Equal(keys, want) {
		t.Errorf("got %q, want %q", keys, want)
	}
	if want := "MariaDB, auto-increment (run 1 of 5): starting the server"; len(lines) == 0 || lines[0] != want {
		t.Errorf("progress: got %q, want %q first", lines, want)
	}
}

func TestTurns(t *testing.T) {
	private(t)
	got, err := Turns(t.Context(), Options{Rows: 9_900, Engines: []string{"mariadb"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[0].Engine != MariaDB || got[0].Rows != 10_000 || got[0].Pool != 16<<20 || len(got[0].Blocks) != 20 {
		t.Fatalf("got %+v", got)
	}
	if lo, hi := slices.Min(got[0].Blocks), slices.Max(got[0].Blocks); got[0].Ratio < lo || got[0].Ratio > hi || lo <= 0 {
		t.Errorf("the ratio is %v, those of its parts %v to %v", got[0].Ratio, lo, hi)
	}
}

func TestMeasureEnds(t *testing.T) {
	private(t)
	ctx, cancel := context.WithCancel(t.Context())
	got, err := Measure(ctx, Options{Rows: 500, Rounds: 1, Progress: func(s string) {
		if strings.HasPrefix(s, "MariaDB, snow") {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || len(got) != 1 || got[0].Key != AutoIncrement {
		t.Errorf("got %d results, %v, want that of the first key and %v", len(got), err, context.Canceled)
	}
}

func TestHosted(t *testing.T) {
	var order []string
	err := Hosted(func(tb testing.TB) error {
		tb.Cleanup(func() { order = append(order, "first") })
		tb.Cleanup(func() { order = append(order, "second"); tb.Fatalf("cleanup: %d", 2) })
		tb.Fatalf("body: %d", 1)
		order = append(order, "never")
		return nil
	})
	if err == nil || err.Error() != "body: 1\ncleanup: 2" {
		t.Errorf("got %v, want both failures", err)
	}
	if want := []string{"second", "first"}; !slices.Equal(order, want) {
		t.Errorf("got %q, want %q", order, want)
	}
}

func TestServerThatCannotStart(t *testing.T) {
	private(t)
	err := Hosted(func(tb testing.TB) error {
		dbtest.MariaDB(tb, "no-such-variable=1")
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "no-such-variable") {
		t.Errorf("got %v, want the log of the server", err)
	}
}
