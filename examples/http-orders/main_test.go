//go:build unix

package main

import (
	"bufio"
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/opaque"
	"github.com/shardsnow/snow/sqlsnow"
)

// TestMain lets the test program start itself as an instance of the service.
func TestMain(m *testing.M) {
	if os.Getenv("HTTP_ORDERS_INSTANCE") == "1" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const databases = 2 // the default

// An instance is a process that serves.
type instance struct {
	cmd    *exec.Cmd
	url    string
	worker uint64
	stderr bytes.Buffer
	waited atomic.Bool
}

// startAll starts n instances at the same time and returns when they serve.
func startAll(t *testing.T, dir string, n int) []*instance {
	t.Helper()
	all, errs := make([]*instance, n), make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { all[i], errs[i] = start(t, dir) })
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			t.Fatalf("instance %d: %v", i, err)
		}
	}
	return all
}

func start(t *testing.T, dir string) (*instance, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &instance{cmd: exec.CommandContext(t.Context(), program, "-dir", dir, "-addr", "127.0.0.1:0", "-drain", "0s")}
	p.cmd.Env, p.cmd.Stderr = append(os.Environ(), "HTTP_ORDERS_INSTANCE=1"), &p.stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	t.Cleanup(func() {
		if !p.waited.Load() {
			_ = p.cmd.Process.Kill()
			_ = p.cmd.Wait()
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err == nil {
		_, err = fmt.Sscanf(line, "%s worker %d\n", &p.url, &p.worker)
	}
	if err != nil {
		return nil, fmt.Errorf("it printed %q: %w: %s", line, err, p.end(os.Kill))
	}
	return p, nil
}

// end sends a signal, waits until the process has ended, and returns what it
// wrote to its standard error.
func (p *instance) end(s os.Signal) string {
	if p.waited.Swap(true) {
		return ""
	}
	_ = p.cmd.Process.Signal(s)
	_ = p.cmd.Wait() // ProcessState has how it ended
	return p.stderr.String()
}

// A client sends requests, each to an instance, and to the next one if it gets no answer.
type client struct {
	http.Client
	instances []*instance
	orders    *opaque.Codec // of the keys that the instances made
}

// post sends an order until it is stored, and returns the answer and its status.
func (c *client) post(t *testing.T, first int, key, buyer, item string) (o orderView, status int, err error) {
	body, err := json.Marshal(map[string]string{"buyer": buyer, "item": item})
	if err != nil {
		return o, 0, err
	}
	for try := range 20 {
		url := c.instances[(first+try)%len(c.instances)].url
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/orders", bytes.NewReader(body))
		if err != nil {
			return o, 0, err
		}
		r.Header.Set("Idempotency-Key", key)
		answer, err := c.Do(r)
		if err != nil {
			continue // the instance is gone, or its answer
		}
		err = json.NewDecoder(answer.Body).Decode(&o)
		_ = answer.Body.Close()
		if err == nil && (answer.StatusCode == http.StatusCreated || answer.StatusCode == http.StatusOK) {
			return o, answer.StatusCode, nil
		}
	}
	return o, 0, fmt.Errorf("order %s was not stored in 20 tries", key)
}

// get reads a page or an order from the last instance.
func (c *client) get(t *testing.T, path string, into any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.instances[len(c.instances)-1].url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(into); err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: status %d, %v", path, answer.StatusCode, err)
	}
}

// key returns the key that an order has in its database.
func (c *client) key(t *testing.T, o orderView) snow.ID {
	t.Helper()
	id, err := c.orders.Decode(o.ID)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// Two instances start at the same time on databases that do not exist. One is
// killed while clients send orders. Each order is stored once, whatever was lost.
func TestOneInstanceIsKilled(t *testing.T) {
	const clients, each, killedAfter = 4, 50, 60
	dir := t.TempDir()
	c := &client{Client: http.Client{Timeout: 20 * time.Second}, instances: startAll(t, dir, 2)}
	var err error
	if c.orders, err = openKeys(filepath.Join(dir, "opaque.keys"), false); err != nil {
		t.Fatal(err)
	}
	victim, survivor := c.instances[0], c.instances[1]
	if victim.worker == survivor.worker {
		t.Fatalf("both instances have the worker number %d", victim.worker)
	}

	var answers atomic.Int64
	var mu sync.Mutex
	stored := make(map[opaque.ID]orderView)
	var wg sync.WaitGroup
	for n := range clients {
		wg.Go(func() {
			for i := range each {
				key, buyer, item := fmt.Sprintf("%d-%d", n, i), fmt.Sprintf("buyer %d", (n*each+i)%17), fmt.Sprintf("item %d of client %d", i, n)
				o, _, err := c.post(t, n+i, key, buyer, item)
				if err != nil {
					t.Error(err)
					return
				}
				if o.Buyer != buyer || o.Item != item {
					t.Errorf("request %s: the answer is %+v", key, o)
				}
				if answers.Add(1) == killedAfter {
					victim.end(syscall.SIGKILL)
				}
				// A client that lost the answer sends the request again.
				again, status, err := c.post(t, n+i, key, buyer, item)
				if err != nil || again.ID != o.ID || status != http.StatusOK {
					t.Errorf("request %s, sent again: order %s, status %d, %v, want order %s", key, again.ID, status, err, o.ID)
				}
				mu.Lock()
				stored[o.ID] = o
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	if len(stored) != clients*each {
		t.Errorf("%d requests have %d different keys", clients*each, len(stored))
	}
	wantPages(t, c, stored)
	wantOrigins(t, c, stored, victim.worker, survivor.worker)

	// The survivor stops as in a rolling restart, and gives its number back. The victim's
	// number is still leased, so its successor gets another one.
	if log := survivor.end(syscall.SIGTERM); !survivor.cmd.ProcessState.Success() {
		t.Errorf("after SIGTERM: %v: %s", survivor.cmd.ProcessState, log)
	}
	states := workers(t, dir)
	if states[victim.worker] != sqlsnow.Granted || states[survivor.worker] != sqlsnow.Free {
		t.Errorf("the killed instance's number is %v, that of the stopped one %v", states[victim.worker], states[survivor.worker])
	}
	if heir := startAll(t, dir, 1)[0]; heir.worker == victim.worker {
		t.Errorf("the new instance has the number %d of the one that was killed", heir.worker)
	}
}

// wantPages reads all orders in pages, the orders of each buyer in pages, and each order by its key.
func wantPages(t *testing.T, c *client, stored map[opaque.ID]orderView) {
	t.Helper()
	read := func(query string) (all []orderView) {
		for after := ""; ; {
			var page struct {
				Orders []orderView
				Next   opaque.ID
			}
			c.get(t, "/orders?limit=30&after="+after+query, &page)
			if all, after = append(all, page.Orders...), page.Next.Text(); after == "" {
				return all
			}
		}
	}
	ascends := func(a, b orderView) int { return int(c.key(t, a) - c.key(t, b)) }
	all := read("")
	if len(all) != len(stored) || !slices.IsSortedFunc(all, ascends) {
		t.Errorf("the pages have %d orders, ascending %t, want %d", len(all), slices.IsSortedFunc(all, ascends), len(stored))
	}
	buyers := make(map[string]int)
	for _, o := range all {
		if want := stored[o.ID]; o.Buyer != want.Buyer || o.Item != want.Item {
			t.Errorf("a page has %+v, want %+v", o, want)
		}
		var one orderView
		if c.get(t, "/orders/"+o.ID.Text(), &one); one.Item != o.Item {
			t.Errorf("order %s is %+v", o.ID, one)
		}
		buyers[o.Buyer]++
	}
	for buyer, n := range buyers {
		if of := read("&buyer=" + strings.ReplaceAll(buyer, " ", "+")); len(of) != n || !slices.IsSortedFunc(of, ascends) {
			t.Errorf("%s has %d orders, want %d", buyer, len(of), n)
		}
	}
}

// wantOrigins checks that both instances made keys, for both databases.
func wantOrigins(t *testing.T, c *client, stored map[opaque.ID]orderView, want ...uint64) {
	t.Helper()
	bits, err := layout()
	if err != nil {
		t.Fatal(err)
	}
	origins := make(map[string]int)
	for _, o := range stored {
		id := c.key(t, o)
		p, err := bits.Decompose(id)
		if err != nil || p.Shard != snow.HashShard(o.Buyer)%16 {
			t.Errorf("order %d of %s: %+v, %v", id, o.Buyer, p, err)
		}
		origins[fmt.Sprintf("worker %d, database %d", p.Worker, p.Shard%databases)]++
	}
	if len(origins) != len(want)*databases {
		t.Errorf("keys of %v, want those of workers %v in %d databases", origins, want, databases)
	}
}

// workers returns the states of the worker numbers.
func workers(t *testing.T, dir string) map[uint64]sqlsnow.WorkerState {
	t.Helper()
	db, err := sql.Open("sqlite3", dsn(dir, "registry"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	all, err := sqlsnow.Workers(t.Context(), db, sqlsnow.SQLite, "shop")
	if err != nil {
		t.Fatal(err)
	}
	states := make(map[uint64]sqlsnow.WorkerState)
	for _, w := range all {
		states[w.Worker] = w.State
	}
	return states
}
