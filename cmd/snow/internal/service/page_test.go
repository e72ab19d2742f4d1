package service

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// The page counts the ids of all sources, and each request for ids that got none through no fault of its own.
func TestTally(t *testing.T) {
	issued := func(n uint64) *served { return &served{issued: func() uint64 { return n }} }
	counts := &tally{all: []*served{issued(3), issued(4)}}
	status := 0
	h := counts.around(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }), []*route{{name: "chat"}})
	for _, tt := range []struct {
		path    string
		refused map[int]bool
	}{
		{"/v1/ids", map[int]bool{200: false, 400: false, 401: true, 403: true, 404: false, 406: false, 421: true, 429: true, 503: true}},
		{"/chat/v1/ids", map[int]bool{200: false, 429: true}},
		{"/v1/ids/7", map[int]bool{401: false}},
		{"/page/", map[int]bool{401: false}},
		{"/readyz", map[int]bool{503: false}},
		{"/other/v1/ids", map[int]bool{401: false}},
	} {
		for answer, refused := range tt.refused {
			status = answer
			before := counts.totals().Refused
			h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, tt.path, nil))
			if got := counts.totals().Refused - before; got == 1 != refused || got > 1 {
				t.Errorf("%s, status %d: counted %d times", tt.path, answer, got)
			}
		}
	}
	if got := counts.totals().IDs; got != 7 {
		t.Errorf("%d ids, want 7", got)
	}
}
