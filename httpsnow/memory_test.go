package httpsnow

import (
	"net/http/httptest"
	"testing"
	"time"
)

// A stalled reader takes the first piece of its answer, and no more until resume is closed.
type stalled struct {
	*httptest.ResponseRecorder
	began, resume chan struct{}
	most          int // bytes at once
}

func (s *stalled) Write(b []byte) (int, error) {
	if s.most == 0 {
		close(s.began)
		<-s.resume
	}
	s.most = max(s.most, len(b))
	return s.ResponseRecorder.Write(b)
}

// Readers that stall hold a bounded number of large answers, and small requests do not wait for them.
func TestStalledReaders(t *testing.T) {
	h := newHandler(t, &counter{}, Config{MaxIDs: mostIDs, Timeout: time.Millisecond})
	resume, ended := make(chan struct{}), make(chan *stalled)
	for range mostHeld / mostIDs {
		w := &stalled{ResponseRecorder: httptest.NewRecorder(), began: make(chan struct{}), resume: resume}
		go func() {
			h.ServeHTTP(w, httptest.NewRequest("POST", "/v1/ids?count=10000", nil))
			ended <- w
		}()
		<-w.began
	}
	if w := ask(h, "POST", "/v1/ids?count=1025"); w.Code != 503 || w.Header().Get("Retry-After") == "" {
		t.Errorf("one more large answer: %d", w.Code)
	}
	if w := ask(h, "POST", "/v1/ids?count=1024"); w.Code != 200 {
		t.Errorf("a small answer: %d", w.Code)
	}
	close(resume)
	for range mostHeld / mostIDs {
		if w := <-ended; w.Code != 200 || w.most > 32<<10 {
			t.Errorf("status %d, %d bytes at once", w.Code, w.most)
		}
	}
	if w := ask(h, "POST", "/v1/ids?count=1025"); w.Code != 200 {
		t.Errorf("a large answer after the others: %d", w.Code)
	}
}
