package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// One service has several sources, each with tokens and limits of its own. All numbers are given back.
func TestServeRoutes(t *testing.T) {
	newRegistry(t)
	if got := execute(t, "init", "-namespace", "other", "-layout", "twitter", "-workers", "4"); got.status != 0 {
		t.Fatal(got.stderr)
	}
	dir := t.TempDir()
	tokens := map[string]string{"main": "main-0123456789abcdef", "other": "other-0123456789abcdef", "orders": "orders-0123456789abcdef"}
	for name, token := range tokens {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(token), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := serve(t, "-namespace", "shop", "-metrics", "-token", "@"+dir+"/main",
		"-route", "other=namespace:other,token=@"+dir+"/other,max-ids=5", "-route", "orders=segments:orders,rate=2,max-ids=2,token=@"+dir+"/orders")
	for _, tt := range []struct {
		method, path, token string
		status              int
		body                string
	}{
		{"POST", "/v1/ids", "main", 200, `{"ids":["`},
		{"POST", "/other/v1/ids?count=5", "other", 200, `{"ids":["`},
		{"POST", "/other/v1/ids?count=6", "other", 400, "want 1 to 5"},
		{"GET", "/other/v1/ids/175928847299117063", "other", 200, `"layout":"41+5+5+12+0`},
		{"POST", "/orders/v1/ids?count=2", "orders", 200, `{"ids":["1","2"]}`},
		{"POST", "/orders/v1/ids?count=2", "orders", 429, "more than 2 ids a second"},
		{"POST", "/orders/v1/ids", "main", 401, ""},
		{"POST", "/orders/v1/ids", "other", 401, ""},
		{"POST", "/v1/ids", "other", 401, ""},
		{"GET", "/metrics", "orders", 401, ""},
		{"GET", "/orders/metrics", "orders", 404, ""},
		{"GET", "/readyz", "", 200, "ready"},
		{"GET", "/other/readyz", "", 200, "ready"},
		{"POST", "/orders", "main", 404, ""},
		{"POST", "/elsewhere/v1/ids", "main", 404, ""},
		{"GET", "/metrics", "main", 200, `snow_ids_issued_total{source="other"} 5`},
		{"GET", "/metrics", "main", 200, `http_request_duration_seconds_count{path="/orders/v1/ids",status="429"} 1`},
		{"GET", "/metrics", "main", 200, `snow_segments_issued_total{source="orders"} 2`},
	} {
		if status, body := s.ask(t, tt.method, tt.path, tokens[tt.token]); status != tt.status || !strings.Contains(body, tt.body) {
			t.Errorf("%s %s with the token of %s: %d %s", tt.method, tt.path, tt.token, status, body)
		}
	}
	s.stop()
	if status := <-s.end; status != 0 {
		t.Errorf("exit status %d: %s", status, s.log())
	}
	for _, namespace := range []string{"shop", "other"} {
		if c := workersOf(t, "-namespace", namespace).Count; c["held"] != 0 || c["late"] != 0 {
			t.Errorf("%s after the end: %v", namespace, c)
		}
	}
}

// A route that can't be served ends the service, and the other numbers are given back.
func TestServeWrongRoutes(t *testing.T) {
	newRegistry(t)
	t.Setenv("TOKEN", "geheim-0123456789")
	for _, tt := range []struct {
		args, want string
		status     int
	}{
		{"-route shop2", "want NAME=", 2},
		{"-route a=table:b", "want NAME=", 2},
		{"-route a=segments:", "want NAME=", 2},
		{"-route v1=segments:a", "want NAME=", 2},
		{"-route a/b=segments:a", "want NAME=", 2},
		{"-route a=segments:a,geheim", "want NAME=", 2},
		{"-route a=segments:a,=geheim", "want NAME=", 2},
		{"-route a=segments:a,token=geheim", "list of processes", 2},
		{"-route a=segments:a,max-ids=0", "more than 0", 2},
		{"-route a=segments:a,rate=x", "invalid syntax", 2},
		{"-route a=segments:a -route a=segments:b", "twice", 2},
		{"-route shop=segments:a", "twice", 2},
		{"-token env:TOKEN -route a=segments:a", "wants one for each", 2},
		{"-route a=segments:a -route b=namespace:nix", `"snow init" makes`, 1},
		{"-route a=segments:a,max-ids=2000000", "MaxIDs 2000000", 1},
	} {
		got := execute(t, append([]string{"serve", "-listen", "127.0.0.1:0", "-namespace", "shop"}, strings.Fields(tt.args)...)...)
		if got.status != tt.status || !strings.Contains(got.stderr, tt.want) || strings.Contains(got.stderr, "geheim") {
			t.Errorf("%s: exit status %d: %s", tt.args, got.status, got.stderr)
		}
	}
	if c := workersOf(t).Count; c["held"] != 0 || c["late"] != 0 {
		t.Errorf("after the end: %v", c)
	}
}
