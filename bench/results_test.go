package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shardsnow/snow/bench/ids"
	"github.com/shardsnow/snow/bench/rows"
)

// idsSection is a section with made-up figures.
func idsSection() *section[*ids.Result] {
	speed := func(ns, cpu float64) []ids.Speed {
		var s []ids.Speed
		for _, n := range []int{1, 2, 64} {
			s = append(s, ids.Speed{Goroutines: n, NS: []float64{ns, ns * 1.1, ns * 0.9}, CPU: []float64{cpu}})
		}
		return s
	}
	latency := []ids.Percentiles{
		{Goroutines: 1, Calls: 1000, P50: 70, P99: 90, P999: 1500, P9999: 2_340_000, Max: 3 * time.Second},
		{Goroutines: 64, Calls: 1000, P50: 70, P99: 90, P999: 1500, P9999: 2_340_000, Max: 3 * time.Second},
	}
	even := []ids.Evenness{{Modulus: 64, Counts: make([]int, 64), ChiSquare: 6300}}
	even[0].Counts[0] = 100
	return &section[*ids.Result]{
		Date: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Took: 5 * time.Minute,
		Machine: machine{CPU: "Some CPU", Cores: 2, MemoryMB: 8000, Kernel: "linux 6", Go: "go1.26"},
		Modules: map[string]string{"example.org/peer": "v1.2.3", "example.org/other": "v9"},
		Result: &ids.Result{
			Options: ids.Full(), Goroutines: []int{1, 2, 64}, Procs: 2,
			Rows: []ids.Row{
				{Name: ids.SnowNext, Kind: ids.Snow, Format: "41+10+12", PerCall: 1, PerSecond: 4_096_000, Speed: speed(244.14, 0.04), Latency: latency},
				{
					Name: ids.Influx, Kind: ids.Peer, PerCall: 1, Source: "example.org/peer", Speed: speed(30.5, 0.2),
					Latency: latency, Trickle: &latency[0], Evenness: even,
				},
				{Name: ids.FloorID, Kind: ids.Floor, PerCall: 1, Speed: speed(28, 0.03)},
			},
			Texts: []ids.Text{{Name: "ID.String", Against: "strconv.FormatInt", NS: []float64{30}, Baseline: []float64{20}, Allocs: 1, Bytes: 24}},
		},
	}
}

func rowsSection() *section[[]rows.Result] {
	s := &section[[]rows.Result]{
		Date: time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC), Quick: true, Machine: machine{Cores: 2, Kernel: "linux 6", Go: "go1.26"},
	}
	for _, engine := range []string{rows.MariaDB, rows.PostgreSQL} {
		for i, key := range []string{rows.AutoIncrement, rows.Snow, rows.UUIDv7, rows.UUIDv4, rows.UUIDv4Text} {
			r := rows.Result{
				Engine: engine, Version: engine + " 10.11", Pool: 64 << 20, Key: key, Column: "BIGINT",
				Rows: 1_000_000, Target: 1_000_000, Overall: 100_000 / float64(i+1), LastQuarter: 90_000 / float64(i+1),
				Runs: []float64{100_000 / float64(i+1), 110_000 / float64(i+1)}, Bytes: 144_000_000, ReadP50: 120_000, ReadP99: 900_000,
			}
			for n := range 50 {
				r.RowsPerSecond = append(r.RowsPerSecond, rows.Point{
					Rows: (n + 1) * 20_000, PerSecond: r.Overall * (1.1 - float64(n)*0.004 + 0.03*math.Sin(float64(n*n))),
				})
			}
			s.Result = append(s.Result, r)
		}
	}
	s.Result[3].Rows = 200_000
	return s
}

// concurrentSection has the tables of one load.
func concurrentSection() *section[[]rows.Table] {
	s := &section[[]rows.Table]{Date: time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC), Machine: machine{Cores: 2, Kernel: "linux 6", Go: "go1.26"}}
	for i, key := range []string{rows.AutoIncrement, rows.Snow, rows.Clustered, rows.UUIDv7, rows.UUIDv4} {
		s.Result = append(s.Result, rows.Table{
			Engine: rows.MariaDB, Version: "10.11", Pool: 160 << 20, Connections: 16, PerStatement: 20, Key: key, Rows: 1_000_000,
			Index: int64(100+10*i) * 1_000_000, Bytes: 300_000_000, Blocks: []float64{10_000, 20_000 * float64(i+1), 30_000},
		})
	}
	return s
}

