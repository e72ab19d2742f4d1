package command

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/shardsnow/snow/httpsnow/page"
)

// A tally has what the page shows of the service itself.
type tally struct {
	issued  func() uint64 // set before requests come
	refused atomic.Uint64
}

func (t *tally) totals() page.Totals {
	return page.Totals{IDs: t.issued(), Refused: t.refused.Load()}
}

// around returns a handler whose refusals are counted: requests for ids without a token, from elsewhere, too many, or when there are none.
func (t *tally) around(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if pathOf(r) != "/v1/ids" {
			h.ServeHTTP(w, r)
			return
		}
		a := &answered{ResponseWriter: w, status: http.StatusOK}
		h.ServeHTTP(a, r)
		switch a.status {
		case http.StatusUnauthorized, http.StatusForbidden, http.StatusMisdirectedRequest, http.StatusTooManyRequests, http.StatusServiceUnavailable:
			t.refused.Add(1)
		}
	})
}

// newPage returns the page, or nil without --page.
func (f *serveFlags) newPage(dbs []*connected, t *tally, logger *slog.Logger) (*page.Handler, error) {
	if !f.page {
		return nil, nil
	}
	var all []page.Database
	for i, db := range dbs {
		d := page.Database{DB: db.DB, Dialect: db.dialect}
		if len(dbs) > 1 {
			d.Name = fmt.Sprintf("database %d of %d", i+1, len(dbs))
		}
		all = append(all, d)
	}
	return page.New(all, page.Config{Hosts: f.hosts, Timeout: min(f.db.timeout, time.Hour), Totals: t.totals, Logger: logger})
}

// watch returns the handler of the page and of what it counts, or two that do nothing without a page.
func (t *tally) watch(ctx context.Context, src *served, pages *page.Handler) (shown http.Handler, around func(http.Handler) http.Handler) {
	if pages == nil {
		return nil, func(h http.Handler) http.Handler { return h }
	}
	t.issued = src.issued
	go pages.Watch(ctx)
	return pages, t.around
}
