package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/spf13/cobra"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/cmd/snow/internal/database"
	"github.com/shardsnow/snow/httpsnow"
	"github.com/shardsnow/snow/httpsnow/page"
	"github.com/shardsnow/snow/sqlsnow"
)

const aboutServe = `Give ids to programs in any language, over HTTP:

  curl -X POST http://127.0.0.1:8017/v1/ids?count=3
  curl http://127.0.0.1:8017/v1/ids/175928847299117063
  curl http://127.0.0.1:8017/openapi.json
  snow serve --page, and a browser at http://127.0.0.1:8017/page/

The ids are of a worker number that is leased from a namespace, or dense numbers of
a tag of segments, from one database or, with --more-dsn, from several: if one fails, the others go on. Any number of instances may run beside each other.

It listens on the loopback interface, unless told otherwise; others need a token
then. A token is a line of a file or of an environment variable, of 16 or more characters. The
connection is not encrypted: put a proxy with TLS in front.

SIGTERM ends it: /readyz answers 503 for the time of --drain, requests under way
are answered, and the worker number is given back.`

// serveFlags are the flags of snow serve.
type serveFlags struct {
	app        *app
	listen     string
	namespace  string
	tag        string
	more       []string
	datacenter uint64
	worker     uint64
	oneLane    bool
	token      string
	noToken    bool
	maxIDs     int
	rate       float64
	wait       time.Duration
	drain      time.Duration
	page       bool
	hosts      []string
	metrics    bool
	db         *databaseFlags

	draining atomic.Bool
}

func (a *app) serve() *cobra.Command {
	f := &serveFlags{app: a, db: &databaseFlags{app: a, access: database.Existing}}
	c := &cobra.Command{
		Use: "serve", Short: "Give ids over HTTP", Long: aboutServe, Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	flags := c.Flags()
	flags.StringVar(&f.listen, "listen", "127.0.0.1:8017", "`HOST:PORT`; port 0 for a free one")
	flags.StringVar(&f.namespace, "namespace", "", "`NAME` of the namespace that leases the worker number")
	flags.StringVar(&f.tag, "segments", "", "`TAG` of dense numbers, instead of --namespace")
	flags.Uint64Var(&f.datacenter, "datacenter", 0, "`N` of the ids, for --namespace")
	flags.Uint64Var(&f.worker, "worker", 0, "this worker number and no other, for --namespace")
	flags.BoolVar(&f.oneLane, "one-lane", false, "give ids that ascend also where the layout has lanes; fewer a second, for --namespace")
	flags.StringVar(&f.token, "token", "", "env:NAME or @`FILE`, with a bearer token in each line, of which a request needs one")
	flags.BoolVar(&f.noToken, "no-token", false, "let everybody who reaches the address ask for ids")
	flags.IntVar(&f.maxIDs, "max-ids", 10_000, "`N` ids in a request at most")
	flags.Float64Var(&f.rate, "rate", 0, "`N` ids a second at most, for all clients together; 0 for no bound")
	flags.DurationVar(&f.wait, "wait", 5*time.Second, "how long a request may wait for ids")
	flags.DurationVar(&f.drain, "drain", 0, "how long to answer requests after a signal, while /readyz says no")
	flags.BoolVar(&f.metrics, "metrics", false, "serve metrics for Prometheus at /metrics, of the ids and of the process; needs a token, as ids do")
	flags.BoolVar(&f.page, "page", false, "show the worker numbers and the counters of the database at /page/; a token is the password")
	flags.StringArrayVar(&f.hosts, "host", nil, "`NAME` that requests may use besides localhost and addresses, such as that of a proxy; once for each; without it any name may be used, except on loopback")
	flags.StringArrayVar(&f.more, "more-dsn", nil, "`DSN` of another database of --segments, once for each; all of them, in the same order everywhere when the tag is new")
	f.db.add(c)
	return c
}

func (f *serveFlags) run(c *cobra.Command) error {
	ctx := c.Context()
	address, tokens, err := f.check(c)
	if err != nil {
		return &usageError{c.CommandPath(), err}
	}
	dbs, err := f.open(ctx)
	if err != nil {
		return err
	}
	defer func() {
		for _, db := range dbs {
			_ = db.Close()
		}
	}()
	logger := f.logger()
	var src *served
	if f.tag != "" {
		src, err = serveSegments(ctx, dbs, f.tag, logger)
	} else {
		cfg := sqlsnow.LeaseConfig{Namespace: f.namespace, Datacenter: f.datacenter, Logger: logger}
		if c.Flags().Changed("worker") {
			cfg.Worker = &f.worker
		}
		src, err = serveLease(ctx, dbs[0], cfg, snow.Config{OneLane: f.oneLane})
	}
	if err != nil {
		return err
	}
	pages, err := f.newPage(dbs, logger)
	if err != nil {
		return errors.Join(err, f.release(ctx, src))
	}
	handler, err := httpsnow.New(src.Source, httpsnow.Config{
		Page: pages, Metrics: f.newMetrics(src),
		Tokens: tokens, Hosts: f.hosts, MaxIDs: f.maxIDs, Rate: f.rate, Timeout: f.wait, Logger: logger,
		Ready: func(ctx context.Context) error {
			if f.draining.Load() {
				return errors.New("the service is ending")
			}
			return src.ready(ctx)
		},
	})
	if err == nil {
		err = f.listenAndServe(ctx, address, handler, src, logger)
	} else {
		err = &usageError{c.CommandPath(), err}
	}
	return errors.Join(err, f.release(ctx, src))
}

// release gives back what src holds, also after ctx has ended.
func (f *serveFlags) release(ctx context.Context, src *served) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), f.db.timeout)
	defer cancel()
	return src.close(ctx)
}