func TestEachPartIsKeptWhileTheOtherIsMeasured(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "results.json")
	r, err := readResults(path)
	if err != nil || r.IDs != nil || r.Rows != nil {
		t.Fatalf("without a file there is %+v, %v", r, err)
	}
	r.IDs = idsSection()
	if err := r.write(dir); err != nil {
		t.Fatal(err)
	}
	r, err = readResults(path)
	if err != nil {
		t.Fatal(err)
	}
	r.Rows, r.Concurrent = rowsSection(), concurrentSection()
	if err := r.write(dir); err != nil {
		t.Fatal(err)
	}
	if r, err = readResults(path); err != nil {
		t.Fatal(err)
	}
	if err := r.write(dir); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "RESULTS.md"))
	if err != nil {
		t.Fatal(err)
	}
	if want := (results{IDs: idsSection(), Rows: rowsSection(), Concurrent: concurrentSection()}).report(); string(got) != want {
		t.Errorf("the report has changed on its way through results.json:\n%s", got)
	}
	for _, name := range []string{"speed", "cpu", "evenness", "rows-mariadb", "clustered-20"} {
		checkChart(t, filepath.Join(dir, "charts", name+".svg"), "2 cores", "2026-03-0")
	}

	if err := os.WriteFile(path, []byte("{"), 0o666); err != nil {
		t.Fatal(err)
	}
	if r, err := readResults(path); err == nil {
		t.Errorf("a broken file reads as %+v", r)
	}
}

// checkChart finds what can't be read in a chart: broken XML, coordinates that are no
// numbers, and texts that are too small at 400 pixels. The chart says each of wants.
func checkChart(t *testing.T, path string, wants ...string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
		return
	}
	if bytes.Contains(b, []byte("NaN")) {
		t.Errorf("%s has coordinates that are not numbers", path)
	}
	var texts []string
	width, inText := 0.0, false
	d := xml.NewDecoder(bytes.NewReader(b))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Errorf("%s: %v", path, err)
			return
		}
		switch token := token.(type) {
		case xml.StartElement:
			inText = token.Name.Local == "text"
			for _, a := range token.Attr {
				switch {
				case token.Name.Local == "svg" && a.Name.Local == "viewBox":
					_, err = fmt.Sscanf(a.Value, "0 0 %g", &width)
				case inText && a.Name.Local == "style":
					var size float64
					_, after, _ := strings.Cut(a.Value, "font-size:")
					after, _, _ = strings.Cut(after, "px")
					if size, err = strconv.ParseFloat(after, 64); err == nil && size*400/width < 11 {
						t.Errorf("%s: a text has %.1f pixels if the chart has 400", path, size*400/width)
					}
				}
				if err != nil {
					t.Errorf("%s: %s=%q: %v", path, a.Name.Local, a.Value, err)
				}
			}
		case xml.CharData:
			if inText {
				texts = append(texts, string(token))
			}
		case xml.EndElement:
			inText = false
		}
	}
	for _, want := range wants {
		if !strings.Contains(strings.Join(texts, " "), want) {
			t.Errorf("%s does not say %q: %q", path, want, texts)
		}
	}
}

func TestReportSaysWhatWasMeasured(t *testing.T) {
	turns := &section[[]rows.Turn]{Machine: machine{Kernel: "linux 6", Go: "go1.26"}, Result: []rows.Turn{{Engine: rows.MariaDB, Version: "10.11", Pool: 128 << 20, Rows: 2_000_000, Ratio: 0.5, Blocks: []float64{
		9, 8, 0.52, 0.51, 0.5, 0.49, 0.2, 0.1,
	}}}}
	report := (results{IDs: idsSection(), Rows: rowsSection(), Turns: turns, Concurrent: concurrentSection()}).report()
	for _, want := range []string{
		"Some CPU, 2 cores, 8,000 MB", "example.org/peer v1.2.3\n", "a full run", "a quick run",
		"244 | 10 %", "100.00 %", "1.5 µs", "2.34 ms", "6,300 **fails**", "1.50×", "**no**",
		"### MariaDB", "### PostgreSQL", "200,000 of 1,000,000", "0.50×", "godruoyi/go-snowflake",
		"| MariaDB 10.11 |          16 |               20 | snow, clustered | 1,000,000 |              120 |             1.20× |",
		"| MariaDB 10.11 | 128 MB |  2,000,000 |                             0.500× | 0.49–0.52 | ≥ 1.00× | **no** |",
	} {
		if !strings.Contains(report, want) {
			t.Errorf("the report does not have %q", want)
		}
	}
	for _, not := range []string{"NaN", "example.org/other", "%!", "\n\n\n"} {
		if i := strings.Index(report, not); i >= 0 {
			t.Errorf("the report has %q: %s", not, report[max(0, i-100):min(len(report), i+20)])
		}
	}
	for _, line := range strings.Split(report, "\n") {
		if strings.HasSuffix(line, " ") || len([]rune(line)) > 120 && !strings.HasPrefix(line, "|") && !strings.HasPrefix(line, "- modules") {
			t.Errorf("a line is too long or ends with a space: %q", line)
		}
	}
}

