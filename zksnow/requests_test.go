//go:build linux

package zksnow

import (
	"maps"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/testkit/zkserver"
)

// counting counts requests by their kind.
type counting struct {
	client
	counts chan map[string]int
}

func (c *counting) add(kind string) {
	counts := <-c.counts
	counts[kind]++
	c.counts <- counts
}

// since returns what was counted since the last call.
func (c *counting) since() map[string]int {
	counts := <-c.counts
	c.counts <- map[string]int{}
	return counts
}

func (c *counting) Children(path string) ([]string, *zk.Stat, error) {
	c.add("read")
	return c.client.Children(path)
}

func (c *counting) Exists(path string) (bool, *zk.Stat, error) {
	c.add("read")
	return c.client.Exists(path)
}

func (c *counting) Get(path string) ([]byte, *zk.Stat, error) {
	c.add("read")
	return c.client.Get(path)
}

func (c *counting) GetACL(path string) ([]zk.ACL, *zk.Stat, error) {
	c.add("read")
	return c.client.GetACL(path)
}

func (c *counting) Set(path string, data []byte, version int32) (*zk.Stat, error) {
	c.add("write of " + path[strings.LastIndexByte(path, '/')+1:])
	return c.client.Set(path, data, version)
}

func (c *counting) Multi(ops ...any) ([]zk.MultiResponse, error) {
	c.add("transaction")
	return c.client.Multi(ops...)
}

// TestRequests counts what docs/leases.md says of the cost.
func TestRequests(t *testing.T) {
	server := zkserver.Start(t, 1)
	conn := dial(t, server.Addrs()...)
	ns := Namespace{Name: "shop", Layout: snow.DefaultLayout()}
	if err := Init(t.Context(), conn, "/requests", ns); err != nil {
		t.Fatal(err)
	}
	c := &counting{client: conn, counts: make(chan map[string]int, 1)}
	c.counts <- map[string]int{}
	_, l := acquireOn(t, c, "/requests")
	// Reads of the namespace, twice, of the list of numbers, of 64 rows and of the root's ACL.
	if got, want := c.since(), map[string]int{"read": 68, "write of clock": 6, "transaction": 1}; !maps.Equal(got, want) {
		t.Errorf("Acquire: got %v, want %v", got, want)
	}
	if err := l.Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := c.since(), map[string]int{"write of clock": 1, "transaction": 1}; !maps.Equal(got, want) {
		t.Errorf("Renew: got %v, want %v", got, want)
	}
	if err := l.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := c.since(), map[string]int{"write of clock": 1, "transaction": 1}; !maps.Equal(got, want) {
		t.Errorf("Close: got %v, want %v", got, want)
	}
}
