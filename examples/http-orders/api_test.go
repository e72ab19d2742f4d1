//go:build unix

package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
)

// newAPI returns an instance in this process, which is closed at the end of the test.
func newAPI(t *testing.T) *api {
	t.Helper()
	s, err := openStore(t.Context(), t.TempDir(), databases)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	orders, err := openKeys(filepath.Join(t.TempDir(), "keys"), true)
	if err != nil {
		t.Fatal(err)
	}
	return &api{store: s, orders: orders}
}

// send sends one request and returns its answer. An empty key is not sent.
func (a *api) send(t *testing.T, method, path, key, body string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	w := httptest.NewRecorder()
	a.handler().ServeHTTP(w, r)
	return w
}

func TestAnswers(t *testing.T) {
	a := newAPI(t)
	const tea, cup = `{"buyer":"ann","item":"tea"}`, `{"buyer":"ann","item":"cup"}`
	for _, test := range []struct {
		name, method, path, key, body string
		status                        int
		want                          string // a part of the answer
	}{
		{"new", "POST", "/orders", "1", tea, 201, `"item":"tea"`},
		{"sent again", "POST", "/orders", "1", tea, 200, `"item":"tea"`},
		{"another order with its key", "POST", "/orders", "1", cup, 422, "belongs to another order"},
		{"the same key of another buyer", "POST", "/orders", "1", `{"buyer":"bob","item":"cup"}`, 201, `"buyer":"bob"`},
		{"no key", "POST", "/orders", "", tea, 400, "Idempotency-Key"},
		{"long key", "POST", "/orders", strings.Repeat("k", 65), tea, 400, "Idempotency-Key"},
		{"no buyer", "POST", "/orders", "2", `{"item":"tea"}`, 400, "want a buyer"},
		{"no JSON", "POST", "/orders", "2", "tea", 400, "the body is no order"},
		{"an id of the client", "POST", "/orders", "2", `{"id":"7","buyer":"ann","item":"tea"}`, 400, "the body is no order"},
		{"too long", "POST", "/orders", "2", `{"buyer":"` + strings.Repeat("a", mostBytes) + `"}`, 400, "the body is no order"},
		{"no such order", "GET", "/orders/" + a.orders.Encode(7).Text(), "", "", 404, "no such order"},
		{"no id", "GET", "/orders/x", "", "", 404, "no such order"},
		{"a key of the database", "GET", "/orders/7", "", "", 404, "no such order"},
		{"a page", "GET", "/orders?limit=1", "", "", 200, `"next":"ord_1`},
		{"the last page", "GET", "/orders?limit=3", "", "", 200, `"item":"cup"`},
		{"nobody's orders", "GET", "/orders?buyer=eve", "", "", 200, `{"orders":[]}`},
		{"after what is no id", "GET", "/orders?after=x", "", "", 400, `"x`},
		{"too many", "GET", "/orders?limit=201", "", "", 400, "1 to 200"},
		{"too few", "GET", "/orders?limit=0", "", "", 400, "1 to 200"},
		{"another method", "DELETE", "/orders", "", "", 405, ""},
	} {
		w := a.send(t, test.method, test.path, test.key, test.body)
		if w.Code != test.status || !strings.Contains(strings.ReplaceAll(w.Body.String(), `\"`, `"`), test.want) {
			t.Errorf("%s: status %d, %s, want %d and %s", test.name, w.Code, w.Body, test.status, test.want)
		}
	}
}

// An instance that stops, or that has no keys, is not ready, but alive.
func TestProbes(t *testing.T) {
	a := newAPI(t)
	probe := func(when string, ready int) {
		t.Helper()
		if got := a.send(t, "GET", "/readyz", "", "").Code; got != ready {
			t.Errorf("%s: readyz is %d, want %d", when, got, ready)
		}
		if got := a.send(t, "GET", "/livez", "", "").Code; got != http.StatusOK {
			t.Errorf("%s: livez is %d", when, got)
		}
	}
	probe("at first", http.StatusOK)
	a.stopping.Store(true)
	probe("stopping", http.StatusServiceUnavailable)
	a.stopping.Store(false)
	if err := a.store.lease.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	probe("without a lease", http.StatusServiceUnavailable)
	if w := a.send(t, "POST", "/orders", "1", `{"buyer":"ann","item":"tea"}`); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("without a lease an order gets %d, %s", w.Code, w.Body)
	}
	if w := a.send(t, "GET", "/orders", "", ""); w.Code != http.StatusOK {
		t.Errorf("without a lease a page gets %d, %s", w.Code, w.Body)
	}
}
