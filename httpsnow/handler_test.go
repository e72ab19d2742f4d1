package httpsnow

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shardsnow/snow"
)

// counter is a Source of the numbers from 1 on.
type counter struct {
	mu   sync.Mutex
	last snow.ID
	err  error
	wait bool // until ctx ends
}

func (c *counter) Next(ctx context.Context) (snow.ID, error) {
	var one [1]snow.ID
	err := c.Fill(ctx, one[:])
	return one[0], err
}

func (c *counter) Fill(ctx context.Context, ids []snow.ID) error {
	if c.wait {
		<-ctx.Done()
		return ctx.Err()
	}
	if c.err != nil {
		return c.err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range ids {
		c.last++
		ids[i] = c.last
	}
	return nil
}

func newHandler(t *testing.T, src snow.Source, cfg Config) *Handler {
	t.Helper()
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	h, err := New(src, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// ask sends a request with headers such as "Accept: text/plain".
func ask(h http.Handler, method, target string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Add(name, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestNewIDs(t *testing.T) {
	for _, tt := range []struct {
		name, target string
		accept       []string
		status       int
		contentType  string
		body         string
	}{
		{"one", "/v1/ids", nil, 200, "application/json", `{"ids":["1"]}` + "\n"},
		{"three", "/v1/ids?count=3", nil, 200, "application/json", `{"ids":["1","2","3"]}` + "\n"},
		{"text", "/v1/ids?count=2", []string{"Accept: text/plain"}, 200, "text/plain; charset=utf-8", "1\n2\n"},
		{"binary", "/v1/ids?count=2", []string{"Accept: application/octet-stream"}, 200, "application/octet-stream", "\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x02"},
		{"what a browser accepts", "/v1/ids", []string{"Accept: text/html, application/xml;q=0.9, */*;q=0.8"}, 200, "application/json", `{"ids":["1"]}` + "\n"},
		{"two headers", "/v1/ids", []string{"Accept: image/png", "Accept: TEXT/PLAIN; q=1"}, 200, "text/plain; charset=utf-8", "1\n"},
		{"no known form", "/v1/ids", []string{"Accept: image/png"}, 406, "application/problem+json", "want application/json"},
		{"none", "/v1/ids?count=0", nil, 400, "application/problem+json", "want 1 to 100"},
		{"the most", "/v1/ids?count=100", []string{"Accept: text/plain"}, 200, "text/plain; charset=utf-8", "99\n100\n"},
		{"too many", "/v1/ids?count=101", nil, 400, "application/problem+json", "want 1 to 100"},
		{"far too many", "/v1/ids?count=99999999999999999999", nil, 400, "application/problem+json", "want 1 to 100"},
		{"two counts", "/v1/ids?count=1&count=2", nil, 400, "application/problem+json", "2 times"},
		{"no number", "/v1/ids?count=x", nil, 400, "application/problem+json", `\"x\"`},
		{"another parameter", "/v1/ids?n=1", nil, 400, "application/problem+json", "there is count"},
		{"a malformed query", "/v1/ids?%zz", nil, 400, "application/problem+json", "malformed"},
		{"another path", "/v1/id", nil, 404, "application/problem+json", "/openapi.json"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := ask(newHandler(t, &counter{}, Config{MaxIDs: 100}), "POST", tt.target, tt.accept...)
			if w.Code != tt.status || w.Header().Get("Content-Type") != tt.contentType || !strings.HasSuffix(w.Body.String(), tt.body) && (tt.status == 200 || !strings.Contains(w.Body.String(), tt.body)) {
				t.Errorf("%d, %s: %q", w.Code, w.Header().Get("Content-Type"), w.Body)
			}
			want := "no-store"
			if tt.status == 200 { // no cache keeps the answer to a POST that names no lifetime
				want = ""
			}
			if got := w.Header().Get("Cache-Control") + w.Header().Get("Expires"); got != want {
				t.Errorf("lifetime in a cache: %q, want %q", got, want)
			}
		})
	}
}

// Handlers that many clients use at the same time give every id once, although they use their buffers again.
func TestIDsAreUnique(t *testing.T) {
	h := newHandler(t, &counter{}, Config{})
	var mu sync.Mutex
	seen := make(map[uint64]bool)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 50 {
				n := 1 + i*37
				w := ask(h, "POST", "/v1/ids?count="+strings.TrimSpace(itoa(n)), "Accept: application/octet-stream")
				b := w.Body.Bytes()
				if len(b) != 8*n {
					t.Errorf("%d bytes for %d ids", len(b), n)
					return
				}
				mu.Lock()
				for ; len(b) > 0; b = b[8:] {
					id := binary.BigEndian.Uint64(b)
					if id == 0 || seen[id] {
						t.Errorf("id %d is there twice", id)
					}
					seen[id] = true
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if want := 50 * (8 + 37*28); len(seen) != want {
		t.Errorf("%d ids, want %d", len(seen), want)
	}
}

func itoa(n int) string {
	b, _ := json.Marshal(n)
	return string(b)
}

func TestMethods(t *testing.T) {
	h := newHandler(t, &counter{}, Config{Layout: snow.DefaultLayout()})
	for _, tt := range []struct {
		method, target string
		status         int
	}{
		{"GET", "/v1/ids", 405},
		{"HEAD", "/v1/ids", 405},
		{"POST", "/v1/ids/1", 405},
		{"POST", "/healthz", 405},
		{"DELETE", "/openapi.json", 405},
		{"HEAD", "/healthz", 200},
		{"HEAD", "/v1/ids/1", 200},
	} {
		if w := ask(h, tt.method, tt.target); w.Code != tt.status || (w.Code == 405) != (w.Header().Get("Allow") != "") {
			t.Errorf("%s %s: %d, Allow %q", tt.method, tt.target, w.Code, w.Header().Get("Allow"))
		}
	}
	r := httptest.NewRequest("POST", "/v1/ids", strings.NewReader("count=3"))
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, r); w.Code != 413 {
		t.Errorf("a request with a body: %d", w.Code)
	}
}

func TestReadIDs(t *testing.T) {
	w, err := snow.Fixed(snow.DefaultLayout(), 7)
	if err != nil {
		t.Fatal(err)
	}
	gen, err := snow.NewGenerator(w, snow.Config{})
	if err != nil {
		t.Fatal(err)
	}
	const answer = `{"id":"175928847299117063","base32":"04W86BB0G4007","layout":"41+0+10+12+0/1ms@2024-01-01T00:00:00Z",` +
		`"time":"2025-04-30T11:18:25.796Z","datacenter":0,"worker":32,"sequence":7,"shard":0}` + "\n"
	for _, tt := range []struct {
		name   string
		src    snow.Source
		layout snow.Layout
		target string
		status int
		body   string
	}{
		{"the layout of the source", gen, snow.Layout{}, "/v1/ids/175928847299117063", 200, answer},
		{"base32", gen, snow.Layout{}, "/v1/ids/04w86bb0g4007", 200, answer},
		{"another layout", gen, snow.Twitter(), "/v1/ids/175928847299117063", 200, `"datacenter":1,"worker":0,`},
		{"lanes", gen, snow.Clustered(), "/v1/ids/175928847299117063", 200, `,"lane":`},
		{"no layout", &counter{}, snow.Layout{}, "/v1/ids/1", 404, "unknown path"},
		{"too many bits", &counter{}, snow.JavaScript(), "/v1/ids/175928847299117063", 400, "bits"},
		{"zero", gen, snow.Layout{}, "/v1/ids/0", 400, "detail"},
		{"no id", gen, snow.Layout{}, "/v1/ids/x", 400, `\"x\"`},
		{"nothing", gen, snow.Layout{}, "/v1/ids/", 400, `\"\"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := ask(newHandler(t, tt.src, Config{Layout: tt.layout}), "GET", tt.target)
			if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.body) {
				t.Errorf("%d: %s", w.Code, w.Body)
			}
		})
	}
}

func TestTokens(t *testing.T) {
	const first, second = "0123456789abcdef", "a-longer-token-for-another-program"
	metrics := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("snow_ids 1\n")) })
	h := newHandler(t, &counter{}, Config{Tokens: []string{first, second}, Layout: snow.DefaultLayout(), Metrics: metrics})
	for _, authorization := range []string{"", "Bearer", "Bearer ", "Bearer " + first[1:], "Bearer " + first + "x", "Basic " + first, first, "Bearer " + strings.Repeat("x", 1<<20)} {
		for method, target := range map[string]string{"POST": "/v1/ids", "GET": "/v1/ids/1", "HEAD": "/metrics", "PUT": "/elsewhere"} {
			if w := ask(h, method, target, "Authorization: "+authorization); w.Code != 401 || w.Header().Get("WWW-Authenticate") != "Bearer" {
				t.Errorf("%s %s with %.40q: %d", method, target, authorization, w.Code)
			}
		}
	}
	for _, token := range []string{"Bearer " + first, "bearer " + second} {
		for method, target := range map[string]string{"POST": "/v1/ids", "GET": "/metrics"} {
			if w := ask(h, method, target, "Authorization: "+token); w.Code != 200 {
				t.Errorf("%s %s with a token: %d", method, target, w.Code)
			}
		}
	}
	for _, open := range []string{"/healthz", "/readyz", "/openapi.json"} {
		if w := ask(h, "GET", open); w.Code != 200 {
			t.Errorf("%s: %d", open, w.Code)
		}
	}
}

func TestFailures(t *testing.T) {
	secret := errors.New("dial root:geheim@tcp(db)")
	var logged bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&logged, nil))
	h := newHandler(t, &counter{err: secret}, Config{Logger: logger, Ready: func(context.Context) error { return secret }})
	for range 3 {
		w := ask(h, "POST", "/v1/ids")
		if w.Code != 503 || w.Header().Get("Retry-After") == "" || strings.Contains(w.Body.String(), "geheim") {
			t.Errorf("%d: %s", w.Code, w.Body)
		}
	}
	if n := strings.Count(logged.String(), "no ids"); n != 1 {
		t.Errorf("three failures within a second are logged %d times", n)
	}
	if w := ask(h, "GET", "/readyz"); w.Code != 503 || strings.Contains(w.Body.String(), "geheim") {
		t.Errorf("readiness: %d: %s", w.Code, w.Body)
	}
	if w := ask(h, "GET", "/healthz"); w.Code != 200 {
		t.Errorf("a process without ids is restarted: %d", w.Code)
	}

	slow := newHandler(t, &counter{wait: true}, Config{Timeout: time.Millisecond})
	if w := ask(slow, "POST", "/v1/ids"); w.Code != 503 || !strings.Contains(w.Body.String(), "within 1ms") {
		t.Errorf("a source that does not answer: %d: %s", w.Code, w.Body)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("POST", "/v1/ids", nil).WithContext(ctx))
	if w.Body.Len() != 0 {
		t.Errorf("an answer for a client that is gone: %s", w.Body)
	}
}

func TestConfig(t *testing.T) {
	for _, tt := range []struct {
		field string
		cfg   Config
	}{
		{"", Config{}},
		{"", Config{MaxIDs: 1_000_000, Timeout: time.Hour, Rate: 0.5, Tokens: []string{"0123456789abcdef"}}},
		{"MaxIDs", Config{MaxIDs: -1}},
		{"MaxIDs", Config{MaxIDs: 1_000_001}},
		{"Rate", Config{Rate: -1}},
		{"Timeout", Config{Timeout: -1}},
		{"Timeout", Config{Timeout: time.Hour + 1}},
		{"Tokens", Config{Tokens: []string{}}},
		{"Tokens", Config{Tokens: []string{"too-short-geheim"[:15]}}},
		{"Tokens", Config{Tokens: []string{"with a space geheim"}}},
		{"Tokens", Config{Tokens: []string{strings.Repeat("geheim", 200)}}},
	} {
		_, err := New(&counter{}, tt.cfg)
		var field *snow.FieldError
		switch {
		case tt.field == "" && err != nil:
			t.Errorf("%+v: %v", tt.cfg, err)
		case tt.field != "" && (!errors.As(err, &field) || field.Field != tt.field || strings.Contains(err.Error(), "geheim")):
			t.Errorf("%s: %v", tt.field, err)
		}
	}
}

func TestPage(t *testing.T) {
	page := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.URL.Path) })
	const token = "0123456789abcdef"
	h := newHandler(t, &counter{}, Config{Layout: snow.DefaultLayout(), Page: page, Tokens: []string{token}})
	for _, tt := range []struct {
		path, password, bearer string
		status                 int
		body                   string
	}{
		{"/page/", "", "", 401, "as a password"},
		{"/page/live", token + "0", "", 401, "as a password"},
		{"/page/live", token, "", 200, "/live"},
		{"/page/", "", token, 200, "/"},
		{"/page", token, "", 308, ""},
		{"/pages", token, "", 401, "bearer"},
		{"/v1/ids/7", token, "", 401, "bearer"}, // a browser must not use up ids with the page's password
		{"/v1/ids/7", "", token, 200, ""},
	} {
		r := httptest.NewRequest("GET", tt.path, nil)
		if tt.password != "" {
			r.SetBasicAuth("anybody", tt.password)
		}
		if tt.bearer != "" {
			r.Header.Set("Authorization", "Bearer "+tt.bearer)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.body) {
			t.Errorf("%+v: %d %s", tt, w.Code, w.Body)
		}
	}
	if w := ask(newHandler(t, &counter{}, Config{}), "GET", "/page/"); w.Code != 404 {
		t.Errorf("without a page: %d", w.Code)
	}
	if w := ask(newHandler(t, &counter{}, Config{Page: page}), "GET", "/page/"); w.Code != 200 {
		t.Errorf("without tokens: %d", w.Code)
	}
}
