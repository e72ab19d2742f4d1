//go:build unix

package etcdtest

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/etcdutl/v3/snapshot"
	"go.uber.org/zap"

	"github.com/shardsnow/snow/internal/testkit/leasefaults"
)

// A Cluster is three members, and a client of theirs. Clients reach each member through a proxy. The cluster lives as long
// as the test.
type Cluster struct {
	*testing.T
	Members []*Member
	Proxies []*leasefaults.Proxy // between clients and each member
	Client  *clientv3.Client     // past the proxies

	network  *network
	dir      string
	epoch    int // how often a snapshot was put back
	replaced int // how often a member was replaced
}

// Start starts a cluster and waits until it answers.
func Start(t *testing.T) *Cluster {
	t.Helper()
	c := &Cluster{T: t, dir: t.TempDir(), network: &network{links: map[*link]bool{}}}
	var all []string
	for i := range 3 {
		m := &Member{}
		m.Name, m.Client, m.Peer = fmt.Sprintf("m%d", i), free(t), free(t)
		m.Public = c.network.listen(t, m.Name, m.Peer)
		all = append(all, m.Name+"=http://"+m.Public)
		c.Members = append(c.Members, m)
		c.Proxies = append(c.Proxies, leasefaults.NewProxy(t, m.Client))
	}
	var endpoints []string
	for _, m := range c.Members {
		m.Cluster, m.Token, m.Dir = strings.Join(all, ","), "snow-0", filepath.Join(c.dir, m.Name+"-0")
		m.spawn(t)
		endpoints = append(endpoints, m.Client)
	}
	t.Cleanup(func() {
		for _, m := range c.Members {
			m.end(t)
		}
	})
	var err error
	if c.Client, err = clientv3.New(clientv3.Config{Endpoints: endpoints, Logger: zap.NewNop()}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Client.Close() })
	c.Await()
	c.introduce()
	c.Await()
	return c
}