// newMetrics returns the metrics, or nil without --metrics.
func (f *serveFlags) newMetrics(src *served) http.Handler {
	if !f.metrics {
		return nil
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(src.metrics...) // of one source each
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
}

// newPage returns the page, or nil without --page.
func (f *serveFlags) newPage(dbs []*connected, logger *slog.Logger) (http.Handler, error) {
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
	return page.New(all, page.Config{Hosts: f.hosts, Logger: logger})
}

// open opens the database, or those of --segments. Of several, some may not answer now: segments go on with the others.
func (f *serveFlags) open(ctx context.Context) ([]*connected, error) {
	if len(f.more) == 0 {
		db, err := f.db.open(ctx)
		return []*connected{db}, err
	}
	return f.db.connect(f.more)
}

// check returns the address to listen on and the tokens.
func (f *serveFlags) check(c *cobra.Command) (*net.TCPAddr, []string, error) {
	switch {
	case (f.namespace == "") == (f.tag == ""):
		return nil, nil, errors.New("want either --namespace or --segments")
	case f.tag != "" && (c.Flags().Changed("worker") || c.Flags().Changed("datacenter") || f.oneLane):
		return nil, nil, errors.New("--worker, --datacenter and --one-lane are for --namespace")
	case f.tag == "" && f.more != nil:
		return nil, nil, errors.New("--more-dsn is for --segments")
	case f.token != "" && f.noToken:
		return nil, nil, errors.New("want --token or --no-token, not both")
	case f.drain < 0:
		return nil, nil, errors.New("--drain: want 0s or more")
	case f.wait <= 0 || f.maxIDs <= 0:
		return nil, nil, errors.New("--wait and --max-ids: want more than 0")
	}
	address, err := net.ResolveTCPAddr("tcp", f.listen)
	if err != nil {
		return nil, nil, fmt.Errorf("--listen: %w", err)
	}
	var tokens []string
	if f.token != "" {
		if tokens, err = database.Secrets("--token", f.token); err != nil {
			return nil, nil, err
		}
	}
	if !address.IP.IsLoopback() && tokens == nil && !f.noToken {
		return nil, nil, errors.New("--listen: other machines reach this address: want --token, or --no-token")
	}
	return address, tokens, nil
}

func (f *serveFlags) logger() *slog.Logger {
	if f.app.json {
		return slog.New(slog.NewJSONHandler(f.app.Err, nil))
	}
	return slog.New(slog.NewTextHandler(f.app.Err, nil))
}

// listenAndServe answers requests until ctx ends, which is no error.
func (f *serveFlags) listenAndServe(ctx context.Context, address *net.TCPAddr, handler http.Handler, src *served, logger *slog.Logger) error {
	listener, err := net.ListenTCP("tcp", address)
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      f.wait + 10*time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	if err := f.app.printLine(listening{URL: "http://" + listener.Addr().String(), page: f.page}); err != nil {
		return errors.Join(err, server.Close())
	}
	select {
	case err := <-failed:
		return err
	case <-src.done:
		return errors.Join(src.err(), server.Close())
	case <-ctx.Done():
	}
	f.draining.Store(true)
	if f.drain > 0 {
		timer := time.NewTimer(f.drain)
		defer timer.Stop()
		select {
		case err := <-failed:
			return err
		case <-timer.C:
		}
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), server.WriteTimeout)
	defer cancel()
	return server.Shutdown(ending)
}

// listening is what snow serve prints when it answers requests.
type listening struct {
	URL  string `json:"url"`
	page bool
}

func (l listening) writeText(w io.Writer) {
	fmt.Fprintf(w, "listening on %s\n", l.URL)
	if l.page {
		fmt.Fprintf(w, "the page is %s/page/\n", l.URL)
	}
}
