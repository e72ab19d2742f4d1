package command

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/shardsnow/snow/cmd/snow/internal/database"
	"github.com/shardsnow/snow/etcdsnow"
	"github.com/shardsnow/snow/lease"
)

// An etcdCluster keeps worker numbers in etcd. Each call has its own deadline, because etcd does not answer without a
// majority.
type etcdCluster struct {
	client  *clientv3.Client
	prefix  string
	timeout time.Duration
}

func openEtcd(c *database.Cluster, timeout time.Duration) (numberStore, error) {
	cfg := clientv3.Config{
		Endpoints: c.Addrs, Username: c.User, Password: c.Password, DialTimeout: timeout,
		DialKeepAliveTime: 10 * time.Second, DialKeepAliveTimeout: 5 * time.Second, Logger: zap.NewNop(),
	}
	if c.TLS {
		cfg.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
		if c.CA != "" {
			text, err := os.ReadFile(c.CA)
			if err != nil {
				return nil, fmt.Errorf("ca: %w", err)
			}
			cfg.TLS.RootCAs = x509.NewCertPool()
			if !cfg.TLS.RootCAs.AppendCertsFromPEM(text) {
				return nil, fmt.Errorf("ca: %q has no certificate as PEM", c.CA)
			}
		}
		if c.Cert != "" {
			pair, err := tls.LoadX509KeyPair(c.Cert, c.Key)
			if err != nil {
				return nil, fmt.Errorf("cert: %w", err)
			}
			cfg.TLS.Certificates = []tls.Certificate{pair}
		}
	}
	client, err := clientv3.New(cfg)
	if err != nil {
		return nil, fmt.Errorf("the cluster does not answer: %w", err)
	}
	return &etcdCluster{client, c.Path, timeout}, nil
}

func (e *etcdCluster) product() string { return "etcd" }

func (e *etcdCluster) init(ctx context.Context, ns lease.Namespace) error {
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	return etcdsnow.Init(ctx, e.client, e.prefix, ns)
}

// Namespaces implements service.Numbers.
func (e *etcdCluster) Namespaces(ctx context.Context, names ...string) ([]lease.Namespace, error) {
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	return etcdsnow.Namespaces(ctx, e.client, e.prefix, names...)
}

// clock returns this process's clock: etcd has none.
func (e *etcdCluster) clock(context.Context) (time.Time, error) { return time.Now(), nil }

func (e *etcdCluster) workers(ctx context.Context, namespace string) ([]lease.WorkerInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	return etcdsnow.Workers(ctx, e.client, e.prefix, namespace)
}

func (e *etcdCluster) fence(ctx context.Context, namespace string) error {
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	return etcdsnow.Fence(ctx, e.client, e.prefix, namespace)
}

// Acquire implements service.Numbers. Its caller bounds ctx.
func (e *etcdCluster) Acquire(ctx context.Context, cfg lease.Config) (*lease.Lease, error) {
	return etcdsnow.Acquire(ctx, e.client, e.prefix, cfg)
}

// Close ends the connections.
func (e *etcdCluster) Close() error { return e.client.Close() }
