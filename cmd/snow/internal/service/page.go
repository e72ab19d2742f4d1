package service

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/shardsnow/snow/httpsnow/page"
)

// A tally has what the page shows of the service itself.
type tally struct {
	all     []*served // set before requests come
	refused atomic.Uint64
}

func (t *tally) totals() page.Totals {
	totals := page.Totals{Refused: t.refused.Load()}
	for _, src := range t.all {
		totals.IDs += src.issued()
	}
	return totals
}

// around returns a handler whose refusals are counted: requests for ids without a token, from elsewhere, too many,
// or when there are none.
func (t *tally) around(h http.Handler, routes []*route) http.Handler {
	if t.all == nil { // there is no page
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(pathOf(r.URL.Path, routes), "/v1/ids") {
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
func (c *running) newPage(dbs []Database, t *tally, logger *slog.Logger) (*page.Handler, error) {
	if !c.Page {
		return nil, nil
	}
	var all []page.Database
	for i, db := range dbs {
		d := page.Database{DB: db.DB, Dialect: db.Dialect, Name: db.Name, Host: db.Host}
		if db.DB == nil {
			d.Store = db.Numbers
		}
		if len(dbs) > 1 {
			d.Name = fmt.Sprintf("database %d of %d", i+1, len(dbs))
		}
		all = append(all, d)
	}
	return page.New(all, page.Config{Hosts: c.Hosts, Timeout: min(c.Timeout, time.Hour), Totals: t.totals, Logger: logger})
}

// watch begins to count for the page, and returns it as a handler, or nil without a page.
func (t *tally) watch(ctx context.Context, pages *page.Handler, all []*served) http.Handler {
	if pages == nil {
		return nil
	}
	t.all = all
	go pages.Watch(ctx)
	return pages
}
