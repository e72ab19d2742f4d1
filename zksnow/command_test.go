//go:build linux

package zksnow

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shardsnow/snow/internal/testkit/zkserver"
)

// The command snow makes, shows and fences namespaces in ZooKeeper.
func TestCommand(t *testing.T) {
	server := zkserver.Start(t, 1)
	program := filepath.Join(t.TempDir(), "snow")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".")
	build.Dir, build.Env = "../cmd/snow", append(os.Environ(), "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	dsn := "zookeeper://" + server.Addrs()[0] + "/games"
	for _, call := range []struct {
		args, want string
		code       int
	}{
		{"workers --namespace shop --dsn " + dsn, "the namespace does not exist", 1},
		{"init --namespace shop --workers 4 --dsn " + dsn, "4 worker numbers", 0},
		{"init --namespace shop --workers 5 --dsn " + dsn, "the namespace differs", 1},
		{"workers --dsn " + dsn, "shop", 0},
		{"workers --namespace shop --all --dsn " + dsn, "free", 0},
		{"fence --namespace shop --yes --dsn " + dsn, "fenced", 0},
		{"workers --timeout 1s --dsn zookeeper://127.0.0.1:1", "check the addresses", 1},
		{"workers --dsn env:DSN", "shop", 0},
	} {
		cmd := exec.CommandContext(t.Context(), program, strings.Fields(call.args)...)
		cmd.Env = append(os.Environ(), "DSN=zookeeper://snow:secret@"+strings.TrimPrefix(dsn, "zookeeper://"))
		out, _ := cmd.CombinedOutput()
		if got := cmd.ProcessState.ExitCode(); got != call.code || !strings.Contains(string(out), call.want) || strings.Contains(string(out), "secret") {
			t.Errorf("snow %s: exit status %d, want %d and %q:\n%s", call.args, got, call.code, call.want, out)
		}
	}
}
