package command

import (
	"strings"
	"testing"
)

// Requests are counted and timed by path and status, and a client can't make up labels. With -access-log they are
// logged.
func TestServeObservesRequests(t *testing.T) {
	newRegistry(t)
	s := serve(t, "-namespace", "shop", "-metrics", "-access-log", "-rate", "1", "-max-ids", "10")
	for _, request := range []struct {
		method, path string
		status       int
	}{
		{"POST", "/v1/ids?count=10", 200},
		{"POST", "/v1/ids?count=10", 429},
		{"POST", "/v1/ids?count=11", 400},
		{"GET", "/v1/ids/175928847299117063", 200},
		{"GET", "/made/up", 404},
		{"GET", "/made/up/too", 404},
		{"GET", "/healthz", 200},
	} {
		if status, body := s.ask(t, request.method, request.path, ""); status != request.status {
			t.Errorf("%v: %d %s", request, status, body)
		}
	}
	status, body := s.ask(t, "GET", "/metrics", "")
	for _, want := range []string{
		`http_request_duration_seconds_count{path="/v1/ids",status="200"} 1`, `http_request_duration_seconds_count{path="/v1/ids",status="429"} 1`,
		`http_request_duration_seconds_count{path="/v1/ids",status="400"} 1`, `http_request_duration_seconds_count{path="/v1/ids/{id}",status="200"} 1`,
		`http_request_duration_seconds_count{path="/other",status="404"} 2`, `http_request_duration_seconds_count{path="/healthz",status="200"} 1`,
		`http_request_duration_seconds_bucket{path="/v1/ids",status="200",le="0.0001"}`,
	} {
		if status != 200 || !strings.Contains(body, want) {
			t.Errorf("%d, and no %s", status, want)
		}
	}
	if strings.Contains(body, "/made") {
		t.Error("a client makes up labels")
	}
	s.stop()
	<-s.end
	for _, want := range []string{`"method":"POST","path":"/v1/ids?count=10","status":429,"bytes":`, `"path":"/made/up","status":404`} {
		if !strings.Contains(s.log(), want) {
			t.Errorf("the log has no %s: %s", want, s.log())
		}
	}

	s = serve(t, "-namespace", "shop")
	s.ask(t, "POST", "/v1/ids", "")
	s.stop()
	<-s.end
	if strings.Contains(s.log(), "/v1/ids") {
		t.Errorf("without -access-log: %s", s.log())
	}
}
