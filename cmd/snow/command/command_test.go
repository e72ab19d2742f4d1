package command

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shardsnow/snow/internal/idtext"
	"github.com/shardsnow/snow/internal/testkit/golden"
)

// today is the local clock of the tests.
var today = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// An outcome is what a run of the command did.
type outcome struct {
	status         int
	stdout, stderr string
}

func executeWith(t *testing.T, input string, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	a := &app{Streams: Streams{In: strings.NewReader(input), Out: &stdout, Err: &stderr}, now: func() time.Time { return today }}
	status := run(t.Context(), args, a)
	return outcome{status, stdout.String(), stderr.String()}
}

func execute(t *testing.T, args ...string) outcome {
	t.Helper()
	return executeWith(t, "", args...)
}

// transcript runs command lines and returns them with what they print, as a person sees it.
func transcript(t *testing.T, commands ...string) string {
	t.Helper()
	var b strings.Builder
	for _, line := range commands {
		command, input, _ := strings.Cut(line, " <<< ")
		got := executeWith(t, strings.ReplaceAll(input, ",", "\n"), strings.Fields(command)...)
		fmt.Fprintf(&b, "$ snow %s\n%s%s", line, got.stdout, got.stderr)
		if got.status != 0 {
			fmt.Fprintf(&b, "exit status %d\n", got.status)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestIDs(t *testing.T) {
	golden.Check(t, "testdata/id.txt", transcript(t,
		"id show 175928847299117063",
		"id show 04W86BB0G4007 0x271065ac1020007 --layout default",
		"id show --layout javascript --layout 41+0+4+12+6/1ms@2024-01-01T00:00:00Z 4503599627370497",
		"id show --json --layout twitter 1212092628029698048",
		"id show --json --layout clustered 175928847299117063",
		"id show 1234567890123",
		"id show 9223372036854775807",
		"id show --layout javascript 175928847299117063",
		"id show <<< 1541815603606036480,,04W86BB0G4007",
		"id show - 7 <<< 5",
		"id show --json",
		"id show 0",
		"id show -- -5",
		"id show 0x8000000000000000",
		"id show zwölf",
		"id show --layout snowy 7",
		"id range 2026-01-01 2026-01-02",
		"id range 2026-01-31T00:00:00+01:00 now --column orders.id --layout twitter",
		"id range 2025-10-31 2026-03-01 -every month",
		"id range 2026-01-01 2026-01-03 --every 36h --json",
		"id range 2024-02-29 2026-03-01 --every year",
		"id range 2026-01-02 2026-01-01",
		"id range 2023-01-02 2026-01-01",
		"id range 2026-01-02 2094-01-01",
		"id range 2026-01-02 2027-01-01 --every 1s",
		"id range 2026-01-02 2027-01-01 --every never",
		"id range 2026-01-01 2026-01-01T00:00:05Z --layout 31+1+10+0+10+11+0/1ms@2024-01-01T00:00:00Z",
		"id range 2026-01-02 2026-01-03 --every 1ms --layout clustered",
		"id range yesterday now",
		"id range now",
	))
}

func TestLayouts(t *testing.T) {
	golden.Check(t, "testdata/layout.txt", transcript(t,
		"layout",
		"layout Discord 41+2+4+10+6/1ms@2024-01-01T00:00:00Z",
		"layout --json 62+0+0+1+0/1h0m0s@2024-01-01T00:00:00Z",
		"layout - <<< default",
		"layout 41+0+10+12",
		"layout fit",
		"layout fit -years 60 -workers 1024 -rate 4096000",
		"layout fit --shards 64 --workers 1000 --rate 50000",
		"layout fit --shards 256 --workers 300 --rate 10000",
		"layout fit -years 80 -workers 128 -rate 20000 -tick 10ms -bits 53",
		"layout fit -years 60 -workers 4096 -rate 4096000",
		"layout fit -years 60 -workers 4096 -rate 100 -tick 1us --json",
		"layout fit -bits 64",
		"layout fit -epoch 2030-01-01",
		"layout fit -epoch soon",
		"layout fit -tick 1",
		"layout fit 50",
	))
}

func TestNewIDs(t *testing.T) {
	for _, tt := range []struct {
		args   string
		status int
		lines  int
		output string
	}{
		{"--worker 7", 0, 1, ""},
		{"--worker 7 --count 5000", 0, 5000, ""},
		{"--worker 7 --format base32", 0, 1, "0"},
		{"--worker 7 --format hex --count 2", 0, 2, "0x"},
		{"--worker 7 --format roman", 2, 0, "want decimal, base32 or hex"},
		{"", 2, 0, "want either --namespace"},
		{"--worker 7 --namespace shop", 2, 0, "want either --namespace"},
		{"--namespace shop --layout twitter", 2, 0, "--layout is for --worker"},
		{"--worker 7 --count 0", 2, 0, "--count: want 1 to 1000000"},
		{"--worker 1024", 1, 0, "worker 1024"},
		{"--worker 1 --layout uidgenerator", 1, 0, "exhausted"},
		{"--worker -1", 2, 0, "--worker: want uint64"},
	} {
		t.Run(tt.args, func(t *testing.T) {
			got := execute(t, append([]string{"id", "new"}, strings.Fields(tt.args)...)...)
			if got.status != tt.status || strings.Count(got.stdout, "\n") != tt.lines || !strings.Contains(got.stdout+got.stderr, tt.output) {
				t.Fatalf("exit status %d, %d lines, stderr %q", got.status, strings.Count(got.stdout, "\n"), got.stderr)
			}
			seen := make(map[string]bool)
			for _, id := range strings.Fields(got.stdout) {
				if s, err := idtext.Parse(id); err != nil || seen[id] {
					t.Fatalf("%q: %v, seen before: %v", id, s, seen[id])
				}
				seen[id] = true
			}
		})
	}
}

func TestRoot(t *testing.T) {
	const secret = "root:geheim@tcp(127.0.0.1:1)/shop"
	for _, tt := range []struct {
		args   []string
		status int
		output string
	}{
		{nil, 0, "Available Commands"},
		{[]string{"help"}, 0, "Exit status"},
		{[]string{"-help"}, 0, "Exit status"},
		{[]string{"id", "show", "-h"}, 0, "--layout"},
		{[]string{"version"}, 0, "snow "},
		{[]string{"version", "-json"}, 0, `"go": "go`},
		{[]string{"completion", "bash"}, 0, "__start_snow"},
		{[]string{"id"}, 0, "Available Commands"},
		{[]string{secret}, 2, "unknown command; there are "},
		{[]string{"id", secret}, 2, "unknown command; there are new, range, show"},
		{[]string{"workers", secret}, 2, "flags only"},
		{[]string{"workers", "--" + secret}, 2, "unknown flag"},
		{[]string{"workers", "-dsn", secret}, 2, "want env:NAME"},
		{[]string{"workers", "-dsn", "postgres://a:geheim@h/d.db"}, 2, "want env:NAME"},
		{[]string{"workers", "-dsn", "env:THERE_IS_NO_SUCH"}, 2, "the environment has no THERE_IS_NO_SUCH"},
		{[]string{"workers", "-dsn", "@/there/is/no/such"}, 2, "no such file"},
		{[]string{"workers"}, 2, "--dsn is missing"},
		{[]string{"workers", "-dsn"}, 2, "flag needs an argument: --dsn"},
		{[]string{"workers", "-dsn", "there-is-none.db"}, 1, "there-is-none.db"},
		{[]string{"workers", "-every", "geheim"}, 2, "--every: want duration"},
		{[]string{"workers", "-every", "0s"}, 2, "--every: want more than 0s"},
		{[]string{"init", "-dsn", "a.db"}, 2, "--namespace is missing"},
		{[]string{"fence", "-dsn", "a.db"}, 2, "--namespace is missing"},
	} {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			got := execute(t, tt.args...)
			if got.status != tt.status || !strings.Contains(got.stdout+got.stderr, tt.output) {
				t.Errorf("exit status %d, stdout %.200q, stderr %q; want %d and %q", got.status, got.stdout, got.stderr, tt.status, tt.output)
			}
			if strings.Contains(got.stdout+got.stderr, "geheim") {
				t.Errorf("the output has the password: %s%s", got.stdout, got.stderr)
			}
		})
	}
}

func TestDSNsOfTheEnvironmentAreNotShown(t *testing.T) {
	for dialect, dsn := range map[string]string{
		"mysql":    "root:geheim@tcp(127.0.0.1:1)/shop",
		"postgres": "postgres://root:geheim@127.0.0.1:1/shop",
	} {
		for _, value := range []string{dsn, "geheim", dsn + "?geheim=%zz"} {
			t.Setenv("SNOW_DSN", value)
			got := execute(t, "workers", "-dialect", dialect)
			if got.status != 1 || strings.Contains(got.stderr, "geheim") {
				t.Errorf("%s: exit status %d, stderr %q", dialect, got.status, got.stderr)
			}
		}
	}
}
