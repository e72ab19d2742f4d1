package service

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/cmd/snow/internal/database"
	"github.com/shardsnow/snow/httpsnow"
	"github.com/shardsnow/snow/sqlsnow"
)

// Run gives ids until ctx ends. It takes what can fail first, and a worker number last. It returns a *UsageError if
// a field can't be used.
func Run(ctx context.Context, cfg Config) error {
	c := &running{Config: cfg}
	signals := catchSignals()
	defer signals.stop()
	tokens, routes, err := c.read(ctx)
	if err != nil {
		return err
	}
	cert, err := c.newCertificate(ctx)
	if err != nil {
		return err
	}
	listener, err := c.bind()
	if err != nil {
		return err
	}
	defer listener.Close()
	if err := c.checkOpen(listener.Addr()); err != nil { // of systemd
		return &UsageError{err}
	}
	dbs, err := c.Open(ctx)
	if err != nil {
		return err
	}
	defer func() {
		for _, db := range dbs {
			_ = db.Numbers.Close()
		}
	}()
	logger := c.Logger
	counts := &tally{}
	pages, err := c.newPage(dbs, counts, logger)
	if err != nil {
		return err
	}
	src, err := c.newSource(ctx, dbs, logger)
	if err != nil {
		return err
	}
	if err := c.openRoutes(ctx, routes, dbs, logger); err != nil {
		return errors.Join(err, c.release(ctx, src))
	}
	all := []*served{src}
	for _, r := range routes {
		all = append(all, r.src)
	}
	observer := newObserver(c.AccessLog, c.Metrics, logger)
	main := &route{token: c.Token}
	main.handler, err = httpsnow.New(src.Source, httpsnow.Config{
		Page: counts.watch(ctx, pages, all), Metrics: c.newMetrics(all, observer),
		Tokens: tokens, Hosts: c.Hosts, MaxIDs: c.MaxIDs, Rate: c.Rate, Timeout: c.Wait, Logger: logger, Ready: c.readiness(all...),
	})
	if err != nil {
		err = &UsageError{err}
	} else {
		go rereadAll(signals, append([]*route{main}, routes...), cert, logger)
		err = c.answer(ctx, signals.urgent, listener, cert, observer.around(counts.around(routed(main.handler, routes), routes), routes), all, logger)
	}
	return errors.Join(err, c.release(ctx, all...))
}

// readiness returns what /readyz asks: all sources have ids, and the service is not ending.
func (c *running) readiness(all ...*served) func(context.Context) error {
	return func(ctx context.Context) error {
		if c.draining.Load() {
			return errors.New("the service is ending")
		}
		var err error
		for _, src := range all {
			err = errors.Join(err, src.ready(ctx))
		}
		return err
	}
}

// newSource leases a worker number, or opens the segments.
func (c *running) newSource(ctx context.Context, dbs []Database, logger *slog.Logger) (*served, error) {
	if c.Tag != "" {
		return serveSegments(ctx, dbs, source{c.Tag, c.Tag}, c.MaxIDs, c.Timeout, logger)
	}
	cfg := sqlsnow.LeaseConfig{Namespace: c.Namespace, Datacenter: c.Datacenter, Worker: c.Worker, Logger: logger}
	return serveLease(ctx, dbs[0], c.Namespace, cfg, snow.Config{OneLane: c.OneLane}, c.Timeout)
}

// rereadTimeout bounds how long each file may take to be read again: a pipe may have no writer.
const rereadTimeout = 10 * time.Second

// rereadAll reads tokens and the certificate again at each SIGHUP. What can't be read leaves what there was.
func rereadAll(signals *serveSignals, routes []*route, cert *certificate, logger *slog.Logger) {
	for {
		select {
		case <-signals.hangup:
		case <-signals.urgent.Done():
			return
		}
		n, err := reread(signals.urgent, rereadTimeout, routes, cert)
		if err != nil {
			logger.Error("SIGHUP: what can't be read again stays as it was", "error", err)
			continue
		}
		logger.Info("SIGHUP: read again", "tokens", n, "certificate", cert != nil)
	}
}

// reread reads tokens and the certificate again, each within a time, and returns how many tokens there are.
func reread(ctx context.Context, most time.Duration, routes []*route, cert *certificate) (n int, err error) {
	within := func(read func(context.Context) error) {
		bounded, cancel := context.WithTimeout(ctx, most)
		defer cancel()
		err = errors.Join(err, read(bounded))
	}
	for _, r := range routes {
		if r.token == "" {
			continue
		}
		within(func(ctx context.Context) error {
			tokens, err := database.Secrets(ctx, "--token", r.token)
			if err != nil {
				return err
			}
			n += len(tokens)
			return r.handler.SetTokens(tokens)
		})
	}
	if cert != nil {
		within(cert.read)
	}
	return n, err
}

// release gives back what sources hold, also after ctx has ended: all at the same time, because a database that hangs
// takes the time of each.
func (c *running) release(ctx context.Context, all ...*served) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.Timeout)
	defer cancel()
	errs := make([]error, len(all))
	var closing sync.WaitGroup
	for i, src := range all {
		closing.Go(func() { errs[i] = src.close(ctx) })
	}
	closing.Wait()
	return errors.Join(errs...)
}

// newMetrics returns the metrics, or nil without --metrics.
func (c *running) newMetrics(all []*served, o *observer) http.Handler {
	if !c.Metrics {
		return nil
	}
	registry := prometheus.NewRegistry()
	for _, src := range all {
		registry.MustRegister(src.metrics...) // each has another name
	}
	registry.MustRegister(o.requests)
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
}

// answer answers requests until ctx ends, which is no error. When urgent ends, it does not wait for requests under way.
func (c *running) answer(ctx, urgent context.Context, listener net.Listener, cert *certificate, handler http.Handler, all []*served, logger *slog.Logger) error {
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      c.Wait + 10*time.Second,
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
	if err := c.Listening(urlOf(listener.Addr(), cert != nil)); err != nil {
		return errors.Join(err, server.Close())
	}
	select {
	case err := <-failed:
		return err
	case src := <-firstDone(ctx, all):
		return errors.Join(src.err(), server.Close())
	case <-ctx.Done():
	}
	c.draining.Store(true)
	if c.Drain > 0 {
		timer := time.NewTimer(c.Drain)
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

// firstDone returns a channel with the first source that can make no id any more.
func firstDone(ctx context.Context, all []*served) <-chan *served {
	first := make(chan *served, len(all))
	for _, src := range all {
		go func() {
			select {
			case <-src.done:
				first <- src
			case <-ctx.Done():
			}
		}()
	}
	return first
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
