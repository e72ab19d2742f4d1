package command

import (
	"net"
	"strings"
	"testing"
	"time"
)

// A server that accepts connections and says nothing holds a command no longer than --timeout.
func TestTimeoutOfSilentDatabase(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	accepted := make(chan net.Conn, 1000)
	go func() {
		defer close(accepted)
		for {
			c, err := silent.Accept()
			if err != nil {
				return
			}
			accepted <- c // kept open
		}
	}()
	t.Cleanup(func() {
		_ = silent.Close()
		for c := range accepted {
			_ = c.Close()
		}
	})
	for _, dsn := range []string{"a:geheim@tcp(" + silent.Addr().String() + ")/d", "postgres://a:geheim@" + silent.Addr().String() + "/d"} {
		t.Setenv("SNOW_DSN", dsn)
		for _, line := range []string{
			"workers", "workers --check", "migrate", "migrate status", "init --namespace shop", "fence --namespace shop --yes", "release --namespace shop --worker 1",
			"id new --namespace shop", "segments show", "numbers list", "audit", "serve --namespace shop --listen 127.0.0.1:0", "serve --segments a --listen 127.0.0.1:0",
			"serve --segments a --more-dsn env:SNOW_DSN --listen 127.0.0.1:0",
		} {
			begin := time.Now()
			got := execute(t, append(strings.Fields(line), "--timeout", "100ms")...)
			if took := time.Since(begin); got.status != 1 || !strings.Contains(got.stderr, "deadline exceeded") || strings.Contains(got.stderr, "geheim") || took > time.Minute {
				t.Errorf("snow %s: exit status %d after %v: %s", line, got.status, took, got.stderr)
			}
		}
	}
	if len(accepted) == 0 {
		t.Error("nobody connected")
	}
}
