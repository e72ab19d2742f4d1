package httpsnow

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/shardsnow/snow"
)

// A page of another origin neither uses up ids nor reads anything, and programs are not in the way of that. The
// headers are what browsers send.
func TestPagesOfOtherOrigins(t *testing.T) {
	const token = "0123456789abcdef"
	type header map[string]string
	for _, tt := range []struct {
		name   string
		method string
		path   string
		host   string // "": the server's
		header header
		status int
	}{
		{"curl", "POST", "/v1/ids", "", nil, 200},
		{"curl, by name", "POST", "/v1/ids", "localhost", nil, 200},
		{"a no-cors POST", "POST", "/v1/ids?count=100", "", header{"Origin": "https://evil.example.org", "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "empty"}, 403},
		{"a form", "POST", "/v1/ids?count=100", "", header{"Origin": "https://evil.example.org", "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, 403},
		{"a page without a referrer", "POST", "/v1/ids", "", header{"Origin": "null", "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, 403},
		{"another port of localhost", "POST", "/v1/ids", "localhost", header{"Origin": "http://localhost:3000", "Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"}, 403},
		{"a browser without Sec-Fetch", "POST", "/v1/ids", "", header{"Origin": "http://evil.example.org"}, 403},
		{"the same without its origin's name", "POST", "/v1/ids", "", header{"Origin": "null"}, 403},
		{"a GET never gives ids", "GET", "/v1/ids?count=100", "", header{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}, 405},
		{"nor does a HEAD", "HEAD", "/v1/ids", "", header{"Origin": "https://evil.example.org", "Sec-Fetch-Site": "cross-site"}, 405},
		{"a preflight", "OPTIONS", "/v1/ids", "", header{"Origin": "https://evil.example.org", "Access-Control-Request-Method": "POST", "Sec-Fetch-Site": "cross-site"}, 405},
		{"another method", "PUT", "/v1/ids", "", header{"Origin": "https://evil.example.org", "Sec-Fetch-Site": "cross-site"}, 403},
		{"rebinding, ids", "POST", "/v1/ids", "evil.example.org:8017", header{"Origin": "http://evil.example.org:8017", "Sec-Fetch-Site": "same-origin"}, 421},
		{"rebinding, an id", "GET", "/v1/ids/7", "evil.example.org", header{"Sec-Fetch-Site": "same-origin"}, 421},
		{"rebinding, metrics", "GET", "/metrics", "evil.example.org", header{"Sec-Fetch-Site": "same-origin"}, 421},
		{"rebinding, readiness", "GET", "/readyz", "evil.example.org", nil, 421},
		{"rebinding, the document", "GET", "/openapi.json", "evil.example.org", nil, 421},
		{"rebinding, the page", "GET", "/page/", "evil.example.org", nil, 421},
		{"a page of this origin", "POST", "/v1/ids", "", header{"Sec-Fetch-Site": "same-origin"}, 200},
		{"the line of the address", "GET", "/v1/ids/7", "", header{"Sec-Fetch-Site": "none"}, 200},
		{"a proxy in front", "POST", "/v1/ids", "ids.example.org", nil, 200},
		// A page that has a token was given it.
		{"a token", "POST", "/v1/ids", "evil.example.org", header{"Authorization": "Bearer " + token, "Origin": "https://app.example.org", "Sec-Fetch-Site": "cross-site"}, 200},
		{"a token that is wrong", "POST", "/v1/ids", "", header{"Authorization": "Bearer x" + token, "Origin": "https://app.example.org"}, 401},
	} {
		t.Run(tt.name, func(t *testing.T) {
			src := &counter{}
			cfg := Config{
				Layout: snow.DefaultLayout(), Hosts: []string{"ids.example.org"},
				Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "snow_ids 1\n") }),
				Page:    http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "page") }),
			}
			if tt.header["Authorization"] != "" {
				cfg.Tokens = []string{token}
			}
			server := httptest.NewServer(newHandler(t, src, cfg))
			defer server.Close()
			r, err := http.NewRequestWithContext(t.Context(), tt.method, server.URL+tt.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Host = tt.host
			for name, value := range tt.header {
				r.Header.Set(name, value)
			}
			response, err := server.Client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close()
			used := src.last > 0
			if want := tt.status == 200 && tt.method == "POST"; response.StatusCode != tt.status || used != want {
				t.Errorf("status %d, want %d; ids are used up: %t, want %t", response.StatusCode, tt.status, used, want)
			}
			if allow := response.Header.Get("Access-Control-Allow-Origin"); allow != "" {
				t.Errorf("other origins may read it: %q", allow)
			}
		})
	}
}
