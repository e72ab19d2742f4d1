//go:build unix

package etcdtest

import (
	"context"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/shardsnow/snow/etcdsnow"
	"github.com/shardsnow/snow/internal/testkit/leasefaults"
)

// Dial is the leasefaults.Dial of the clusters of this package. dsn is addresses of members, with commas in between.
func Dial(dsn string) (leasefaults.Acquire, error) {
	client, prefix, err := connect(dsn)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, cfg etcdsnow.LeaseConfig) (leasefaults.Lease, error) {
		l, err := etcdsnow.Acquire(ctx, client, prefix, cfg)
		if err != nil {
			return nil, err
		}
		return l, nil
	}, nil
}

func connect(dsn string) (client *clientv3.Client, prefix string, err error) {
	addrs, prefix, _ := strings.Cut(dsn, "/")
	client, err = clientv3.New(clientv3.Config{
		Endpoints: strings.Split(addrs, ","), Logger: zap.NewNop(),
		DialKeepAliveTime: 2 * time.Second, DialKeepAliveTimeout: 2 * time.Second, // to leave a member that is stopped
	})
	return client, prefix, err
}
