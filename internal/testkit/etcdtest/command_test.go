//go:build unix

package etcdtest

import (
	"bufio"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// The command snow makes, shows and fences namespaces in etcd.
func TestCommand(t *testing.T) {
	program := filepath.Join(t.TempDir(), "snow")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".")
	build.Dir, build.Env = "../../../cmd/snow", append(os.Environ(), "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	c := Start(t)
	dsn := "etcd://" + strings.Join(c.Addrs(), ",") + "/games"
	for _, call := range []struct {
		args, want string
		code       int
	}{
		{"workers --namespace shop --dsn " + dsn, "the namespace does not exist", 1},
		{"init --namespace shop --workers 4 --dsn " + dsn, "4 worker numbers", 0},
		{"init --namespace shop --workers 5 --dsn " + dsn, "the namespace differs", 1},
		{"init --namespace other --loss-window 5s --dsn " + dsn, "want 0: etcd confirms", 2},
		{"workers --dsn " + dsn, "shop", 0},
		{"workers --namespace shop --all --dsn " + dsn, "free", 0},
		{"fence --namespace shop --yes --dsn " + dsn, "fenced", 0},
		{"workers --namespace shop --check --state cooling --dsn " + dsn, "4 numbers", 3},
		{"audit --dsn " + dsn, "this needs an SQL database", 1},
		{"workers --timeout 1s --dsn etcd://" + free(t), "check the endpoints", 1},
		{"workers --dsn etcd://guest:secret@host", "the list of processes shows", 2},
		{"workers --dsn env:DSN", "shop", 0},
		{"init --namespace served --workers 2 --dsn " + dsn, "2 worker numbers", 0},
		{"serve --namespace served --listen 127.0.0.1:0 --page --dsn " + dsn, "--page: it needs an SQL database", 2},
		{"serve --segments served --listen 127.0.0.1:0 --dsn " + dsn, "--segments: it needs an SQL database", 2},
	} {
		cmd := exec.CommandContext(t.Context(), program, strings.Fields(call.args)...)
		cmd.Env = append(os.Environ(), "DSN="+dsn)
		out, _ := cmd.CombinedOutput()
		if got := cmd.ProcessState.ExitCode(); got != call.code || !strings.Contains(string(out), call.want) || strings.Contains(string(out), "secret") {
			t.Errorf("snow %s: exit status %d, want %d and %q:\n%s", call.args, got, call.code, call.want, out)
		}
	}

	serve := exec.CommandContext(t.Context(), program, "serve", "--namespace", "served", "--listen", "127.0.0.1:0", "--dsn", dsn)
	out, err := serve.StdoutPipe()
	if err == nil {
		err = serve.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	url := regexp.MustCompile(`http://[0-9.:]+`).FindString(line)
	if err != nil || url == "" {
		t.Fatalf("snow serve says %q: %v", line, err)
	}
	reply, err := http.Get(url + "/readyz")
	if err != nil || reply.StatusCode != http.StatusOK {
		t.Errorf("snow serve is not ready: %v, %v", reply, err)
	}
	if err == nil {
		reply.Body.Close()
	}
	if err := errors.Join(serve.Process.Signal(syscall.SIGTERM), serve.Wait()); err != nil {
		t.Errorf("the end of snow serve: %v", err)
	}
}
