package page

import (
	"bytes"
	"compress/gzip"
	"database/sql"
	"embed"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/hostname"
	"github.com/shardsnow/snow/sqlsnow"
)

// A Database is one that has the tables of package sqlsnow, or a Store in place of DB and Dialect.
type Database struct {
	Name    string // on the page; empty is what the database says its name is, and a Store can't say it
	DB      *sql.DB
	Dialect sqlsnow.Dialect
	Store   Store  // has worker numbers, and no segments
	Host    string // on the page; empty is what the server says its host is
}

// Config configures [New]. Its zero value shows all namespaces.
type Config struct {
	// Namespaces are the names of the namespaces to show; nil means all. With several databases, each must have them.
	Namespaces []string

	// Totals, if not nil, returns what the service has done beside the page, which is shown as lines of the last
	// hour. It must be safe for concurrent use. Run [Handler.Watch] with it.
	Totals func() Totals

	// Every is how often a database is read and the page changes, 100 ms to 1 hour. Zero means 2 s.
	Every time.Duration

	// Timeout is how long a database may take to answer, up to an hour. Zero means 5 s.
	Timeout time.Duration

	// Hosts are the names that browsers may use for the page besides localhost and addresses, such as a
	// proxy's name. A request for another name gets status 421. Without Hosts, other addresses than loopback
	// allow any name.
	Hosts []string

	// Logger logs when a database does not answer, and when it answers again. Nil means slog.Default.
	Logger *slog.Logger
}

//go:embed files
var files embed.FS

// assets are the files that are served as they are.
var assets = map[string]struct{ name, kind string }{
	"/style.css": {"files/style.css", "text/css; charset=utf-8"},
	"/script.js": {"files/script.js", "text/javascript; charset=utf-8"},
	"/icon.svg":  {"files/icon.svg", "image/svg+xml"},
}

const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; " +
	"base-uri 'none'; frame-ancestors 'none'"

// A Handler is an http.Handler that shows the page. Make it with [New]. It is safe
// for concurrent use.
type Handler struct {
	every     time.Duration
	hosts     *hostname.Rule
	templates *template.Template
	reader    *reader
	logger    *slog.Logger
}

// New returns a Handler for one or more databases. It does not connect yet. A field that is out of bounds is a
// *snow.FieldError.
func New(databases []Database, cfg Config) (*Handler, error) {
	if cfg.Every == 0 {
		cfg.Every = 2 * time.Second
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = 5 * time.Second
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	var field *snow.FieldError
	switch {
	case len(databases) == 0:
		field = &snow.FieldError{Field: "databases", Value: "none", Bound: "want one or more"}
	case cfg.Every < 100*time.Millisecond || cfg.Every > time.Hour:
		field = &snow.FieldError{Field: "Every", Value: cfg.Every.String(), Bound: "want 100ms to 1h"}
	case cfg.Timeout < 0 || cfg.Timeout > time.Hour:
		field = &snow.FieldError{Field: "Timeout", Value: cfg.Timeout.String(), Bound: "want 0 to 1h"}
	}
	for i, d := range databases {
		if isSQL := d.DB != nil; isSQL != d.Dialect.IsKnown() || isSQL == (d.Store != nil) || !isSQL && d.Name == "" {
			field = &snow.FieldError{Field: "databases", Value: strconv.Itoa(i), Bound: "want a DB and a known dialect, or a Store and a Name"}
		}
	}
	if field != nil {
		return nil, fmt.Errorf("page: new: %w", field)
	}
	templates, err := template.ParseFS(files, "files/*.html")
	if err != nil {
		return nil, fmt.Errorf("page: new: %w", err)
	}
	return &Handler{every: cfg.Every, hosts: hostname.NewRule(cfg.Hosts), templates: templates, reader: newReader(databases, cfg), logger: cfg.Logger}, nil
}

// ServeHTTP answers a request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Security-Policy", policy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cache-Control", "no-store")
	asset, isAsset := assets[r.URL.Path]
	switch {
	case h.hosts.Refuses(r):
		http.Error(w, "the page is not served under this name; see Config.Hosts of httpsnow/page, or --host of snow serve", http.StatusMisdirectedRequest)
	case r.URL.Path != "/" && r.URL.Path != "/live" && !isAsset:
		http.Error(w, "unknown page", http.StatusNotFound)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		header.Set("Allow", "GET, HEAD")
		http.Error(w, "want the method GET", http.StatusMethodNotAllowed)
	case isAsset:
		b, err := files.ReadFile(asset.name)
		if err != nil {
			http.Error(w, "the file is missing", http.StatusInternalServerError)
			return
		}
		header.Set("Content-Type", asset.kind)
		header.Set("Cache-Control", "no-cache") // a new version of the program has new files
		_, _ = w.Write(b)                       // the client is gone
	case r.URL.Path == "/live":
		v, _ := h.view(r)
		h.show(w, r, "live.html", v)
	default:
		v, s := h.view(r)
		if id := r.URL.Query().Get("id"); id != "" {
			v.Decoded = decode(id, s)
		}
		h.show(w, r, "page.html", v)
	}
}

// view returns what a request shows, and what it was made of.
func (h *Handler) view(r *http.Request) (view, snapshot) {
	s := h.reader.read(r.Context())
	now := time.Now()
	h.reader.service.observe(now)
	return viewOf(s, h.every, filterOf(r.URL.Query().Get("q")), h.reader.service.lines(now)), s
}

func (h *Handler) show(w http.ResponseWriter, r *http.Request, name string, v view) {
	var b bytes.Buffer
	if err := h.templates.ExecuteTemplate(&b, name, v); err != nil {
		h.logger.Error("page: "+name, "error", err)
		http.Error(w, "the page can't be written", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Vary", "Accept-Encoding")
	if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		_, _ = w.Write(b.Bytes()) // the client is gone
		return
	}
	w.Header().Set("Content-Encoding", "gzip") // a phone gets a tenth every two seconds
	packed := gzip.NewWriter(w)
	_, _ = packed.Write(b.Bytes())
	_ = packed.Close()
}
