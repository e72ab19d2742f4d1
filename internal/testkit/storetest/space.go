package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/lease"
)

// A space is a namespace of four numbers in a cluster that all clauses share.
type space struct {
	*testing.T
	c    Client
	name string
	ns   lease.Namespace
}

func (s *space) init(ns lease.Namespace) {
	s.Helper()
	ns.Name = s.name
	if ns.Layout == (snow.Layout{}) {
		ns.Layout = snow.DefaultLayout()
	}
	if ns.Workers == 0 {
		ns.Workers = 4
	}
	if err := s.c.Init(s.Context(), ns); err != nil {
		s.Fatal(err)
	}
	s.ns = ns
}

// A holder is a lease and its generator.
type holder struct {
	*lease.Lease
	keys *snow.Generator
}

func (s *space) try(c Client, cfg lease.Config) (*holder, error) {
	cfg.Namespace, cfg.Logger = s.name, slog.New(slog.DiscardHandler)
	l, err := c.Acquire(s.Context(), cfg)
	if err != nil {
		return nil, err
	}
	s.Cleanup(func() { _ = l.Close(context.Background()) })
	keys, err := snow.NewGenerator(l, snow.Config{})
	return &holder{l, keys}, err
}

func (s *space) acquire(cfg lease.Config) *holder {
	s.Helper()
	h, err := s.try(s.c, cfg)
	if err != nil {
		s.Fatal(err)
	}
	return h
}

func (s *space) next(h *holder) snow.ID {
	s.Helper()
	id, err := h.keys.Next(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	return id
}

func (s *space) key(worker uint64) string {
	return fmt.Sprintf("workers/%s/%010d", s.name, worker)
}

type row map[string]any

func (r row) int(column string) int64 { return int64(r[column].(float64)) }

func (s *space) row(worker uint64) row {
	s.Helper()
	value, err := s.c.Get(s.Context(), s.key(worker))
	if err != nil {
		s.Fatalf("worker %d: %v", worker, err)
	}
	var r row
	if err := json.Unmarshal(value, &r); err != nil {
		s.Fatal(err)
	}
	return r
}

// set changes columns of a row.
func (s *space) set(worker uint64, columns row) {
	s.Helper()
	r := s.row(worker)
	for name, value := range columns {
		r[name] = value
	}
	s.restore(worker, r)
}

// restore writes a row.
func (s *space) restore(worker uint64, r row) {
	s.Helper()
	text, err := json.Marshal(r)
	if err == nil {
		err = s.c.Put(s.Context(), s.key(worker), text)
	}
	if err != nil {
		s.Fatal(err)
	}
}

// give gives a number to another process, whose window begins when the former one ends.
func (s *space) give(worker uint64) {
	s.Helper()
	r := s.row(worker)
	s.set(worker, row{
		"owner": "another", "holder": "another", "fence": r.int("fence") + 1, "floor_tick": r.int("ceiling_tick"), "ceiling_tick": r.int("ceiling_tick") + 600_000,
	})
}

func (s *space) now() int64 { return int64(time.Since(s.ns.Layout.Epoch()) / s.ns.Layout.Tick()) }

func as[E error](s *space, err error) (target E) {
	s.Helper()
	if !errors.As(err, &target) {
		s.Fatalf("got %v, want a %T", err, target)
	}
	return target
}

func (s *space) await(what string, done func() bool) {
	s.Helper()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for !done() {
		select {
		case <-look.C:
		case <-s.Context().Done():
			s.Fatalf("no %s", what)
		}
	}
}

var errCut = errors.New("cut")
