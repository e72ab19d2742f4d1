package command

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shardsnow/snow"
)

// An instance is a run of snow serve.
type instance struct {
	url  string
	stop context.CancelFunc
	end  <-chan int // the exit status

	mu     sync.Mutex
	stderr strings.Builder
}

// Write collects what the service logs.
func (s *instance) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stderr.Write(b)
}

func (s *instance) log() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stderr.String()
}

// serve starts snow serve and returns when it answers requests.
func serve(t *testing.T, args ...string) *instance {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	read, write := io.Pipe()
	end := make(chan int, 1)
	s := &instance{stop: stop, end: end}
	a := &app{Streams: Streams{In: strings.NewReader(""), Out: write, Err: s}, now: time.Now}
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		end <- run(ctx, append([]string{"serve", "-json", "-listen", "127.0.0.1:0"}, args...), a)
		_ = write.Close()
	}()
	t.Cleanup(func() {
		stop()
		<-finished
	})
	var ready listening
	if err := json.NewDecoder(read).Decode(&ready); err != nil {
		t.Fatalf("the service does not begin: %v: %s", err, s.log())
	}
	go func() { _, _ = io.Copy(io.Discard, read) }()
	s.url = ready.URL
	return s
}

// ask sends a request and returns the status and the body.
func (s *instance) ask(t *testing.T, method, path, token string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	b, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(b)
}

// newRegistry makes a database with a namespace shop, for $SNOW_DSN.
func newRegistry(t *testing.T) {
	t.Helper()
	t.Setenv("SNOW_DSN", filepath.Join(t.TempDir(), "registry.db"))
	for _, line := range []string{"migrate", "init -namespace shop -workers 4"} {
		if got := execute(t, strings.Fields(line)...); got.status != 0 {
			t.Fatal(got.stderr)
		}
	}
}

// Two instances give different ids, and give their numbers back when they end.
func TestServe(t *testing.T) {
	newRegistry(t)
	first, second := serve(t, "-namespace", "shop"), serve(t, "-namespace", "shop")
	if c := workersOf(t).Count; c["held"] != 2 {
		t.Errorf("two services hold numbers: %v", c)
	}
	seen := make(map[string]bool)
	for _, s := range []*instance{first, second} {
		status, body := s.ask(t, "POST", "/v1/ids?count=500", "")
		var answer struct{ IDs []string }
		if err := json.Unmarshal([]byte(body), &answer); err != nil || status != 200 || len(answer.IDs) != 500 {
			t.Fatalf("%d, %d ids, %v", status, len(answer.IDs), err)
		}
		for _, id := range answer.IDs {
			if seen[id] {
				t.Fatalf("id %s is there twice", id)
			}
			seen[id] = true
		}
		if status, body := s.ask(t, "GET", "/v1/ids/"+answer.IDs[0], ""); status != 200 || !strings.Contains(body, `"layout":"41+0+10+12+0`) {
			t.Errorf("%d: %s", status, body)
		}
		if status, _ := s.ask(t, "GET", "/readyz", ""); status != 200 {
			t.Errorf("ready: %d", status)
		}
	}
	for _, s := range []*instance{first, second} {
		s.stop()
		if status := <-s.end; status != 0 {
			t.Errorf("exit status %d: %s", status, s.log())
		}
	}
	if c := workersOf(t).Count; c["held"] != 0 || c["late"] != 0 {
		t.Errorf("after the end: %v", c)
	}
}

// With --one-lane the ids of an instance ascend from request to request, although the layout has lanes.
func TestServeOneLane(t *testing.T) {
	newRegistry(t)
	if got := execute(t, "init", "-namespace", "lanes", "-layout", "clustered", "-workers", "4"); got.status != 0 {
		t.Fatal(got.stderr)
	}
	s := serve(t, "-namespace", "lanes", "-one-lane")
	var last snow.ID
	for range 5 {
		status, body := s.ask(t, "POST", "/v1/ids?count=100", "")
		var answer struct{ IDs []snow.ID }
		if err := json.Unmarshal([]byte(body), &answer); err != nil || status != 200 || len(answer.IDs) != 100 {
			t.Fatalf("%d, %d ids, %v", status, len(answer.IDs), err)
		}
		for _, id := range answer.IDs {
			if id <= last {
				t.Fatalf("id %d after %d", id, last)
			}
			last = id
		}
		if status, body := s.ask(t, "GET", "/v1/ids/"+last.String(), ""); status != 200 || !strings.Contains(body, `"lane":0,`) {
			t.Errorf("%d: %s", status, body)
		}
	}
}

