package page

import (
	"context"
	"sync"
	"time"
)

// Totals are what a service has done since it began.
type Totals struct {
	IDs     uint64 // that it gave
	Refused uint64 // requests that got none
}

// watchEvery is how often the totals are looked at.
const watchEvery = 10 * time.Second

// A service is what the page knows of Config.Totals. It is safe for concurrent use.
type service struct {
	totals func() Totals // nil: there are none

	mu           sync.Mutex
	ids, refused minutes
}

// observe looks at the totals.
func (s *service) observe(now time.Time) {
	if s.totals == nil {
		return
	}
	t := s.totals()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids.observe(now, t.IDs)
	s.refused.observe(now, t.Refused)
}

// lines returns the last hour of the totals.
func (s *service) lines(now time.Time) []sparkView {
	if s.totals == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return []sparkView{sparkOf("ids", false, s.ids.last(now), now), sparkOf("refusals", true, s.refused.last(now), now)}
}

// Watch looks at Config.Totals every ten seconds until ctx ends, so that the page has the last hour also if nobody
// looked at it. It asks no database. Run it in a goroutine.
func (h *Handler) Watch(ctx context.Context) {
	if h.reader.service.totals == nil {
		return
	}
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	for {
		h.reader.service.observe(time.Now())
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
