package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/cmd/snow/internal/database"
	"github.com/shardsnow/snow/httpsnow"
	"github.com/shardsnow/snow/sqlsnow"
)

// A route is another source of ids that a service has below a path of its own, with tokens and limits of its own.
type route struct {
	name      string // the first part of the path, and the label of its metrics
	namespace string
	tag       string
	token     string
	tokens    []string
	maxIDs    int
	rate      float64

	src     *served
	handler *httpsnow.Handler
}

const routeForm = "want NAME=namespace:NAMESPACE or NAME=segments:TAG, and then any of ,token=env:NAME ,token=@FILE ,max-ids=N ,rate=N"

// parseRoute reads the value of --route. What is not given is as for the service.
func (c *running) parseRoute(ctx context.Context, value string) (*route, error) {
	first, options, _ := strings.Cut(value, ",")
	name, source, _ := strings.Cut(first, "=")
	kind, of, _ := strings.Cut(source, ":")
	r := &route{name: name, maxIDs: c.MaxIDs, rate: c.Rate}
	switch {
	case !isRouteName(name) || of == "":
		return nil, errors.New(routeForm)
	case kind == "namespace":
		r.namespace = of
	case kind == "segments":
		r.tag = of
	default:
		return nil, errors.New(routeForm)
	}
	for option := range strings.SplitSeq(options, ",") {
		key, text, _ := strings.Cut(option, "=")
		var err error
		switch key {
		case "":
			if option != "" {
				err = errors.New(routeForm)
			}
		case "token":
			r.token = text
			r.tokens, err = database.Secrets(ctx, "token", text)
		case "max-ids":
			r.maxIDs, err = strconv.Atoi(text)
		case "rate":
			r.rate, err = strconv.ParseFloat(text, 64)
		default: // it may hold a secret, and is not shown
			err = errors.New(routeForm)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if r.maxIDs <= 0 {
		return nil, fmt.Errorf("%s: max-ids: want more than 0", name)
	}
	if c.Token != "" && r.token == "" {
		return nil, fmt.Errorf("%s: a service with --token wants one for each route", name)
	}
	return r, nil
}

// isRouteName reports whether a name can be the first part of a path that the service itself does not have.
func isRouteName(name string) bool {
	if name == "" || len(name) > 64 || name[0] == '.' || slices.Contains([]string{"v1", "healthz", "readyz", "metrics", "page", "openapi.json"}, name) {
		return false
	}
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == ""
}

// parseRoutes reads all values of --route.
func (c *running) parseRoutes(ctx context.Context) (all []*route, err error) {
	for _, value := range c.Routes {
		r, err := c.parseRoute(ctx, value)
		if err != nil {
			return nil, fmt.Errorf("--route: %w", err)
		}
		if r.name == c.Namespace || r.name == c.Tag || slices.ContainsFunc(all, func(other *route) bool { return other.name == r.name }) {
			return nil, fmt.Errorf("--route: %q is there twice", r.name)
		}
		all = append(all, r)
	}
	return all, nil
}

// openRoutes takes worker numbers and numbers for the routes. If one fails, it gives all of them back.
func (c *running) openRoutes(ctx context.Context, routes []*route, dbs []Database, logger *slog.Logger) error {
	for _, r := range routes {
		var err error
		if r.tag != "" {
			r.src, err = serveSegments(ctx, dbs, source{r.name, r.tag}, r.maxIDs, c.Timeout, logger)
		} else {
			cfg := sqlsnow.LeaseConfig{Namespace: r.namespace, Datacenter: c.Datacenter, Logger: logger}
			r.src, err = serveLease(ctx, dbs[0], r.name, cfg, snow.Config{OneLane: c.OneLane}, c.Timeout)
		}
		if err == nil {
			r.handler, err = httpsnow.New(r.src.Source, httpsnow.Config{
				Tokens: r.tokens, Hosts: c.Hosts, MaxIDs: r.maxIDs, Rate: r.rate, Timeout: c.Wait, Logger: logger, Ready: c.readiness(r.src),
			})
		}
		if err != nil {
			return fmt.Errorf("--route: %s: %w", r.name, errors.Join(err, c.releaseRoutes(ctx, routes)))
		}
	}
	return nil
}

// releaseRoutes gives back what routes hold.
func (c *running) releaseRoutes(ctx context.Context, routes []*route) error {
	var all []*served
	for _, r := range routes {
		if r.src != nil {
			all = append(all, r.src)
		}
	}
	return c.release(ctx, all...)
}

// routed returns a handler that gives the requests below the path of a route to it, and all others to main.
func routed(main http.Handler, routes []*route) http.Handler {
	if len(routes) == 0 {
		return main
	}
	below := make(map[string]http.Handler)
	for _, r := range routes {
		below[r.name] = http.StripPrefix("/"+r.name, r.handler)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, _, isBelow := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		if h := below[name]; h != nil && isBelow {
			h.ServeHTTP(w, r)
			return
		}
		main.ServeHTTP(w, r)
	})
}