// With two databases the numbers of both are given.
func TestServeSegmentsOfSeveralDatabases(t *testing.T) {
	dir := t.TempDir()
	files := []string{filepath.Join(dir, "a.db"), filepath.Join(dir, "b.db")}
	for _, file := range files {
		if got := execute(t, "migrate", "-dsn", file); got.status != 0 {
			t.Fatal(got.stderr)
		}
	}
	s := serve(t, "-segments", "order", "-dsn", files[0], "-more-dsn", files[1], "-page")
	status, body := s.ask(t, "POST", "/v1/ids?count=5000", "")
	var answer struct{ IDs []snow.ID }
	if err := json.Unmarshal([]byte(body), &answer); err != nil || status != 200 {
		t.Fatalf("%d, %v", status, err)
	}
	seen, even := make(map[snow.ID]bool), 0
	for _, id := range answer.IDs {
		if id%2 == 0 {
			even++
		}
		seen[id] = true
	}
	if len(seen) != 5000 || even == 0 || even == 5000 {
		t.Errorf("%d different numbers, %d of them even", len(seen), even)
	}
	if status, body := s.ask(t, "GET", "/page/", ""); status != 200 || !strings.Contains(body, "database 2 of 2") {
		t.Errorf("%d: %s", status, body)
	}
	if status, _ := s.ask(t, "GET", "/readyz", ""); status != 200 {
		t.Errorf("ready: %d", status)
	}
	for args, want := range map[string]string{
		"-namespace shop -more-dsn b.db":    "--more-dsn is for --segments",
		"-segments order -more-dsn env:NIX": "--more-dsn: the environment has no NIX",
	} {
		got := execute(t, append([]string{"serve", "-dsn", files[0]}, strings.Fields(args)...)...)
		if got.status != 2 || !strings.Contains(got.stderr, want) {
			t.Errorf("%s: exit status %d, stderr %q", args, got.status, got.stderr)
		}
	}
	t.Setenv("SERVER", "postgres://root@127.0.0.1:1/shop")
	got := execute(t, "serve", "-segments", "order", "-dsn", files[0], "-more-dsn", "env:SERVER")
	if got.status != 2 || !strings.Contains(got.stderr, "all are of one product") {
		t.Errorf("two products: exit status %d, stderr %q", got.status, got.stderr)
	}
}

func TestServePage(t *testing.T) {
	newRegistry(t)
	s := serve(t, "-namespace", "shop", "-page", "-host", "snow.example.org")
	for host, want := range map[string]int{"evil.example.org": 421, "snow.example.org": 200} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/page/", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("host %s: %d, want %d", host, response.StatusCode, want)
		}
	}
	if status, body := s.ask(t, "GET", "/page/", ""); status != 200 || !strings.Contains(body, `data-count="held"><b>1</b>`) {
		t.Errorf("%d: %s", status, body)
	}
	if status, _ := serve(t, "-namespace", "shop").ask(t, "GET", "/page/", ""); status != 404 {
		t.Errorf("without -page: %d", status)
	}
}

func TestServeMetrics(t *testing.T) {
	newRegistry(t)
	for args, want := range map[string][]string{
		"-namespace shop":  {`snow_ids_issued_total{source="shop"} 3`, `snow_lease_info{datacenter="0",source="shop",worker="`, "go_goroutines"},
		"-segments orders": {`snow_segments_issued_total{source="orders"} 3`, "go_goroutines"},
	} {
		s := serve(t, append(strings.Fields(args), "-metrics")...)
		if status, _ := s.ask(t, "POST", "/v1/ids?count=3", ""); status != 200 {
			t.Errorf("%s: %d", args, status)
		}
		status, body := s.ask(t, "GET", "/metrics", "")
		for _, w := range want {
			if status != 200 || !strings.Contains(body, w) {
				t.Errorf("%s: %d, and no %s in %s", args, status, w, body)
			}
		}
	}
	if status, _ := serve(t, "-namespace", "shop").ask(t, "GET", "/metrics", ""); status != 404 {
		t.Errorf("without -metrics: %d", status)
	}
}

