package page

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/shardsnow/snow/sqlsnow"
)

// On a loopback address, the page answers no name that somebody else may own.
func TestForeignHosts(t *testing.T) {
	t.Parallel()
	h, err := New([]Database{{DB: unreachable(t), Dialect: sqlsnow.Postgres}}, Config{Logger: quiet(), Hosts: []string{"Snow.Example.org"}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h)
	defer server.Close()
	for host, want := range map[string]int{
		"": 200, "127.0.0.1": 200, "127.0.0.1:8017": 200, "[::1]:8017": 200, "[::1]": 200, "localhost": 200, "LOCALHOST.:80": 200, "snow.localhost:8017": 200,
		"snow.example.org": 200, "snow.example.ORG:443": 200,
		"evil.example.org": 421, "evil.example.org:8017": 421, "localhost.evil.example.org": 421, "127.0.0.1.evil.example.org": 421, "notlocalhost": 421,
	} {
		for _, path := range []string{"/", "/live", "/style.css"} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Host = host
			response, err := server.Client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close()
			if response.StatusCode != want {
				t.Errorf("host %q, %s: status %d, want %d", host, path, response.StatusCode, want)
			}
		}
	}
	// Elsewhere a name is the operator's business, and other servers do not tell where a request came in.
	if h, err = New([]Database{{DB: unreachable(t), Dialect: sqlsnow.Postgres}}, Config{Logger: quiet()}); err != nil {
		t.Fatal(err)
	}
	if w := ask(t, h, "GET", "http://evil.example.org/"); w.Code != 200 {
		t.Errorf("without a known address: %d", w.Code)
	}
}
