package command

import (
	"regexp"
	"strings"
	"testing"
)

// The page has the ids and the refusals of the service, whichever status refuses.
func TestServePageCounts(t *testing.T) {
	newRegistry(t)
	s := serve(t, "-namespace", "shop", "-page", "-rate", "0.001", "-max-ids", "5")
	s.ask(t, "GET", "/page/", "") // what is counted before is not in the lines
	for _, tt := range []struct {
		method, path string
		status       int
	}{
		{"POST", "/v1/ids?count=5", 200},
		{"POST", "/v1/ids?count=5", 429},
		{"POST", "/v1/ids?count=4", 429},
		{"POST", "/v1/ids?count=0", 400}, // the client's fault
		{"GET", "/no-such-path", 404},
	} {
		if status, body := s.ask(t, tt.method, tt.path, ""); status != tt.status {
			t.Errorf("%+v: %d, %s", tt, status, body)
		}
	}
	_, body := s.ask(t, "GET", "/page/live", "")
	for line, want := range map[string]string{"ids": "5", "refusals": "2"} {
		sum := regexp.MustCompile(`data-line="` + line + `".*?<b class="sum">([^<]*)<`).FindStringSubmatch(body)
		if sum == nil || sum[1] != want {
			t.Errorf("%s: %q, want %s: %s", line, sum, want, body)
		}
	}
	if !strings.Contains(body, "2 requests were refused in the last 5 minutes.") {
		t.Error(body)
	}
}
