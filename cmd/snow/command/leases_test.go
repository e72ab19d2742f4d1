package command

import (
	"context"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shardsnow/snow/cmd/snow/internal/database"
	"github.com/shardsnow/snow/sqlsnow"
)

// workersOf returns what snow workers -json says.
func workersOf(t *testing.T, args ...string) (s shownWorkers) {
	t.Helper()
	got := execute(t, append([]string{"workers", "-json", "-namespace", "shop"}, args...)...)
	if got.status != 0 {
		t.Fatalf("exit status %d: %s", got.status, got.stderr)
	}
	if err := json.Unmarshal([]byte(got.stdout), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestLeases(t *testing.T) {
	file := filepath.Join(t.TempDir(), "registry.db")
	t.Setenv("SNOW_DSN", file)
	want := func(status int, output, line string) {
		t.Helper()
		got := execute(t, strings.Fields(line)...)
		if got.status != status || !strings.Contains(got.stdout+got.stderr, output) {
			t.Fatalf("snow %s: exit status %d, stdout %q, stderr %q; want %d and %q", line, got.status, got.stdout, got.stderr, status, output)
		}
	}
	want(1, "no such file", "workers")
	want(0, "the tables are there", "migrate")
	want(0, "the tables are there", "migrate")
	want(0, "There is no namespace", "workers")
	want(0, "[]", "workers -json")
	want(1, `"snow init" makes a namespace`, "workers -namespace shop")
	want(1, `"snow init" makes a namespace`, "fence -namespace shop -yes")
	want(0, "with 4 worker numbers and layout 41+5+5+12+0", "init -namespace shop -layout twitter -workers 4")
	want(0, "with 4 worker numbers", "init -namespace shop -layout twitter -workers 4")
	want(1, "its workers is 4, not 5", "init -namespace shop -layout twitter -workers 5")
	want(2, "Workers 33", "init -namespace other -layout twitter -workers 33")
	want(0, "shop       4        10m0s   30s", "workers")

	if c := workersOf(t).Count; c["free"] != 4 || c["held"] != 0 {
		t.Fatalf("before the first lease: %v", c)
	}
	db, d, err := database.Open(t.Context(), "--dsn", file, "", database.Existing, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	lease, err := sqlsnow.Acquire(t.Context(), db, d, sqlsnow.LeaseConfig{Namespace: "shop", Holder: "shop-\x1b[2J1", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lease.Close(context.WithoutCancel(t.Context())) })
	s := workersOf(t)
	if len(s.Workers) != 1 || s.Workers[0].State != "held" || s.Workers[0].Worker != lease.Stats().Worker || s.Workers[0].Fence != 1 {
		t.Fatalf("with a lease: %+v", s)
	}
	if got := execute(t, "workers", "-namespace", "shop"); !strings.Contains(got.stdout, "shop-?[2J1") || strings.Contains(got.stdout, "\x1b") {
		t.Errorf("the holder can write to the terminal: %q", got.stdout)
	}
	if all := workersOf(t, "-all").Workers; len(all) != 4 {
		t.Errorf("-all shows %d numbers, want 4", len(all))
	}

	// An id that the command makes with a lease is made by a number that it gives back.
	got := execute(t, "id", "new", "-namespace", "shop")
	if got.status != 0 {
		t.Fatal(got.stderr)
	}
	if c := workersOf(t).Count; c["held"] != 1 {
		t.Errorf("id new kept its number: %v", c)
	}
	shown := execute(t, "id", "show", "-json", "-namespace", "shop", strings.TrimSpace(got.stdout))
	if !strings.Contains(shown.stdout, `"name": "shop"`) || !strings.Contains(shown.stdout, `"holder": "`) {
		t.Errorf("the id: %s%s", shown.stdout, shown.stderr)
	}

	want(0, "nothing was changed; 4 worker numbers would be fenced", "fence -namespace shop -dry-run")
	want(4, "--yes confirms", "fence -namespace shop")
	if got := executeWith(t, "no\n", "fence", "-namespace", "shop"); got.status != 4 {
		t.Errorf("the answer no: %+v", got)
	}
	if c := workersOf(t).Count; c["cooling"] != 0 {
		t.Fatalf("the namespace is fenced without a confirmation: %v", c)
	}
	if got := executeWith(t, "yes\n", "fence", "-namespace", "shop"); got.status != 0 || !strings.Contains(got.stdout, "fenced; new processes wait until") {
		t.Fatalf("%+v", got)
	}
	if c := workersOf(t).Count; c["cooling"] != 3 || c["held"] != 1 {
		t.Errorf("after the fence: %v", c)
	}
}

// A server that a merge has made is the namespace that programs make with the defaults, and the other way round.
func TestDefaultsOfNamespaces(t *testing.T) {
	t.Setenv("SNOW_DSN", filepath.Join(t.TempDir(), "registry.db"))
	for _, line := range []string{
		"merge namespace -dialect sqlite -target env:SNOW_DSN -namespace merged", "init -namespace merged",
		"init -namespace own", "merge namespace -dialect sqlite -target env:SNOW_DSN -namespace own",
	} {
		if got := execute(t, strings.Fields(line)...); got.status != 0 {
			t.Errorf("snow %s: %s", line, got.stderr)
		}
	}
	// A layout with a million numbers has no default for how many are leased.
	for line, status := range map[string]int{
		"init -namespace game -layout gameservers": 2,
		"merge namespace -dialect sqlite -target env:SNOW_DSN -namespace game -layout 35+0+20+8+0/100ms@2024-01-01T00:00:00Z": 2,
		"init -namespace game -layout gameservers -workers 5000":                                                              0,
	} {
		got := execute(t, strings.Fields(line)...)
		if got.status != status || (status != 0) != strings.Contains(got.stderr, "Workers 0: the layout has 1048576: say how many") {
			t.Errorf("snow %s: exit status %d: %s", line, got.status, got.stderr)
		}
	}
}

func TestWatchEndsWithTheContext(t *testing.T) {
	t.Setenv("SNOW_DSN", filepath.Join(t.TempDir(), "registry.db"))
	for _, line := range []string{"migrate", "init -namespace shop -workers 2"} {
		if got := execute(t, strings.Fields(line)...); got.status != 0 {
			t.Fatal(got.stderr)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &untilThird{cancel: cancel}
	a := &app{Streams: Streams{In: strings.NewReader(""), Out: out, Err: out}, now: time.Now}
	if status := run(ctx, strings.Fields("workers -namespace shop -watch -every 1ms -json"), a); status != 0 || out.documents < 3 {
		t.Errorf("exit status %d after %d documents", status, out.documents)
	}
}

// untilThird cancels after the third JSON document. Each is one line.
type untilThird struct {
	documents int
	cancel    context.CancelFunc
}

func (u *untilThird) Write(b []byte) (int, error) {
	if !json.Valid(b) || strings.Count(string(b), "\n") != 1 {
		u.documents = -1 << 20
	}
	if u.documents++; u.documents == 3 {
		u.cancel()
	}
	return len(b), nil
}
