package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/spf13/cobra"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/cmd/snow/internal/database"
	"github.com/shardsnow/snow/httpsnow"
	"github.com/shardsnow/snow/sqlsnow"
)

// run takes what can fail first, and a worker number last.
func (f *serveFlags) run(c *cobra.Command) error {
	ctx := c.Context()
	signals := catchSignals()
	defer signals.stop()
	tokens, err := f.check(c)
	if err != nil {
		return &usageError{c.CommandPath(), err}
	}
	cert, err := f.newCertificate()
	if err != nil {
		return err
	}
	listener, err := f.bind()
	if err != nil {
		return err
	}
	defer listener.Close()
	if err := f.checkOpen(listener.Addr()); err != nil { // of systemd
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
	counts := &tally{}
	pages, err := f.newPage(dbs, counts, logger)
	if err != nil {
		return err
	}
	src, err := f.newSource(ctx, c, dbs, logger)
	if err != nil {
		return err
	}
	shown, counted := counts.watch(ctx, src, pages)
	observer := newObserver(f.accessLog, f.metrics, logger)
	handler, err := httpsnow.New(src.Source, httpsnow.Config{
		Page: shown, Metrics: f.newMetrics(src, observer),
		Tokens: tokens, Hosts: f.hosts, MaxIDs: f.maxIDs, Rate: f.rate, Timeout: f.wait, Logger: logger,
		Ready: func(ctx context.Context) error {
			if f.draining.Load() {
				return errors.New("the service is ending")
			}
			return src.ready(ctx)
		},
	})
	if err != nil {
		return errors.Join(&usageError{c.CommandPath(), err}, f.release(ctx, src))
	}
	go f.reread(signals, handler, cert, logger)
	err = f.answer(ctx, signals.urgent, listener, cert, observer.around(counted(handler)), src, logger)
	return errors.Join(err, f.release(ctx, src))
}

// newSource leases a worker number, or opens the segments.
func (f *serveFlags) newSource(ctx context.Context, c *cobra.Command, dbs []*connected, logger *slog.Logger) (*served, error) {
	if f.tag != "" {
		return serveSegments(ctx, dbs, f.tag, f.maxIDs, f.db.timeout, logger)
	}
	cfg := sqlsnow.LeaseConfig{Namespace: f.namespace, Datacenter: f.datacenter, Logger: logger}
	if c.Flags().Changed("worker") {
		cfg.Worker = &f.worker
	}
	return serveLease(ctx, dbs[0], cfg, snow.Config{OneLane: f.oneLane}, f.db.timeout)
}

// reread reads tokens and the certificate again at each SIGHUP. What can't be read leaves what there was.
func (f *serveFlags) reread(signals *serveSignals, handler *httpsnow.Handler, cert *certificate, logger *slog.Logger) {
	for {
		select {
		case <-signals.hangup:
		case <-signals.urgent.Done():
			return
		}
		n, err := 0, error(nil)
		if f.token != "" {
			var tokens []string
			if tokens, err = database.Secrets("--token", f.token); err == nil {
				n, err = len(tokens), handler.SetTokens(tokens)
			}
		}
		if cert != nil {
			err = errors.Join(err, cert.read())
		}
		if err != nil {
			logger.Error("SIGHUP: what can't be read again stays as it was", "error", err)
			continue
		}
		logger.Info("SIGHUP: read again", "tokens", n, "certificate", cert != nil)
	}
}

// release gives back what src holds, also after ctx has ended.
func (f *serveFlags) release(ctx context.Context, src *served) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), f.db.timeout)
	defer cancel()
	return src.close(ctx)
}

// newMetrics returns the metrics, or nil without --metrics.
func (f *serveFlags) newMetrics(src *served, o *observer) http.Handler {
	if !f.metrics {
		return nil
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(src.metrics...) // of one source each
	registry.MustRegister(o.requests)
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
}

// open opens the database, or those of --segments. Of several, some may not answer now: segments go on with the others.
func (f *serveFlags) open(ctx context.Context) ([]*connected, error) {
	if len(f.more) == 0 {
		db, err := f.db.open(ctx)
		return []*connected{db}, err
	}
	return f.db.connect(f.more)
}

func (f *serveFlags) logger() *slog.Logger {
	if f.app.json {
		return slog.New(slog.NewJSONHandler(f.app.Err, nil))
	}
	return slog.New(slog.NewTextHandler(f.app.Err, nil))
}

// answer answers requests until ctx ends, which is no error. When urgent ends, it does not wait for requests under way.
func (f *serveFlags) answer(ctx, urgent context.Context, listener net.Listener, cert *certificate, handler http.Handler, src *served, logger *slog.Logger) error {
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      f.wait + 10*time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
	}
	serve := server.Serve
	if cert != nil {
		server.TLSConfig = cert.config()
		serve = func(l net.Listener) error { return server.ServeTLS(l, "", "") }
	}
	failed := make(chan error, 1)
	go func() { failed <- serve(listener) }()
	if err := f.app.printLine(listening{URL: urlOf(listener.Addr(), cert != nil), page: f.page}); err != nil {
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
		case <-urgent.Done():
		}
	}
	ending, cancel := context.WithTimeout(urgent, server.WriteTimeout)
	defer cancel()
	if err := server.Shutdown(ending); err == nil || urgent.Err() == nil {
		return err
	}
	return server.Close()
}

// urlOf returns where requests go.
func urlOf(address net.Addr, encrypted bool) string {
	switch {
	case address.Network() == "unix":
		return "unix:" + address.String()
	case encrypted:
		return "https://" + address.String()
	}
	return "http://" + address.String()
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
