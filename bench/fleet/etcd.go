package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/version"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/shardsnow/snow/etcdsnow"
	"github.com/shardsnow/snow/sqlsnow"
)

// memberVariable is set in processes that are members of an etcd cluster.
const memberVariable = "SNOW_BENCH_ETCD_MEMBER"

// IsMember reports whether this process is a member of an etcd cluster. Such a process must call Serve.
func IsMember() bool { return os.Getenv(memberVariable) != "" }

// Serve runs the member until its standard input ends, as it does with the process that started it.
func Serve() error {
	var m member
	if err := json.Unmarshal([]byte(os.Getenv(memberVariable)), &m); err != nil {
		return err
	}
	at := func(addr string) []url.URL { return []url.URL{{Scheme: "http", Host: addr}} }
	cfg := embed.NewConfig()
	cfg.Name, cfg.Dir, cfg.InitialCluster, cfg.LogLevel, cfg.LogOutputs = m.Name, m.Dir, m.Cluster, "error", []string{"stderr"}
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls, cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = at(m.Client), at(m.Client), at(m.Peer), at(m.Peer)
	e, err := embed.StartEtcd(cfg)
	if err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	return <-e.Err()
}

// A member is a process of an etcd cluster.
type member struct {
	Name, Dir, Client, Peer, Cluster string

	cmd   *exec.Cmd
	stdin io.WriteCloser
}

func (m *member) start() error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	m.cmd = exec.Command(os.Args[0])
	m.cmd.Env, m.cmd.Stderr = append(os.Environ(), memberVariable+"="+string(text)), os.Stderr
	if m.stdin, err = m.cmd.StdinPipe(); err != nil {
		return err
	}
	return m.cmd.Start()
}

func (m *member) kill() {
	_ = m.cmd.Process.Kill()
	_ = m.cmd.Wait()
}

// An etcdStore is a cluster of three members, and a few clients.
type etcdStore struct {
	members  [3]*member
	clients  [pools]*clientv3.Client
	requests atomic.Int64
	next     atomic.Int64
}

func startEtcd(ctx context.Context, tb testing.TB, opts Options) (store, error) {
	e := &etcdStore{}
	dir, err := os.MkdirTemp("", "fleet-etcd-")
	if err != nil {
		return nil, err
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	var cluster, endpoints []string
	for i := range e.members {
		m := &member{Name: fmt.Sprintf("m%d", i)}
		m.Dir = filepath.Join(dir, m.Name)
		if m.Client, m.Peer, err = freeAddrs(); err != nil {
			return nil, err
		}
		cluster, endpoints = append(cluster, m.Name+"=http://"+m.Peer), append(endpoints, m.Client)
		e.members[i] = m
	}
	for _, m := range e.members {
		m.Cluster = strings.Join(cluster, ",")
		if err := m.start(); err != nil {
			return nil, err
		}
		tb.Cleanup(m.kill)
	}
	count := func(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
		e.requests.Add(1)
		return invoke(ctx, method, request, reply, conn, options...)
	}
	for i := range e.clients {
		e.clients[i], err = clientv3.New(clientv3.Config{
			Endpoints: endpoints, Logger: zap.NewNop(), DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(count)},
		})
		if err != nil {
			return nil, errors.Join(err, e.end())
		}
	}
	ns, err := opts.namespace()
	if err == nil {
		err = etcdsnow.Init(ctx, e.clients[0], "", ns)
	}
	if err != nil {
		return nil, errors.Join(err, e.end())
	}
	return e, nil
}

// freeAddrs returns two addresses that nobody listens at.
func freeAddrs() (a, b string, err error) {
	var all [2]string
	for i := range all {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return "", "", err
		}
		defer l.Close() // both at once, so that they differ
		all[i] = l.Addr().String()
	}
	return all[0], all[1], nil
}

func (e *etcdStore) version() string { return "etcd " + version.Version + ", three members" }

func (e *etcdStore) acquire(ctx context.Context, told func(sqlsnow.LeaseEvent)) (lease, error) {
	return etcdsnow.Acquire(ctx, e.clients[e.next.Add(1)%pools], "", etcdsnow.LeaseConfig{
		Namespace: name, Wait: true, Holder: holder, Logger: slog.New(slog.DiscardHandler),
		OnEvent: func(_ context.Context, event sqlsnow.LeaseEvent) { told(event) },
	})
}

func (e *etcdStore) processor() (time.Duration, error) {
	return processorTimes(e.members[0].cmd.Process.Pid, e.members[1].cmd.Process.Pid, e.members[2].cmd.Process.Pid)
}

func (e *etcdStore) roundTrips() int64 { return e.requests.Load() }

func (e *etcdStore) kill(testing.TB) {
	for _, m := range e.members {
		m.kill()
	}
}

func (e *etcdStore) restart(testing.TB) error {
	for _, m := range e.members {
		if err := m.start(); err != nil {
			return err
		}
	}
	_, err := e.clients[0].Get(context.Background(), "ready")
	for errors.Is(err, context.DeadlineExceeded) || err != nil && e.clients[0].Ctx().Err() == nil {
		_, err = e.clients[0].Get(context.Background(), "ready")
	}
	return err
}

func (e *etcdStore) end() error {
	var errs []error
	for _, c := range e.clients {
		if c != nil {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}

func (e *etcdStore) close() { _ = e.end() }