func TestAReportOfNothingIsWritten(t *testing.T) {
	var r results
	r.IDs = &section[*ids.Result]{Result: new(ids.Result)}
	if err := r.write(t.TempDir()); err != nil {
		t.Error(err)
	}
}

// Every chart of the repository is on a page, and can be read there.
func TestCharts(t *testing.T) {
	charts, err := filepath.Glob("charts/*")
	if err != nil || len(charts) == 0 {
		t.Fatal(charts, err)
	}
	pages := ""
	for _, name := range []string{"../README.md", "../docs/performance.md", "../docs/lanes.md"} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		pages += string(b)
	}
	for _, chart := range charts {
		checkChart(t, chart, "2 cores", "2026-")
		if !strings.Contains(pages, "bench/"+filepath.ToSlash(chart)+")") {
			t.Errorf("no page shows %s", chart)
		}
	}
}

// The report and the charts of the repository are of its results.
func TestReportIsOfTheResults(t *testing.T) {
	r, err := readResults("results.json")
	if err != nil || r.IDs == nil {
		t.Fatal(r.IDs, err)
	}
	dir := t.TempDir()
	if err := r.write(dir); err != nil {
		t.Fatal(err)
	}
	var names [2][]string
	for i, in := range []string{".", dir} {
		files, err := filepath.Glob(filepath.Join(in, "charts", "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range append(files, filepath.Join(in, "RESULTS.md")) {
			name, err := filepath.Rel(in, file)
			if err != nil {
				t.Fatal(err)
			}
			names[i] = append(names[i], name)
		}
	}
	if !slices.Equal(names[0], names[1]) {
		t.Fatalf("the repository has %q, and its results make %q", names[0], names[1])
	}
	for _, name := range names[0] {
		got, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(bytes.ReplaceAll(got, []byte("\r\n"), []byte("\n")), want) {
			t.Errorf("%s differs from what results.json makes: go run . -only none writes it again", name)
		}
	}
}

// A chart of pairs shows both figures of each key, of both servers or with few and many goroutines.
func TestChartsOfPairs(t *testing.T) {
	s := concurrentSection()
	for _, r := range slices.Clone(s.Result) {
		r.Engine, r.Version, r.Index = rows.MySQL, "9.7.4-2", r.Index+5_000_000
		s.Result = append(s.Result, r, rows.Table{Engine: rows.PostgreSQL, Connections: 16, PerStatement: 20, Key: r.Key, Rows: 1, Index: 1})
	}
	dir := t.TempDir()
	if err := (results{IDs: idsSection(), Concurrent: s}).writeCharts(dir); err != nil {
		t.Fatal(err)
	}
	checkChart(t, filepath.Join(dir, "clustered-20.svg"), "20 rows a statement", "MariaDB MySQL", "snow Clustered 120 125", "snow Default 110 115", "AUTO_INCREMENT 100 105")
	checkChart(t, filepath.Join(dir, "speed.svg"), "1 goroutine 64 goroutines")
	if _, err := os.Stat(filepath.Join(dir, "clustered-1.svg")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a chart of what was not measured: %v", err)
	}
}

func TestTable(t *testing.T) {
	tab := newTable(1, "name", "n")
	tab.add("µ", "1,000")
	tab.add("longer")
	want := "" +
		"| name   |     n |\n" +
		"|--------|------:|\n" +
		"| µ      | 1,000 |\n" +
		"| longer |       |\n\n"
	if got := tab.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestNumbers(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0.000", 0.0004: "0.000", 0.99951: "1.00", 1.234: "1.23", 9.996: "10.0", 99.96: "100", 244.14: "244", 1_234_567.8: "1,234,568",
		-0.0325: "-0.033", -1234: "-1,234",
	} {
		if got := three(x); got != want {
			t.Errorf("three(%v) is %q, want %q", x, got, want)
		}
	}
	if got := three(math.NaN()); got != "–" {
		t.Errorf("three(NaN) is %q", got)
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -100: "-100", -1_000_000: "-1,000,000"} {
		if got := grouped(n); got != want {
			t.Errorf("grouped(%d) is %q, want %q", n, got, want)
		}
	}
}

func TestFlagsAreChecked(t *testing.T) {
	for _, args := range [][]string{{"-only", "charts"}, {"-rows", "-1"}, {"quick"}} {
		if err := run(args); err == nil {
			t.Errorf("bench %q runs", args)
		}
	}
}

func TestThisMachineIsDescribed(t *testing.T) {
	m := thisMachine()
	if m.Cores < 1 || m.Go == "" {
		t.Errorf("got %+v", m)
	}
	if _, err := json.Marshal(m); err != nil {
		t.Error(err)
	}
	before := readLoad()
	if others, ok := before.others(); ok && (others < 0 || math.IsNaN(others)) {
		t.Errorf("others kept %v cores busy", others)
	}
}
