package command

import (
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// An observer logs requests, and counts and times them.
type observer struct {
	log      *slog.Logger             // nil: no log
	requests *prometheus.HistogramVec // nil: no metrics
}

func newObserver(log, metrics bool, logger *slog.Logger) *observer {
	o := &observer{}
	if log {
		o.log = logger
	}
	if metrics {
		o.requests = prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "http_request_duration_seconds",
			Help:    "Time from a request's header to the end of its answer.",
			Buckets: []float64{.0001, .0005, .001, .005, .01, .05, .1, .5, 1, 5, 10},
		}, []string{"path", "status"})
	}
	return o
}

// around returns a handler that is observed.
func (o *observer) around(h http.Handler) http.Handler {
	if o.log == nil && o.requests == nil {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begin := time.Now()
		a := &answered{ResponseWriter: w, status: http.StatusOK}
		defer func() { // also if the handler panics to cut the connection
			took := time.Since(begin)
			if o.requests != nil {
				o.requests.WithLabelValues(pathOf(r), strconv.Itoa(a.status)).Observe(took.Seconds())
			}
			if o.log != nil {
				o.log.LogAttrs(r.Context(), slog.LevelInfo, "request",
					slog.String("method", r.Method), slog.String("path", r.URL.RequestURI()), slog.Int("status", a.status),
					slog.Int64("bytes", a.bytes), slog.Duration("took", took), slog.String("client", r.RemoteAddr))
			}
		}()
		h.ServeHTTP(a, r)
	})
}

// pathOf returns the path of the service that a request is for: a client must not be able to make up labels.
func pathOf(r *http.Request) string {
	switch path := r.URL.Path; {
	case path == "/v1/ids", path == "/healthz", path == "/readyz", path == "/metrics", path == "/openapi.json":
		return path
	case strings.HasPrefix(path, "/v1/ids/"):
		return "/v1/ids/{id}"
	case path == "/page", strings.HasPrefix(path, "/page/"):
		return "/page/"
	}
	return "other"
}

// An answered is a ResponseWriter that remembers what was answered.
type answered struct {
	http.ResponseWriter
	status int
	bytes  int64
}

func (a *answered) WriteHeader(status int) {
	a.status = status
	a.ResponseWriter.WriteHeader(status)
}

func (a *answered) Write(b []byte) (int, error) {
	n, err := a.ResponseWriter.Write(b)
	a.bytes += int64(n)
	return n, err
}

// Unwrap is for http.ResponseController.
func (a *answered) Unwrap() http.ResponseWriter { return a.ResponseWriter }
