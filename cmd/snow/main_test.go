//go:build unix

package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/shardsnow/snow/cmd/snow/command"
)

// asCommand makes the test's own program behave as the command.
const asCommand = "SNOW_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	os.Exit(m.Run())
}

// A process is a run of the command.
type process struct {
	*exec.Cmd
	out, log *bufio.Reader // standard output and standard error
}

// start starts the command with a socket in the way of systemd, unless that is nil.
func start(t *testing.T, socket *os.File, args ...string) *process {
	t.Helper()
	c := exec.Command("/bin/sh", append([]string{"-c", `LISTEN_FDS=1 LISTEN_PID=$$ exec "$0" "$@"`, os.Args[0]}, args...)...)
	c.Env = append(os.Environ(), asCommand+"=1")
	if socket != nil {
		c.ExtraFiles = []*os.File{socket}
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	log, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	return &process{c, bufio.NewReader(out), bufio.NewReader(log)}
}

// url returns where a service listens, when it does.
func (p *process) url(t *testing.T) string {
	t.Helper()
	line, err := p.out.ReadString('\n')
	if err != nil {
		rest, _ := io.ReadAll(p.log)
		t.Fatalf("the service does not begin: %v: %s", err, rest)
	}
	return strings.TrimSpace(strings.TrimPrefix(line, "listening on "))
}

func (p *process) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := p.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// awaitLog reads the log up to a line with text.
func (p *process) awaitLog(t *testing.T, text string) {
	t.Helper()
	var read strings.Builder
	for {
		line, err := p.log.ReadString('\n')
		if read.WriteString(line); strings.Contains(line, text) {
			return
		}
		if err != nil {
			t.Fatalf("%v, and no %q in %s", err, text, &read)
		}
	}
}

// end waits for the end, which must be without an error, and looks whether all worker numbers are given back.
func (p *process) end(t *testing.T) {
	t.Helper()
	log, _ := io.ReadAll(p.log)
	_, _ = io.Copy(io.Discard, p.out)
	if err := p.Wait(); err != nil {
		t.Errorf("%v: %s", err, log)
	}
	if workers := run(t, "workers", "--json", "--namespace", "shop"); !strings.Contains(workers, `"workers": []`) && !strings.Contains(workers, `"workers":[]`) {
		t.Errorf("a number is not given back: %s", workers)
	}
}

// run runs a command and returns its output.
func run(t *testing.T, args ...string) string {
	t.Helper()
	var out, log strings.Builder
	if status := command.Run(t.Context(), args, command.Streams{In: strings.NewReader(""), Out: &out, Err: &log}); status != 0 {
		t.Fatalf("%v: exit status %d: %s", args, status, &log)
	}
	return out.String()
}

func newRegistry(t *testing.T) {
	t.Helper()
	t.Setenv("SNOW_DSN", filepath.Join(t.TempDir(), "registry.db"))
	run(t, "migrate")
	run(t, "init", "--namespace", "shop", "--workers", "4")
}

// status sends a request and returns the status of the answer and its body.
func status(t *testing.T, method, url, token string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// SIGHUP reads tokens again. If that fails, the old ones stay.
func TestHangup(t *testing.T) {
	newRegistry(t)
	const first, second = "first-geheim-0123456789", "second-geheim-0123456789"
	file := filepath.Join(t.TempDir(), "tokens")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(first)
	p := start(t, nil, "serve", "--namespace", "shop", "--listen", "127.0.0.1:0", "--token", "@"+file)
	url := p.url(t)
	want := func(a, b int) {
		t.Helper()
		gotA, _ := status(t, "POST", url+"/v1/ids", first)
		gotB, _ := status(t, "POST", url+"/v1/ids", second)
		if gotA != a || gotB != b {
			t.Errorf("the first token: %d, want %d; the second: %d, want %d", gotA, a, gotB, b)
		}
	}
	want(200, 401)
	write(first + "\n" + second + "\n")
	p.signal(t, syscall.SIGHUP)
	p.awaitLog(t, "tokens=2")
	want(200, 200)
	write(second)
	p.signal(t, syscall.SIGHUP)
	p.awaitLog(t, "tokens=1")
	want(401, 200)
	for _, bad := range []string{"", "short"} {
		write(bad)
		p.signal(t, syscall.SIGHUP)
		p.awaitLog(t, "stays as it was")
		want(401, 200)
	}
	p.signal(t, syscall.SIGTERM)
	p.end(t)
}

// A signal ends a service that waits for the secrets of a pipe.
func TestSignalWhileSecretsAreAwaited(t *testing.T) {
	newRegistry(t)
	t.Setenv("ROUTE_TOKEN", "geheim-0123456789")
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, flags := range [][]string{
		{"--token", "@" + fifo},
		{"--token", "env:ROUTE_TOKEN", "--route", "a=segments:a,token=@" + fifo},
		{"--tls-cert", fifo, "--tls-key", fifo},
	} {
		p := start(t, nil, append([]string{"serve", "--namespace", "shop", "--listen", "127.0.0.1:0"}, flags...)...)
		writer, err := os.OpenFile(fifo, os.O_WRONLY, 0) // returns when the service reads
		if err != nil {
			t.Fatal(err)
		}
		p.signal(t, syscall.SIGTERM)
		log, _ := io.ReadAll(p.log)
		if err := p.Wait(); err == nil || p.ProcessState.ExitCode() != 1 || !strings.Contains(string(log), "canceled") {
			t.Errorf("%v: %v: %s", flags, err, log)
		}
		_ = writer.Close()
	}
}

// Without tokens SIGHUP changes nothing, and a service collects garbage as Go does.
func TestHangupWithoutTokens(t *testing.T) {
	newRegistry(t)
	t.Setenv("GOGC", "")
	p := start(t, nil, "serve", "--namespace", "shop", "--listen", "127.0.0.1:0", "--metrics")
	url := p.url(t)
	p.signal(t, syscall.SIGHUP)
	p.awaitLog(t, "tokens=0")
	if got, body := status(t, "GET", url+"/metrics", ""); got != 200 || !strings.Contains(body, "go_gc_gogc_percent 100\n") {
		t.Errorf("%d: %s", got, body)
	}
	p.signal(t, os.Interrupt)
	p.end(t)
}

// A second signal skips the waiting, and the number is given back all the same.
func TestSecondSignal(t *testing.T) {
	newRegistry(t)
	p := start(t, nil, "serve", "--namespace", "shop", "--listen", "127.0.0.1:0", "--drain", "24h")
	url := p.url(t)
	p.signal(t, syscall.SIGTERM)
	for { // until the signal has arrived
		if got, _ := status(t, "GET", url+"/readyz", ""); got == http.StatusServiceUnavailable {
			break
		}
	}
	if got, _ := status(t, "POST", url+"/v1/ids", ""); got != 200 {
		t.Errorf("while draining: %d", got)
	}
	p.signal(t, syscall.SIGTERM)
	p.end(t)
}

// A unit's socket is there before the service, whose first request waits for it.
func TestSocketActivation(t *testing.T) {
	newRegistry(t)
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	socket, err := listener.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	p := start(t, socket, "serve", "--namespace", "shop", "--listen", "systemd")
	if got, _ := status(t, "POST", "http://"+listener.Addr().String()+"/v1/ids", ""); got != 200 {
		t.Errorf("status %d", got)
	}
	if url := p.url(t); url != "http://"+listener.Addr().String() {
		t.Errorf("it listens on %s", url)
	}
	p.signal(t, syscall.SIGTERM)
	p.end(t)

	t.Setenv("LISTEN_FDS", "1")
	t.Setenv("LISTEN_PID", "1") // of another process
	var log strings.Builder
	if got := command.Run(t.Context(), []string{"serve", "--namespace", "shop", "--listen", "systemd"}, command.Streams{In: strings.NewReader(""), Out: io.Discard, Err: &log}); got != 1 || !strings.Contains(log.String(), "hands over no socket") {
		t.Errorf("exit status %d: %s", got, &log)
	}
}
