package promsnow_test

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow/route/meter"
	"github.com/shardsnow/snow/promsnow"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/segments"
)

type stats[S any] struct{ now S }

func (s *stats[S]) Stats() S { return s.now }

func full() (*stats[snow.Stats], *stats[sqlsnow.LeaseStats]) {
	keys := snow.Stats{
		Issued: 1, Waits: 2, Waited: 3 * time.Second, Borrowed: 4 * time.Millisecond, MostBorrowed: 5 * time.Millisecond,
		ClockSteps: 6, ClockLag: 7 * time.Second, Left: 8 * time.Hour,
	}
	lease := sqlsnow.LeaseStats{
		Datacenter: 1, Worker: 700, Fence: 3, Left: 9 * time.Minute, Renewed: time.UnixMilli(1_800_000_000_250), Ceiling: time.UnixMilli(1_800_000_600_250),
		Renewals: 10, Failures: 11, Swaps: 12, Skew: -13 * time.Millisecond, Err: errors.New("no route"),
	}
	return &stats[snow.Stats]{keys}, &stats[sqlsnow.LeaseStats]{lease}
}

func numbers() *stats[segments.Stats] {
	return &stats[segments.Stats]{segments.Stats{
		Issued: 1, Left: 2, Step: 3, Refills: 4, Waits: 5, Regressions: 6,
		Databases: []segments.Database{{Up: true, Left: 7, Takes: 8, Failures: 9}, {Err: errors.New("no route"), Residue: -1, Failures: 10}},
	}}
}

func router() *stats[meter.Stats] {
	return &stats[meter.Stats]{meter.Stats{
		Databases: []meter.Database{{Statements: 1, Replicas: []uint64{2, 3}}, {Statements: 4}},
		Refused:   map[string]uint64{"unrouted": 5, "spread": 0},
		Scattered: 6, Asked: 7,
	}}
}

// collectors are one of each.
func collectors() []prometheus.Collector {
	keys, lease := full()
	return []prometheus.Collector{promsnow.Generator("orders", keys), promsnow.Lease("orders", lease), promsnow.Segments("orders", numbers()), promsnow.Router("orders", router())}
}

func TestValues(t *testing.T) {
	keys, lease := full()
	for _, tt := range []struct {
		collector prometheus.Collector
		want      string
	}{
		{promsnow.Generator("orders", keys), `
			snow_ids_issued_total{source="orders"} counter 1
			snow_waits_total{source="orders"} counter 2
			snow_wait_seconds_total{source="orders"} counter 3
			snow_borrowed_seconds{source="orders"} gauge 0.004
			snow_borrowed_peak_seconds{source="orders"} gauge 0.005
			snow_clock_steps_total{source="orders"} counter 6
			snow_clock_lag_seconds{source="orders"} gauge 7
			snow_layout_left_seconds{source="orders"} gauge 28800`},
		{promsnow.Lease("orders", lease), `
			snow_lease_info{datacenter="1",source="orders",worker="700"} gauge 1
			snow_lease_left_seconds{source="orders"} gauge 540
			snow_lease_window_seconds{source="orders"} gauge 600
			snow_lease_renewed_timestamp_seconds{source="orders"} gauge 1.80000000025e+09
			snow_lease_renewals_total{source="orders"} counter 10
			snow_lease_failures_total{source="orders"} counter 11
			snow_lease_swaps_total{source="orders"} counter 12
			snow_lease_skew_seconds{source="orders"} gauge -0.013
			snow_lease_failing{source="orders"} gauge 1`},
		{promsnow.Segments("orders", numbers()), `
			snow_segments_issued_total{source="orders"} counter 1
			snow_segments_left{source="orders"} gauge 2
			snow_segments_step{source="orders"} gauge 3
			snow_segments_refills_total{source="orders"} counter 4
			snow_segments_waits_total{source="orders"} counter 5
			snow_segments_regressions_total{source="orders"} counter 6
			snow_segments_database_up{database="0",source="orders"} gauge 1
			snow_segments_database_up{database="1",source="orders"} gauge 0
			snow_segments_database_left{database="0",source="orders"} gauge 7
			snow_segments_database_left{database="1",source="orders"} gauge 0
			snow_segments_database_takes_total{database="0",source="orders"} counter 8
			snow_segments_database_takes_total{database="1",source="orders"} counter 0
			snow_segments_database_failures_total{database="0",source="orders"} counter 9
			snow_segments_database_failures_total{database="1",source="orders"} counter 10`},
		{promsnow.Router("orders", router()), `
			snow_route_statements_total{database="0",source="orders"} counter 1
			snow_route_statements_total{database="1",source="orders"} counter 4
			snow_route_replica_statements_total{database="0",replica="0",source="orders"} counter 2
			snow_route_replica_statements_total{database="0",replica="1",source="orders"} counter 3
			snow_route_refused_total{reason="unrouted",source="orders"} counter 5
			snow_route_refused_total{reason="spread",source="orders"} counter 0
			snow_route_scatters_total{source="orders"} counter 6
			snow_route_scatter_databases_total{source="orders"} counter 7`},
	} {
		var want []string
		for line := range strings.Lines(strings.TrimSpace(tt.want)) {
			want = append(want, strings.TrimSpace(line))
		}
		slices.Sort(want)
		if got := values(t, tt.collector); got != strings.Join(want, "\n") {
			t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
		}
	}
	lease.now.Err = nil
	lease.now.Worker = 701 // swapped
	if got := values(t, promsnow.Lease("orders", lease)); !strings.Contains(got, `snow_lease_failing{source="orders"} gauge 0`) || !strings.Contains(got, `worker="701"`) {
		t.Errorf("after a swap:\n%s", got)
	}
}

