package httpsnow

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/shardsnow/snow"
)

// A buffer has the ids of a request, and the text of a piece of the answer. Buffers are used again.
type buffer struct {
	ids  []snow.ID
	text []byte
}

// shortAnswer is how many ids net/http holds back in any form until it knows their length.
const shortAnswer = 64

// give answers a request for new ids.
func (h *Handler) give(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		problem(w, http.StatusRequestEntityTooLarge, "want a request without a body; the number of ids is the parameter count")
		return
	}
	n, err := h.countOf(r.URL.RawQuery)
	if err != nil {
		problem(w, http.StatusBadRequest, err.Error())
		return
	}
	form, ok := formOf(r.Header["Accept"])
	if !ok {
		problem(w, http.StatusNotAcceptable, "want application/json, text/plain or application/octet-stream")
		return
	}
	if h.rate != nil {
		if wait := h.rate.take(float64(n), time.Now()); wait > 0 {
			w.Header().Set("Retry-After", strconv.FormatInt(int64((wait+time.Second-1)/time.Second), 10))
			problem(w, http.StatusTooManyRequests, fmt.Sprintf("more than %g ids a second are asked for", h.cfg.Rate))
			return
		}
	}
	ctx := withTimeout(r.Context(), h.cfg.Timeout)
	if n <= piece {
		h.answer(ctx, w, r, form, n)
		return
	}
	if !h.takeSlot(ctx) { // slow readers of large answers hold a bounded amount of memory
		h.refuse(w, r, ctx.Err())
		ctx.stop()
		return
	}
	defer func() { <-h.slots }()
	h.answer(ctx, w, r, form, n)
}

// answer answers a request for n new ids.
func (h *Handler) answer(ctx *deadline, w http.ResponseWriter, r *http.Request, form form, n int) {
	b := h.buffers.Get().(*buffer)
	defer h.buffers.Put(b)
	if cap(b.ids) < n {
		b.ids = make([]snow.ID, n)
	}
	b.ids = b.ids[:n]
	err := h.src.Fill(ctx, b.ids)
	ctx.stop()
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	write(w, form, b)
}

// takeSlot waits for one of the slots until ctx ends.
func (h *Handler) takeSlot(ctx context.Context) bool {
	select {
	case h.slots <- struct{}{}:
		return true
	default:
	}
	select {
	case h.slots <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// write writes the ids of a buffer, a piece at a time.
func write(w http.ResponseWriter, form form, b *buffer) {
	// without Cache-Control: caches keep no answer to a POST that names no lifetime (RFC 9110, 9.3.3)
	header := w.Header()
	header["Content-Type"] = form.contentType()
	if len(b.ids) > shortAnswer { // shorter ones get it from net/http, and longer ones would be sent in chunks
		header["Content-Length"] = []string{strconv.Itoa(form.size(b.ids))}
	}
	for rest := b.ids; len(rest) > 0; {
		n := min(len(rest), piece)
		b.text = form.append(b.text[:0], rest[:n], len(rest) == len(b.ids), len(rest) == n)
		if _, err := w.Write(b.text); err != nil { // the client is gone, and its ids are skipped
			return
		}
		rest = rest[n:]
	}
}

// countOf returns how many ids a query asks for.
func (h *Handler) countOf(query string) (int, error) {
	if query == "" {
		return 1, nil
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return 0, errors.New("the query is malformed")
	}
	for name := range values {
		if name != "count" {
			return 0, fmt.Errorf("there is no parameter %.40q; there is count", name)
		}
	}
	counts := values["count"]
	if len(counts) != 1 {
		return 0, fmt.Errorf("count is there %d times, want once", len(counts))
	}
	n, err := strconv.Atoi(counts[0])
	if err != nil || n < 1 || n > h.cfg.MaxIDs {
		return 0, fmt.Errorf("count %.40q: want 1 to %d", counts[0], h.cfg.MaxIDs)
	}
	return n, nil
}

// refuse answers a request for which the source has no ids.
func (h *Handler) refuse(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case r.Context().Err() != nil: // nobody reads the answer
	case errors.Is(err, context.DeadlineExceeded):
		w.Header().Set("Retry-After", "1")
		problem(w, http.StatusServiceUnavailable, "no ids could be made within "+h.cfg.Timeout.String())
	default:
		h.log(r.Context(), "no ids", err)
		w.Header().Set("Retry-After", "1")
		problem(w, http.StatusServiceUnavailable, "no ids can be made now")
	}
}
