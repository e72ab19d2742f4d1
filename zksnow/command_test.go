//go:build linux

package zksnow

import (
	"testing"

	"github.com/shardsnow/snow/internal/testkit/storetest"
	"github.com/shardsnow/snow/internal/testkit/zkserver"
)

// The command snow makes, shows, fences and serves namespaces in ZooKeeper.
func TestCommand(t *testing.T) {
	addr := zkserver.Start(t, 1).Addrs()[0]
	c := storetest.NewCommand(t, "../cmd/snow", "zookeeper://"+addr+"/games")
	c.Run(">ZooKeeper</bdi>", " on <bdi>"+addr+"/games</bdi>", "Its clock is")
	c.Wants(1, "check the addresses", "workers --timeout 1s --dsn zookeeper://127.0.0.1:1")
	c.Wants(1, "check the addresses", "id new --namespace shop --timeout 1s --dsn zookeeper://127.0.0.1:1")
	t.Setenv("DSN", "zookeeper://snow:secret@"+addr+"/games")
	c.Wants(0, "shop", "workers --dsn env:DSN")
}