// values returns name{labels} type value for each metric, sorted.
func values(t *testing.T, c prometheus.Collector) string {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(c)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
			}
			kind, value := "gauge", m.GetGauge().GetValue()
			if m.GetCounter() != nil {
				kind, value = "counter", m.GetCounter().GetValue()
			}
			lines = append(lines, fmt.Sprintf("%s{%s} %s %v", f.GetName(), strings.Join(labels, ","), kind, value))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// Names, types and units follow Prometheus' conventions.
func TestLint(t *testing.T) {
	for _, c := range collectors() {
		problems, err := testutil.CollectAndLint(c)
		if err != nil || len(problems) > 0 {
			t.Errorf("%v, %v", problems, err)
		}
	}
}

// A registry that checks what collectors send takes several sources side by
// side, and not the same one twice.
func TestSeveralSources(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	keys, lease := full()
	for _, name := range []string{"orders", "items"} {
		registry.MustRegister(promsnow.Generator(name, keys), promsnow.Lease(name, lease), promsnow.Segments(name, numbers()), promsnow.Router(name, router()))
	}
	var twice prometheus.AlreadyRegisteredError
	if err := registry.Register(promsnow.Generator("orders", keys)); !errors.As(err, &twice) {
		t.Errorf("registered twice: %v", err)
	}
	families, err := registry.Gather()
	if err != nil || len(families) != 32 {
		t.Fatalf("%d families, %v", len(families), err)
	}
	for _, f := range families {
		want := 2
		switch name := f.GetName(); {
		case strings.Contains(name, "_database_"), name == "snow_route_statements_total", name == "snow_route_replica_statements_total", name == "snow_route_refused_total":
			want = 4
		}
		if len(f.GetMetric()) != want {
			t.Errorf("%s has %d metrics, want one for each source", f.GetName(), len(f.GetMetric()))
		}
	}
	if err := registry.Register(promsnow.Lease("\xff", lease)); err == nil {
		t.Error("a name that is no UTF-8 is not refused")
	}
}

func TestNoSource(t *testing.T) {
	for _, c := range []prometheus.Collector{promsnow.Generator("orders", nil), promsnow.Lease("orders", nil), promsnow.Segments("orders", nil), promsnow.Router("orders", nil)} {
		registry := prometheus.NewPedanticRegistry()
		registry.MustRegister(c)
		if _, err := registry.Gather(); err == nil || !strings.Contains(err.Error(), "the source of statistics is nil") {
			t.Errorf("Gather: %v", err)
		}
	}
}

// The package documentation and docs/metrics.md list the metrics that there are.
func TestDocumentation(t *testing.T) {
	have := make(map[string]bool)
	for _, c := range collectors() {
		for line := range strings.Lines(values(t, c)) {
			name, _, _ := strings.Cut(line, "{")
			have[name] = true
		}
	}
	for _, file := range []string{"doc.go", "../docs/metrics.md"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		named := make(map[string]bool)
		for _, name := range regexp.MustCompile(`\bsnow_[a-z_]*[a-z]`).FindAll(text, -1) {
			named[string(name)] = true
			if !have[string(name)] {
				t.Errorf("%s names %s, which is no metric", file, name)
			}
		}
		for name := range have {
			if !named[name] {
				t.Errorf("%s lacks %s", file, name)
			}
		}
	}
}

// Each metric that docs/metrics.md calls an alert has a rule there, and no others have.
func TestAlerts(t *testing.T) {
	text, err := os.ReadFile("../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows, rules []string
	for _, m := range regexp.MustCompile("(?m)^\\| `(snow_[a-z_]+)`[^|]*\\|[^|]*\\|[^|]*\\*\\*alert\\*\\*").FindAllSubmatch(text, -1) {
		rows = append(rows, string(m[1]))
	}
	for _, m := range regexp.MustCompile(`(?m)^ +expr: .*?\b(snow_[a-z_]+)\b`).FindAllSubmatch(text, -1) {
		rules = append(rules, string(m[1]))
	}
	slices.Sort(rows)
	slices.Sort(rules)
	if len(rows) == 0 || !slices.Equal(rows, rules) {
		t.Errorf("alerts of the tables: %q; rules: %q", rows, rules)
	}
}

func Example() {
	keys, lease := start()
	registry := prometheus.NewRegistry() // or prometheus.DefaultRegisterer
	registry.MustRegister(promsnow.Generator("orders", keys), promsnow.Lease("orders", lease))
	// http.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))

	n, err := testutil.GatherAndCount(registry)
	fmt.Println(n, err)
	// Output: 17 <nil>
}

// start stands for Acquire and NewGenerator.
func start() (*stats[snow.Stats], *stats[sqlsnow.LeaseStats]) { return full() }

func ExampleGenerator() {
	keys, _ := start()
	fmt.Println(testutil.CollectAndCount(promsnow.Generator("orders", keys)))
	// Output: 8
}

func ExampleLease() {
	_, lease := start()
	fmt.Println(testutil.CollectAndCount(promsnow.Lease("orders", lease)))
	// Output: 9
}

// Segments over two databases.
func ExampleSegments() {
	fmt.Println(testutil.CollectAndCount(promsnow.Segments("invoices", numbers())))
	// Output: 14
}

// The router is what route.RouterOf returns for the database that route.New has made.
func ExampleRouter() {
	fmt.Println(testutil.CollectAndCount(promsnow.Router("orders", router())))
	// Output: 8
}
