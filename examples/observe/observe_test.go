package observe

import (
	"context"
	"database/sql"
	"encoding/json"
	"expvar"
	"io"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	_ "github.com/ncruces/go-sqlite3/driver"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/promsnow"
	"github.com/shardsnow/snow/sqlsnow"
)

// openRegistry returns a database with the namespace "shop".
func openRegistry(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(t.TempDir(), "registry.db")+"?_pragma=journal_mode(wal)&_pragma=synchronous(full)")
	check(t, err)
	t.Cleanup(func() { check(t, db.Close()) })
	check(t, sqlsnow.Migrate(t.Context(), db, sqlsnow.SQLite))
	check(t, sqlsnow.Init(t.Context(), db, sqlsnow.SQLite, sqlsnow.Namespace{Name: "shop", Layout: snow.DefaultLayout(), Workers: 4}))
	return db
}

// start returns a lease that is closed at the end of the test, and a generator.
func start(t *testing.T) (*sqlsnow.Lease, *snow.Generator) {
	t.Helper()
	lease, err := sqlsnow.Acquire(t.Context(), openRegistry(t), sqlsnow.SQLite, sqlsnow.LeaseConfig{Namespace: "shop", Logger: slog.New(slog.DiscardHandler)})
	check(t, err)
	t.Cleanup(func() { check(t, lease.Close(context.Background())) })
	keys, err := snow.NewGenerator(lease, snow.Config{})
	check(t, err)
	_, err = keys.Next(t.Context())
	check(t, err)
	return lease, keys
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestExpvar(t *testing.T) {
	if expvar.Get("snow") != nil {
		t.Skip("expvar publishes a name once in a process: it did so in the run before, of -count")
	}
	lease, keys := start(t)
	expvar.Publish("snow", expvar.Func(func() any { return keys.Stats() }))
	expvar.Publish("snow.lease", expvar.Func(func() any { return lease.Stats() }))

	page := httptest.NewRecorder()
	expvar.Handler().ServeHTTP(page, httptest.NewRequest("GET", "/debug/vars", nil))
	var got struct {
		Snow struct {
			Issued int
			Left   int64 `json:"left_ns"`
		}
		Lease struct {
			Worker *int
			Left   int64 `json:"left_ns"`
		} `json:"snow.lease"`
	}
	check(t, json.NewDecoder(page.Body).Decode(&got))
	if got.Snow.Issued != 1 || time.Duration(got.Snow.Left) < time.Hour || got.Lease.Worker == nil || time.Duration(got.Lease.Left) < 9*time.Minute {
		t.Errorf("got %+v", got)
	}
}

func TestPrometheus(t *testing.T) {
	lease, keys := start(t)
	registry := prometheus.NewRegistry()
	registry.MustRegister(promsnow.Generator("orders", keys), promsnow.Lease("orders", lease))

	page := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(page, httptest.NewRequest("GET", "/metrics", nil))
	text, err := io.ReadAll(page.Body)
	check(t, err)
	for _, want := range []string{`snow_ids_issued_total{source="orders"} 1`, `snow_lease_failing{source="orders"} 0`} {
		if !strings.Contains(string(text), want+"\n") {
			t.Errorf("the page lacks %s:\n%s", want, text)
		}
	}
}

// A wait is a child span of the request that waits, and an event of a lease is a
// child span of the call that caused it.
func TestOpenTelemetry(t *testing.T) {
	spans := tracetest.NewSpanRecorder()
	tracer := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans)).Tracer("shop")
	db, ctx := openRegistry(t), t.Context()

	onEvent := func(ctx context.Context, e sqlsnow.LeaseEvent) {
		_, span := tracer.Start(ctx, "snow.lease."+e.Kind.String(),
			trace.WithTimestamp(time.Now().Add(-e.Took)),
			trace.WithAttributes(attribute.Int64("snow.worker", int64(e.Worker))))
		if e.Err != nil {
			span.RecordError(e.Err)
		}
		span.End()
	}
	onWait := func(ctx context.Context, d time.Duration) func(error) {
		_, span := tracer.Start(ctx, "snow.wait", trace.WithAttributes(attribute.Float64("snow.wait.seconds", d.Seconds())))
		return func(err error) {
			if err != nil {
				span.RecordError(err)
			}
			span.End()
		}
	}

	startCtx, starting := tracer.Start(ctx, "start")
	lease, err := sqlsnow.Acquire(startCtx, db, sqlsnow.SQLite, sqlsnow.LeaseConfig{
		Namespace: "shop", OnEvent: onEvent, Logger: slog.New(slog.DiscardHandler),
	})
	check(t, err)
	starting.End()
	keys, err := snow.NewGenerator(lease, snow.Config{OnWait: onWait, MaxAhead: time.Millisecond})
	check(t, err)

	request, requested := tracer.Start(ctx, "request")
	check(t, keys.Fill(request, make([]snow.ID, 5*4096)))
	requested.End()
	check(t, lease.Close(ctx))

	below := make(map[string]string) // the name of a span's parent
	names := map[trace.SpanID]string{starting.SpanContext().SpanID(): "start", requested.SpanContext().SpanID(): "request"}
	for _, span := range spans.Ended() {
		below[span.Name()] = names[span.Parent().SpanID()]
	}
	for name, want := range map[string]string{"snow.lease.acquired": "start", "snow.wait": "request", "snow.lease.ended": ""} {
		if parent, ok := below[name]; !ok || parent != want {
			t.Errorf("span %s is below %q, there: %v; want %q", name, parent, ok, want)
		}
	}
}

// The code of the page is the code of this file, line by line.
func TestPage(t *testing.T) {
	source, err := os.ReadFile("observe_test.go")
	check(t, err)
	page, err := os.ReadFile("../../docs/metrics.md")
	check(t, err)
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllSubmatch(page, -1)
	if len(blocks) < 3 {
		t.Errorf("the page has %d blocks of code, want one for each way", len(blocks))
	}
	for _, block := range blocks {
		if !strings.Contains(unindented(string(source)), unindented(string(block[1]))) {
			t.Errorf("not in this file:\n%s", block[1])
		}
	}
}

// unindented returns text without the spaces around its lines.
func unindented(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "\n")
}
