package page

import (
	"compress/gzip"
	"context"
	"database/sql"
	"errors"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/DATA-DOG/go-sqlmock"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/segments"
)

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// unreachable returns a database that refuses every question.
func unreachable(t testing.TB) *sql.DB {
	t.Helper()
	db, expect, err := sqlmock.New()
	if err != nil {
		t.Fatal(err)
	}
	expect.MatchExpectationsInOrder(false)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func ask(t *testing.T, h http.Handler, method, target string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, target, nil))
	return w
}

func TestPaths(t *testing.T) {
	t.Parallel()
	h, err := New([]Database{{DB: unreachable(t), Dialect: sqlsnow.Postgres, Name: "<b>shop"}}, Config{Logger: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		method, target string
		status         int
		kind, body     string
	}{
		{"GET", "/", 200, "text/html; charset=utf-8", "The database has not answered since"},
		{"GET", "/live", 200, "text/html; charset=utf-8", "&lt;b&gt;shop"},
		{"HEAD", "/", 200, "text/html; charset=utf-8", ""},
		{"GET", "/style.css", 200, "text/css; charset=utf-8", "color-scheme"},
		{"GET", "/script.js", 200, "text/javascript; charset=utf-8", "fetch"},
		{"GET", "/icon.svg", 200, "image/svg+xml", "<svg"},
		{"GET", "/?id=%3Cscript%3E", 200, "text/html; charset=utf-8", "want decimal"},
		{"GET", "/?id=" + strings.Repeat("9", 65), 200, "text/html; charset=utf-8", "too long for an id"},
		{"GET", "/files/page.html", 404, "text/plain; charset=utf-8", "unknown page"},
		{"GET", "", 404, "text/plain; charset=utf-8", "unknown page"},
		{"POST", "/", 405, "text/plain; charset=utf-8", "GET"},
	} {
		r := httptest.NewRequest(tt.method, "/", nil)
		if tt.target == "" {
			r.URL.Path = ""
		} else {
			r = httptest.NewRequest(tt.method, tt.target, nil)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != tt.status || w.Header().Get("Content-Type") != tt.kind || !strings.Contains(w.Body.String(), tt.body) {
			t.Errorf("%s %s: %d, %v, %s", tt.method, tt.target, w.Code, w.Header(), w.Body)
		}
		if got := w.Header().Get("Content-Security-Policy"); !strings.HasPrefix(got, "default-src 'none';") || strings.Contains(got, "unsafe") {
			t.Errorf("%s %s: policy %q", tt.method, tt.target, got)
		}
		if strings.Contains(w.Body.String(), "<script>") || strings.Contains(w.Body.String(), "style=") {
			t.Errorf("%s %s: the policy does not allow what is inline: %s", tt.method, tt.target, w.Body)
		}
	}
}

func TestPacked(t *testing.T) {
	t.Parallel()
	h, err := New([]Database{{DB: unreachable(t), Dialect: sqlsnow.Postgres}}, Config{Logger: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest("GET", "/live?q=shop", nil)
	r.Header.Set("Accept-Encoding", "gzip, br")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if got := w.Header(); got.Get("Content-Encoding") != "gzip" || got.Get("Vary") != "Accept-Encoding" {
		t.Errorf("%v", got)
	}
	packed, err := gzip.NewReader(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(packed); err != nil || !strings.Contains(string(text), "has not answered since") {
		t.Errorf("%s, %v", text, err)
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	good := []Database{{DB: unreachable(t), Dialect: sqlsnow.MySQL}}
	for _, tt := range []struct {
		databases []Database
		cfg       Config
		field     string
	}{
		{nil, Config{}, "databases"},
		{[]Database{{Dialect: sqlsnow.MySQL}}, Config{}, "databases"},
		{[]Database{{DB: good[0].DB}}, Config{}, "databases"},
		{[]Database{{DB: good[0].DB, Dialect: sqlsnow.MySQL, Store: &fakeStore{}, Name: "a"}}, Config{}, "databases"},
		{[]Database{{Dialect: sqlsnow.MySQL, Store: &fakeStore{}, Name: "a"}}, Config{}, "databases"},
		{[]Database{{Store: &fakeStore{}}}, Config{}, "databases"},
		{[]Database{{Store: &fakeStore{}, Name: "a"}}, Config{}, ""},
		{good, Config{Every: time.Millisecond}, "Every"},
		{good, Config{Timeout: -1}, "Timeout"},
		{good, Config{}, ""},
	} {
		_, err := New(tt.databases, tt.cfg)
		var field *snow.FieldError
		if errors.As(err, &field); (tt.field == "") != (err == nil) || field != nil && field.Field != tt.field {
			t.Errorf("%+v: %v", tt, err)
		}
	}
}

// However many ask, a database is read once in half of Every.
func TestReadsOnce(t *testing.T) {
	t.Parallel()
	reads := 0
	logger := slog.New(countLines{&reads})
	h, err := New([]Database{{DB: unreachable(t), Dialect: sqlsnow.MySQL}}, Config{Every: time.Hour, Logger: logger})
	if err != nil {
		t.Fatal(err)
	}
	ask(t, h, "GET", "/")
	first := h.reader.last.at
	for range 10 {
		ask(t, h, "GET", "/live")
	}
	if h.reader.last.at != first || reads != 1 {
		t.Errorf("%d failures were logged, want 1", reads)
	}
}

type countLines struct{ n *int }

func (c countLines) Enabled(context.Context, slog.Level) bool { return true }
func (c countLines) Handle(context.Context, slog.Record) error {
	*c.n++
	return nil
}
func (c countLines) WithAttrs([]slog.Attr) slog.Handler { return c }
func (c countLines) WithGroup(string) slog.Handler      { return c }

func TestRates(t *testing.T) {
	t.Parallel()
	h := &history{}
	begin := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	for _, tt := range []struct {
		after time.Duration
		next  snow.ID
		want  rate
	}{
		{0, 100, rate{}},
		// two databases: every second number is another one's
		{time.Second, 300, rate{perSecond: 100, over: time.Second}},
		{20 * time.Second, 4100, rate{perSecond: 100, over: 20 * time.Second}},
		{30 * time.Second, 50, rate{}}, // it went back
		{40 * time.Second, 50, rate{over: 10 * time.Second}},
		{35 * time.Second, 60, rate{}}, // the clock went back
	} {
		if got := h.add(observation{begin.Add(tt.after), tt.next}, 2); got != tt.want {
			t.Errorf("after %v: %+v, want %+v", tt.after, got, tt.want)
		}
	}
	for i := range 2 * observations {
		h.add(observation{begin.Add(time.Minute + time.Duration(i)*observeEvery), snow.ID(100 + i)}, 1)
	}
	if len(h.seen) != observations {
		t.Errorf("%d observations are kept", len(h.seen))
	}
}

func TestCounters(t *testing.T) {
	t.Parallel()
	v := counterViewOf(segments.Counter{Tag: "orders", Next: math.MaxInt32 - 3599, Databases: 1}, rate{perSecond: 1, over: time.Minute}, "s0-orders")
	if v.Limits[0] != "32 bits with a sign: 59m 59s" || v.Rate != "1 a second over 1m" || len(v.Limits) != 3 {
		t.Errorf("%+v", v)
	}
	if v := counterViewOf(segments.Counter{Next: math.MaxInt32 + 1}, rate{perSecond: 1, over: time.Minute}, "s0-orders"); v.Limits[0] != "32 bits with a sign: passed" {
		t.Errorf("%+v", v)
	}
	if v := counterViewOf(segments.Counter{Regressed: true, Databases: 3, Residue: 2}, rate{}, ""); v.Limits != nil || !strings.Contains(v.State, "regressed") || v.Numbers != "2 modulo 3" {
		t.Errorf("%+v", v)
	}
}

func TestCells(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	n := namespace{Namespace: sqlsnow.Namespace{Name: "shop", Layout: snow.DefaultLayout(), Window: 10 * time.Minute, PinnedWindow: 30 * time.Second}}
	free := func(first, last uint64) {
		for i := first; i <= last; i++ {
			n.workers = append(n.workers, sqlsnow.WorkerInfo{Worker: i, State: sqlsnow.Free, Leasable: now.Add(-time.Hour)})
		}
	}
	free(0, 2)
	fenced := now.Add(n.FencedFor() - 30*time.Second)
	n.workers = append(n.workers, sqlsnow.WorkerInfo{
		Worker: 3, State: sqlsnow.Granted, Fence: 1, Holder: "a", Claimed: now.Add(-time.Hour), Floor: now.Add(-time.Hour), Renewed: now.Add(-time.Second),
		RenewBy: now.Add(time.Minute), Ceiling: now.Add(5 * time.Minute), Leasable: now.Add(5 * time.Minute),
	}, sqlsnow.WorkerInfo{
		Worker: 4, State: sqlsnow.Free, Fence: 1, Floor: fenced, Ceiling: fenced, Claimed: now.Add(-time.Hour),
		Leasable: now.Add(10 * time.Minute),
	})
	free(5, 1023)
	v, more := namespaceViewOf(n, "n0-shop", now, filter{}, mostRows)
	if g := v.Grid; g.Each != 1 || len(g.Cells) != 1024 || g.Cells[0] != (cellView{State: "free"}) || more != 0 {
		t.Fatalf("%+v, %d", g, more)
	}
	if c := v.Grid.Cells[3]; c != (cellView{State: "held", Label: "3 held, a, renewed 1s ago, window ends in 5m", Row: "n0-shop~3"}) {
		t.Errorf("%+v", c)
	}
	if c := v.Grid.Cells[4]; c != (cellView{State: "cooling", Label: "4 cooling, free in 10m", Row: "n0-shop~4"}) {
		t.Errorf("%+v", c)
	}
	if len(v.Rows) != 2 || v.Rows[0].Percent != 50 || v.Rows[1].Percent != 100 || len(v.late) != 0 {
		t.Errorf("%+v, %+v", v.Rows, v.late)
	}
	if len(v.Fences) != 1 || !strings.HasPrefix(v.Fences[0].At, "2026-03-04 05:05:37, 30s ago") || v.waits != v.Fences[0].Until[11:19]+" UTC" {
		t.Errorf("%+v, until %s", v.Fences, v.waits)
	}
}

func TestClockText(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		ahead  time.Duration
		want   string
		skewed bool
	}{
		{3 * time.Millisecond, "the same as this process's (give or take 5ms)", false},
		{900 * time.Millisecond, "900ms ahead of this process's (give or take 5ms)", false},
		{90 * time.Second, "1m 30s ahead of this process's (give or take 5ms)", true},
		{-2 * time.Second, "2s behind this process's (give or take 5ms)", true},
	} {
		if got, skewed := clockText(tt.ahead, 10*time.Millisecond); got != tt.want || skewed != tt.skewed {
			t.Errorf("%q, %v, want %q", got, skewed, tt.want)
		}
	}
}

func TestView(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	v := viewOf(snapshot{at: now, databases: []state{
		{name: "a", at: now, now: now.Add(2 * time.Second), unread: true},
		{name: "b", at: now, now: now.Add(-time.Second), failing: now},
		{name: "c", failing: now},
	}}, time.Second, filter{}, nil)
	if v.Spread != "3s" || v.EveryMS != 1000 || v.At != "2026-03-04 05:06:07" {
		t.Errorf("%+v", v)
	}
	b, c, a := v.Databases[0], v.Databases[1], v.Databases[2] // what does not answer comes first
	if a.Clock != "2s ahead of this process's (give or take 0ms)" || !a.Unread || a.Failing != "" || !a.Answered {
		t.Errorf("%+v", a)
	}
	if b.Clock != "1s behind this process's (give or take 0ms)" || b.Failing != "2026-03-04 05:06:07" || !b.Answered {
		t.Errorf("%+v", b)
	}
	if c.Answered || c.Clock != "" || c.Failing == "" {
		t.Errorf("%+v", c)
	}
}