// free returns an address that nothing listens at.
func free(tb testing.TB) string {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// attempt bounds one attempt of a test to reach the cluster. There is always another one.
const attempt = 5 * time.Second

// Await waits until the cluster confirms writes.
func (c *Cluster) Await() {
	c.Helper()
	for {
		ctx, cancel := context.WithTimeout(c.Context(), attempt)
		_, err := c.Client.Put(ctx, "await", "")
		cancel()
		if err == nil {
			return
		}
		for _, m := range c.Members {
			select {
			case <-m.exited:
				c.Logf("member %s is gone: %s", m.Name, &m.errors)
			default:
			}
		}
		if c.Context().Err() != nil {
			c.Fatal(err)
		}
	}
}

// introduce tells the network who is who.
func (c *Cluster) introduce() {
	c.Helper()
	list, err := c.Client.MemberList(c.Context())
	if err != nil {
		c.Fatal(err)
	}
	names := map[string]string{}
	for _, m := range list.Members {
		names[fmt.Sprintf("%x", m.ID)] = m.Name
	}
	c.network.know(names)
}

// Leader returns the member that leads, as soon as one does.
func (c *Cluster) Leader() *Member {
	c.Helper()
	for {
		for _, m := range c.Members {
			ctx, cancel := context.WithTimeout(c.Context(), attempt)
			s, err := c.Client.Status(ctx, m.Client)
			cancel()
			if err == nil && s.Leader != 0 && s.Leader == s.Header.MemberId {
				return m
			}
		}
		if err := c.Context().Err(); err != nil {
			c.Fatal(err)
		}
	}
}

// Isolate cuts a member off from the others. Clients still reach it.
func (c *Cluster) Isolate(m *Member) { c.network.isolate(m.Name) }

// Heal undoes Isolate.
func (c *Cluster) Heal() { c.network.isolate("") }

// Snapshot saves a snapshot, for Restore.
func (c *Cluster) Snapshot() (path string) {
	c.Helper()
	path = filepath.Join(c.dir, fmt.Sprintf("snapshot-%d", c.epoch))
	cfg := clientv3.Config{Endpoints: []string{c.Leader().Client}, Logger: zap.NewNop()}
	if _, err := snapshot.NewV3(zap.NewNop()).Save(c.Context(), cfg, path); err != nil {
		c.Fatal(err)
	}
	return path
}

// Restore ends all members, and starts them with a snapshot, as an operator does after a disaster.
func (c *Cluster) Restore(path string) {
	c.Helper()
	c.epoch++
	for _, m := range c.Members {
		m.Kill(c)
	}
	for _, m := range c.Members {
		m.Token, m.Dir = fmt.Sprintf("snow-%d", c.epoch), filepath.Join(c.dir, fmt.Sprintf("%s-%d", m.Name, c.epoch))
		m.Existing = false
		err := snapshot.NewV3(zap.NewNop()).Restore(snapshot.RestoreConfig{
			SnapshotPath: path, Name: m.Name, OutputDataDir: m.Dir, PeerURLs: []string{"http://" + m.Public}, InitialCluster: m.Cluster, InitialClusterToken: m.Token,
		})
		if err != nil {
			c.Fatal(err)
		}
		m.spawn(c)
	}
	c.Await()
	c.introduce()
	c.Await()
}

// DSN returns what Open takes: the addresses of the proxies.
func (c *Cluster) DSN() string {
	var all []string
	for _, p := range c.Proxies {
		all = append(all, p.Addr())
	}
	return strings.Join(all, ",")
}

// Addrs returns where clients reach the members.
func (c *Cluster) Addrs() []string {
	var all []string
	for _, m := range c.Members {
		all = append(all, m.Client)
	}
	return all
}

// KillLeader kills the leader, until end.
func (c *Cluster) KillLeader(tb testing.TB) (end func()) {
	tb.Helper()
	m := c.Leader()
	m.Kill(tb)
	return func() { m.Restart(tb) }
}

// StopLeader stops the leader, until end. It then believes for a moment that it still leads.
func (c *Cluster) StopLeader(tb testing.TB) (end func()) {
	tb.Helper()
	m := c.Leader()
	m.Stop(tb)
	return func() { m.Resume(tb) }
}

// LoseQuorum kills two of the three members, until end.
func (c *Cluster) LoseQuorum(tb testing.TB) (end func()) {
	tb.Helper()
	for _, m := range c.Members[:2] {
		m.Kill(tb)
	}
	return func() {
		for _, m := range c.Members[:2] {
			m.Restart(tb)
		}
		c.Await()
	}
}

// RestoreCopy saves a snapshot, which end restores.
func (c *Cluster) RestoreCopy(tb testing.TB) (end func()) {
	tb.Helper()
	path := c.Snapshot()
	return func() { c.Restore(path) }
}

// LoseMember kills a follower. end replaces it by a new member without data, as an operator does after a disk is lost.
func (c *Cluster) LoseMember(tb testing.TB) (end func()) {
	tb.Helper()
	leader := c.Leader()
	i := slices.IndexFunc(c.Members, func(m *Member) bool { return m != leader })
	m := c.Members[i]
	m.Kill(tb)
	return func() {
		c.repeat(func(ctx context.Context) error {
			list, err := c.Client.MemberList(ctx)
			if err != nil {
				return err
			}
			for _, old := range list.Members {
				if slices.Contains(old.PeerURLs, "http://"+m.Public) {
					if _, err := c.Client.MemberRemove(ctx, old.ID); err != nil {
						return err
					}
				}
			}
			_, err = c.Client.MemberAdd(ctx, []string{"http://" + m.Public})
			return err
		})
		c.replaced++
		m.Dir, m.Existing = filepath.Join(c.dir, fmt.Sprintf("%s-new-%d", m.Name, c.replaced)), true
		m.spawn(tb)
		c.Await()
	}
}

// repeat calls do until it succeeds.
func (c *Cluster) repeat(do func(ctx context.Context) error) {
	c.Helper()
	for {
		ctx, cancel := context.WithTimeout(c.Context(), attempt)
		err := do(ctx)
		cancel()
		if err == nil {
			return
		}
		if c.Context().Err() != nil {
			c.Fatal(err)
		}
	}
}
