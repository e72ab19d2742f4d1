//go:build unix

package etcdtest

import (
	"context"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/shardsnow/snow/etcdsnow"
	"github.com/shardsnow/snow/internal/testkit/leasefaults"
)

// Open is the leasefaults.Opener of the clusters of this package. dsn is addresses of members, with commas in between.
func Open(dsn string) (leasefaults.Acquirer, error) {
	client, err := clientv3.New(clientv3.Config{Endpoints: strings.Split(dsn, ","), Logger: zap.NewNop()})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, cfg etcdsnow.LeaseConfig) (*etcdsnow.Lease, error) {
		return etcdsnow.Acquire(ctx, client, "", cfg)
	}, nil
}
