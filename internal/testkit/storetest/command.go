//go:build unix

package storetest

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// A Command is the program snow, with a store as its SNOW_DSN.
type Command struct {
	t    *testing.T
	path string
}

// NewCommand builds the program in a folder.
func NewCommand(t *testing.T, folder, dsn string) *Command {
	t.Helper()
	c := &Command{t, filepath.Join(t.TempDir(), "snow")}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", c.path, ".")
	build.Dir, build.Env = folder, append(os.Environ(), "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Setenv("SNOW_DSN", dsn)
	return c
}

// Wants runs a command line, and compares its exit status and a part of its output, which never has the word secret.
func (c *Command) Wants(code int, want, line string) {
	c.t.Helper()
	cmd := exec.CommandContext(c.t.Context(), c.path, strings.Fields(line)...)
	out, _ := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != code || !strings.Contains(string(out), want) || strings.Contains(string(out), "secret") {
		c.t.Errorf("snow %s: exit status %d, want %d and %q:\n%s", line, got, code, want, out)
	}
}

// Run runs what works in an empty store as in a database, with the page, which has the texts.
func (c *Command) Run(onPage ...string) {
	c.Wants(1, "the namespace does not exist", "workers --namespace shop")
	c.Wants(0, "4 worker numbers", "init --namespace shop --workers 4")
	c.Wants(1, "the namespace differs", "init --namespace shop --workers 5")
	c.Wants(0, "shop", "workers")
	c.Wants(0, "free", "workers --namespace shop --all")
	c.Wants(0, "shop", "__complete workers --namespace=")
	c.Wants(0, "", "id new --namespace shop")
	c.Wants(0, `"holder"`, "id show --json --namespace shop 175928847299117063")
	c.Wants(0, "is free", "release --namespace shop --worker 0 --wait")
	c.Wants(0, "fenced", "fence --namespace shop --yes")
	c.Wants(3, "4 numbers", "workers --namespace shop --check --state cooling")
	c.Wants(3, "is cooling", "release --namespace shop --worker 0")
	c.Wants(1, "this needs an SQL database", "audit")
	c.Wants(2, "--segments: it needs an SQL database", "serve --segments shop --listen 127.0.0.1:0")

	c.Wants(0, "2 worker numbers", "init --namespace served --workers 2")
	serve := exec.CommandContext(c.t.Context(), c.path, "serve", "--namespace", "served", "--listen", "127.0.0.1:0", "--page")
	out, err := serve.StdoutPipe()
	if err == nil {
		err = serve.Start()
	}
	if err != nil {
		c.t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	url := regexp.MustCompile(`http://[0-9.:]+`).FindString(line)
	if err != nil || url == "" {
		c.t.Fatalf("snow serve says %q: %v", line, err)
	}
	c.get(url+"/readyz", "")
	host, err := os.Hostname()
	if err != nil {
		c.t.Fatal(err)
	}
	c.get(url+"/page/", append(onPage, "All is well: 1 number is held in 2 namespaces.", `data-namespace="served"`, "Fenced: 4 numbers", host)...)
	if err := errors.Join(serve.Process.Signal(syscall.SIGTERM), serve.Wait()); err != nil {
		c.t.Errorf("the end of snow serve: %v", err)
	}
}

// get asks for a page that has some texts.
func (c *Command) get(url string, wants ...string) {
	reply, err := http.Get(url)
	if err != nil {
		c.t.Error(err)
		return
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode != http.StatusOK {
		c.t.Errorf("%s: status %d, %v: %s", url, reply.StatusCode, err, text)
	}
	for _, want := range wants {
		if !strings.Contains(string(text), want) {
			c.t.Errorf("%s: want %q: %s", url, want, text)
		}
	}
}
