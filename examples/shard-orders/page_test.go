package main

import (
	"encoding/xml"
	"errors"
	"html"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/shardsnow/snow"
)

// The page has all charts and the same statements as the screen, and needs no network.
func TestReport(t *testing.T) {
	temporaryFolder(t)
	file := filepath.Join(t.TempDir(), "report.html")
	got := runProgram(t, "-report", file)
	if got.code != 0 || got.stderr != "" {
		t.Fatalf("exit status %d, stderr %q", got.code, got.stderr)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	charts := wantCharts(t, string(b))
	page := html.UnescapeString(string(b))
	if len(charts) != 5 {
		t.Errorf("the page has %d charts, want 5", len(charts))
	}
	for _, want := range []string{
		"17 of 17 claims", "886 orders of A have the key", "1,772 of 2,000", "0 of 2,000", "0 of 3,688",
		"A (886)", "B, killed (550)", "B, taken over (564)", ">killed</text>", "41+0+8+10+4/1ms@2024-01-01T00:00:00Z",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, never := range []string{"://", "src=", "href=", "url(", "@import", "<script", "NaN", "Inf", "%!"} {
		if strings.Contains(page, never) {
			t.Errorf("the page has %q", never)
		}
	}
}

// wantCharts returns the charts of a page. All of them must be well-formed.
func wantCharts(t *testing.T, page string) []string {
	t.Helper()
	charts := regexp.MustCompile(`(?s)<svg .*?</svg>`).FindAllString(page, -1)
	for _, chart := range charts {
		for d := xml.NewDecoder(strings.NewReader(chart)); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%v in\n%s", err, chart)
			}
		}
	}
	return charts
}

func TestReportOfAnotherFile(t *testing.T) {
	temporaryFolder(t)
	dir := t.TempDir()
	orders, report := filepath.Join(dir, "orders.csv"), filepath.Join(dir, "report.html")
	text := "buyer,item,amount,time\nanna,<tea>,300,2026-03-01T10:00:00Z\nkim,tea,300,2026-03-01T10:00:00Z\n"
	if err := os.WriteFile(orders, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := runProgram(t, "-orders", orders, "-report", report); got.code != 0 || got.stderr != "" {
		t.Fatalf("exit status %d, stderr %q", got.code, got.stderr)
	}
	page, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(wantCharts(t, string(page))); n != 5 || strings.Contains(string(page), "NaN") {
		t.Errorf("%d charts in\n%s", n, page)
	}
}

func TestReportThatCannotBeWritten(t *testing.T) {
	temporaryFolder(t)
	got := runProgram(t, "-report", filepath.Join(t.TempDir(), "missing", "report.html"))
	if got.code != 1 || !strings.HasPrefix(got.stderr, "shard-orders: open ") {
		t.Errorf("exit status %d, stderr %q", got.code, got.stderr)
	}
}

// Text in charts is escaped, and nothing is divided by nothing.
func TestCharts(t *testing.T) {
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	for name, chart := range map[string]string{
		"line":          string(lineChart("<&>", []string{`"<`}, [][]time.Time{{at, at, at.Add(time.Second)}}, at)),
		"line, empty":   string(lineChart("<&>", nil, nil, at)),
		"line, instant": string(lineChart("<&>", []string{"a", "b"}, [][]time.Time{{at}, nil}, at.Add(time.Hour))),
		"bar":           string(barChart("<&>", "<", "&", [][2]int{{1, 2}, {0, 0}})),
		"bar, empty":    string(barChart("<&>", "<", "&", nil)),
		"share":         string(shareChart("<&>", []share{{"<", tally{}}, {"&", tally{1, 2}}})),
		"strip":         string(stripChart([]strip{{"<", [2][]float64{{0, 1}, nil}}, {"&", [2][]float64{}}})),
	} {
		if n := len(wantCharts(t, chart)); n != 1 || strings.Contains(chart, "NaN") || strings.Contains(chart, "Inf") {
			t.Errorf("%s: %d charts in\n%s", name, n, chart)
		}
	}
}

func TestSpread(t *testing.T) {
	s, _ := smallStory(t)
	chart := string(s.spread("title", "axis", "rows", [2][]snow.ID{{16, 32}, {33}}))
	for _, want := range []string{"<title>0: 2</title>", "<title>1: 1</title>"} {
		if !strings.Contains(chart, want) {
			t.Errorf("the chart lacks %q:\n%s", want, chart)
		}
	}
}
