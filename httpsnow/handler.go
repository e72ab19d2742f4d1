package httpsnow

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/hostname"
)

// The paths of a Handler.
const (
	idsPath     = "/v1/ids"
	healthPath  = "/healthz"
	readyPath   = "/readyz"
	metricsPath = "/metrics"
	pagePath    = "/page"
	openAPIPath = "/openapi.json"
)

// A Handler is an http.Handler that gives ids. Make it with [New]. It is safe for
// concurrent use.
type Handler struct {
	src     snow.Source
	cfg     Config
	tokens  atomic.Pointer[[][sha256.Size]byte]
	hosts   *hostname.Rule
	origins http.CrossOriginProtection // its zero value is used
	rate    *bucket                    // nil: no bound
	buffers sync.Pool
	slots   chan struct{} // one for each of the large answers that may be under way
	logged  atomic.Int64  // when a failure was logged last, in nanoseconds since 1970
}

// New returns a Handler that takes ids from src. A field of cfg that is out of bounds is a
// *snow.FieldError.
func New(src snow.Source, cfg Config) (*Handler, error) {
	cfg, err := cfg.checked(src)
	if err != nil {
		return nil, fmt.Errorf("httpsnow: new: %w", err)
	}
	h := &Handler{src: src, cfg: cfg, hosts: hostname.NewRule(cfg.Hosts), slots: make(chan struct{}, max(1, mostHeld/cfg.MaxIDs))}
	sums := hashes(cfg.Tokens)
	h.tokens.Store(&sums)
	if cfg.Rate > 0 {
		h.rate = newBucket(cfg.Rate, max(cfg.Rate, float64(cfg.MaxIDs)), time.Now())
	}
	h.buffers.New = func() any { return new(buffer) }
	return h, nil
}

// SetTokens replaces Config.Tokens for requests that come from now on. Without tokens, or with one that is
// out of bounds, it returns a *snow.FieldError and changes nothing.
func (h *Handler) SetTokens(tokens []string) error {
	err := checkTokens(tokens)
	if tokens == nil { // everybody would be let in
		err = &snow.FieldError{Field: "Tokens", Value: "nil", Bound: "want one or more"}
	}
	if err != nil {
		return fmt.Errorf("httpsnow: set tokens: %w", err)
	}
	sums := hashes(tokens)
	h.tokens.Store(&sums)
	return nil
}

// ServeHTTP answers a request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h.isStranger(w, r) {
		return
	}
	path := r.URL.Path
	switch path { // these need no token
	case healthPath:
		if allow(w, r, http.MethodGet) {
			writeStatus(w, http.StatusOK, "ok\n")
		}
		return
	case readyPath:
		if allow(w, r, http.MethodGet) {
			h.ready(w, r)
		}
		return
	case openAPIPath:
		if allow(w, r, http.MethodGet) {
			serveOpenAPI(w)
		}
		return
	}
	if h.cfg.Page != nil && (path == pagePath || strings.HasPrefix(path, pagePath+"/")) {
		h.page(w, r)
		return
	}
	if !h.isAllowed(r) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		problem(w, http.StatusUnauthorized, "the request needs a bearer token in the header Authorization")
		return
	}
	id, isRead := strings.CutPrefix(path, idsPath+"/")
	switch {
	case path == idsPath:
		if allow(w, r, http.MethodPost) {
			h.give(w, r)
		}
	case isRead && h.cfg.Layout != snow.Layout{}:
		if allow(w, r, http.MethodGet) {
			h.read(w, id)
		}
	case path == metricsPath && h.cfg.Metrics != nil:
		h.cfg.Metrics.ServeHTTP(w, r)
	default:
		problem(w, http.StatusNotFound, "unknown path; "+openAPIPath+" lists all")
	}
}

// page serves Config.Page to a request with a token, which for a browser is a password.
func (h *Handler) page(w http.ResponseWriter, r *http.Request) {
	_, password, ok := r.BasicAuth()
	switch {
	case !h.isAllowed(r) && !(ok && h.isToken(password)):
		w.Header().Set("WWW-Authenticate", `Basic realm="snow", charset="UTF-8"`)
		problem(w, http.StatusUnauthorized, "the page needs one of the tokens as a password, with any name")
	case r.URL.Path == pagePath:
		w.Header().Set("Location", "page/") // relative, because a prefix of the path may have been taken away
		w.WriteHeader(http.StatusPermanentRedirect)
	default:
		http.StripPrefix(pagePath, h.cfg.Page).ServeHTTP(w, r)
	}
}

// isStranger answers what a page of another origin sends from a browser. Where a request needs a token, the
// token shows that it does not come from such a page.
func (h *Handler) isStranger(w http.ResponseWriter, r *http.Request) bool {
	switch {
	case len(*h.tokens.Load()) > 0:
		return false
	case h.hosts.Refuses(r):
		problem(w, http.StatusMisdirectedRequest, "requests may not use this name; see Config.Hosts of httpsnow, or --host of snow serve")
	// no browser, as Check would find out in more time
	case r.Header["Sec-Fetch-Site"] == nil && r.Header["Origin"] == nil:
		return false
	case h.origins.Check(r) != nil:
		problem(w, http.StatusForbidden, "the request comes from a page of another origin")
	default:
		return false
	}
	return true
}

// isAllowed reports whether a request has one of the tokens.
func (h *Handler) isAllowed(r *http.Request) bool {
	if len(*h.tokens.Load()) == 0 {
		return true
	}
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	return ok && strings.EqualFold(scheme, "Bearer") && h.isToken(token)
}

// isToken reports whether a text is one of the tokens.
func (h *Handler) isToken(token string) bool {
	if len(token) > longestToken {
		return false
	}
	sum := sha256.Sum256([]byte(token))
	found := 0
	for _, known := range *h.tokens.Load() { // all of them, so that the time does not tell which one it is
		found |= subtle.ConstantTimeCompare(sum[:], known[:])
	}
	return found == 1
}

func (h *Handler) ready(w http.ResponseWriter, r *http.Request) {
	if h.cfg.Ready == nil {
		writeStatus(w, http.StatusOK, "ready\n")
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), h.cfg.Timeout)
	defer cancel()
	if err := h.cfg.Ready(ctx); err != nil {
		h.log(r.Context(), "not ready", err)
		writeStatus(w, http.StatusServiceUnavailable, "not ready\n")
		return
	}
	writeStatus(w, http.StatusOK, "ready\n")
}

// allow answers requests with another method than the one that a path has. HEAD is a GET without its body.
func allow(w http.ResponseWriter, r *http.Request, method string) bool {
	if r.Method == method || method == http.MethodGet && r.Method == http.MethodHead {
		return true
	}
	w.Header().Set("Allow", method)
	problem(w, http.StatusMethodNotAllowed, "want the method "+method)
	return false
}

func writeStatus(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text)) // the client is gone
}

// log logs a failure of the source, unless one was logged within the last second: in an outage, every request fails.
func (h *Handler) log(ctx context.Context, message string, err error) {
	now, last := time.Now().UnixNano(), h.logged.Load()
	if now-last < int64(time.Second) && now >= last || !h.logged.CompareAndSwap(last, now) {
		return
	}
	h.cfg.Logger.WarnContext(ctx, "httpsnow: "+message, "error", err)
}