// A service that is ending still answers, and says that it is not ready.
func TestServeDrains(t *testing.T) {
	newRegistry(t)
	s := serve(t, "-namespace", "shop", "-drain", "1s")
	s.stop()
	for { // until the signal has arrived; at the latest, the connection is refused
		status, _ := s.ask(t, "GET", "/readyz", "")
		if status == http.StatusServiceUnavailable {
			break
		}
	}
	if status, _ := s.ask(t, "POST", "/v1/ids", ""); status != 200 {
		t.Errorf("while draining: %d", status)
	}
	if status := <-s.end; status != 0 {
		t.Errorf("exit status %d: %s", status, s.log())
	}
}

func TestServeSegmentsWithTokens(t *testing.T) {
	newRegistry(t)
	const token = "geheim-0123456789"
	file := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(file, []byte("\n"+token+"\nanother-geheim-0123456789\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serve(t, "-segments", "orders", "-token", "@"+file, "-max-ids", "10", "-rate", "0.001")
	if status, _ := s.ask(t, "POST", "/v1/ids", ""); status != 401 {
		t.Errorf("without a token: %d", status)
	}
	if status, body := s.ask(t, "POST", "/v1/ids?count=3", token); status != 200 || body != `{"ids":["1","2","3"]}`+"\n" {
		t.Errorf("%d: %s", status, body)
	}
	if status, _ := s.ask(t, "GET", "/v1/ids/1", token); status != 404 {
		t.Errorf("dense numbers have parts: %d", status)
	}
	if status, _ := s.ask(t, "POST", "/v1/ids?count=11", token); status != 400 {
		t.Errorf("more than -max-ids: %d", status)
	}
	if status, _ := s.ask(t, "POST", "/v1/ids?count=8", token); status != 429 {
		t.Errorf("more than -rate: %d", status)
	}
	s.stop()
	if status := <-s.end; status != 0 || strings.Contains(s.log(), "geheim") {
		t.Errorf("exit status %d: %s", status, s.log())
	}
}

func TestServeFlags(t *testing.T) {
	t.Setenv("SHORT", "geheim")
	newRegistry(t)
	for _, tt := range []struct {
		args   string
		status int
		output string
	}{
		{"", 2, "want either --namespace or --segments"},
		{"-namespace shop -segments orders", 2, "want either --namespace or --segments"},
		{"-segments orders -worker 1", 2, "--worker, --datacenter and --one-lane are for --namespace"},
		{"-namespace shop -listen 0.0.0.0:0", 2, "want --token, or --no-token"},
		{"-namespace shop -listen :0", 2, "want --token, or --no-token"},
		{"-namespace shop -listen 127.0.0.1", 2, "--listen: "},
		{"-namespace shop -token geheim-0123456789", 2, "--token: the list of processes"},
		{"-namespace shop -token env:THERE_IS_NONE", 2, "the environment has no THERE_IS_NONE"},
		{"-namespace shop -token env:SHORT", 2, "Tokens [0] of 6 bytes"},
		{"-namespace shop -token env:SHORT -no-token", 2, "not both"},
		{"-namespace shop -wait 0s", 2, "want more than 0"},
		{"-namespace shop -max-ids 2000000", 2, "MaxIDs 2000000"},
		{"-namespace shop -rate -1", 2, "Rate -1"},
		{"-namespace shop -worker 4", 1, "4"},
		{"-namespace nix", 1, `"snow init" makes a namespace`},
	} {
		t.Run(tt.args, func(t *testing.T) {
			// for flags that are taken although they are wrong
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
			defer cancel()
			var out strings.Builder
			a := &app{Streams: Streams{In: strings.NewReader(""), Out: &out, Err: &out}, now: time.Now}
			status := run(ctx, append([]string{"serve"}, strings.Fields(tt.args)...), a)
			if status != tt.status || !strings.Contains(out.String(), tt.output) || strings.Contains(out.String(), "geheim") {
				t.Errorf("exit status %d: %s", status, out.String())
			}
		})
	}
}
