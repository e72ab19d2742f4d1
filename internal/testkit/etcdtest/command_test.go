//go:build unix

package etcdtest

import (
	"strings"
	"testing"

	"github.com/shardsnow/snow/internal/testkit/storetest"
)

// The command snow makes, shows, fences and serves namespaces in etcd.
func TestCommand(t *testing.T) {
	addrs := Start(t).Addrs()
	dsn := "etcd://" + strings.Join(addrs, ",") + "/games"
	c := storetest.NewCommand(t, "../../../cmd/snow", dsn)
	c.Run(">etcd</bdi>", " on <bdi>"+strings.Join(addrs, ", ")+"/games</bdi>")
	c.Wants(0, "shop", "workers --dsn "+dsn)
	c.Wants(2, "want 0: etcd confirms", "init --namespace other --loss-window 5s")
	c.Wants(1, "check the endpoints", "workers --timeout 1s --dsn etcd://"+free(t))
	c.Wants(1, "check the endpoints", "id new --namespace shop --timeout 1s --dsn etcd://"+free(t))
	c.Wants(2, "the list of processes shows", "workers --dsn etcd://guest:secret@host")
	t.Setenv("DSN", dsn)
	c.Wants(0, "shop", "workers --dsn env:DSN")
}
