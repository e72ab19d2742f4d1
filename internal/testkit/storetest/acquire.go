package storetest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/dberrors"
	"github.com/shardsnow/snow/lease"
)

func noNamespace(s *space) {
	_, err := s.try(s.c, lease.Config{})
	_, err2 := s.c.Workers(s.Context(), s.name)
	_, err3 := s.c.Reserve(s.Context(), s.name, "h")
	for _, err := range []error{err, err2, err3, s.c.Fence(s.Context(), s.name)} {
		if !errors.Is(err, dberrors.ErrNoNamespace) || !strings.Contains(err.Error(), "call Init") {
			s.Errorf("got %v, want ErrNoNamespace", err)
		}
	}
}

func initAgain(s *space) {
	s.init(lease.Namespace{})
	h := s.acquire(lease.Config{})
	before := s.row(h.Stats().Worker)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := s.c.Init(s.Context(), s.ns); err != nil {
				s.Error(err)
			}
		})
	}
	all.Wait()
	if after := s.row(h.Stats().Worker); fmt.Sprint(after) != fmt.Sprint(before) {
		s.Errorf("the row was %v, and is now %v", before, after)
	}
}

func initDefaults(s *space) {
	if err := s.c.Init(s.Context(), lease.Namespace{Name: s.name, Layout: snow.DefaultLayout()}); err != nil {
		s.Fatal(err)
	}
	all, err := s.c.Namespaces(s.Context(), s.name)
	want := lease.Namespace{Name: s.name, Layout: snow.DefaultLayout(), Workers: 1024, Window: 10 * time.Minute, PinnedWindow: 30 * time.Second}
	if err != nil || len(all) != 1 || all[0] != want {
		s.Errorf("got %+v and %v, want %+v", all, err, want)
	}
}

func initMismatch(s *space) {
	s.init(lease.Namespace{})
	for _, change := range []func(ns *lease.Namespace){
		func(ns *lease.Namespace) { ns.Workers = 5 },
		func(ns *lease.Namespace) { ns.Window = time.Hour },
		func(ns *lease.Namespace) { ns.PinnedWindow = time.Minute },
		func(ns *lease.Namespace) { ns.Layout = snow.GameServers() },
	} {
		ns := s.ns
		change(&ns)
		if err := s.c.Init(s.Context(), ns); !errors.Is(err, dberrors.ErrNamespaceMismatch) {
			s.Errorf("%+v: got %v, want ErrNamespaceMismatch", ns, err)
		}
	}
	s.init(s.ns)
}

func badNamespaces(s *space) {
	for field, ns := range map[string]lease.Namespace{
		"namespace":  {Name: "a b", Layout: snow.DefaultLayout()},
		"Layout":     {Name: s.name},
		"Workers":    {Name: s.name, Layout: snow.DefaultLayout(), Workers: -1},
		"Window":     {Name: s.name, Layout: snow.DefaultLayout(), Window: 25 * time.Hour},
		"LossWindow": {Name: s.name, Layout: snow.DefaultLayout(), LossWindow: 5 * time.Second},
	} {
		if e := as[*snow.FieldError](s, s.c.Init(s.Context(), ns)); e.Field != field {
			s.Errorf("got %v, want a FieldError of %s", e, field)
		}
	}
}

func namesOfNamespaces(s *space) {
	c := s.c.At(s.name)
	names := []string{s.name, strings.ToUpper(s.name), s.name + "/x", strings.Repeat("n", 64), ".", ".."}
	for i, name := range names {
		ns := lease.Namespace{Name: name, Layout: snow.DefaultLayout(), Workers: i + 1}
		if err := c.Init(s.Context(), ns); err != nil {
			s.Fatalf("%q: %v", name, err)
		}
	}
	for i, name := range names {
		if all, err := c.Workers(s.Context(), name); err != nil || len(all) != i+1 {
			s.Errorf("%q has %d workers, want %d: %v", name, len(all), i+1, err)
		}
	}
	if all, err := c.Namespaces(s.Context()); err != nil || len(all) != len(names) {
		s.Errorf("got %v and %v, want %d namespaces", all, err, len(names))
	}
}

func windowsBegin(s *space) {
	s.init(lease.Namespace{Workers: 1})
	ceiling := s.now() + 1000
	s.set(0, row{"ceiling_tick": ceiling})
	h := s.acquire(lease.Config{})
	if r := s.row(0); r.int("floor_tick") != ceiling || r.int("ceiling_tick") != ceiling+600_000 || r.int("fence") != 1 {
		s.Errorf("the row is %v, and the former ceiling was %d", r, ceiling)
	}
	parts, err := s.ns.Layout.Decompose(s.next(h))
	if err != nil || parts.Time.Before(s.ns.Layout.Epoch().Add(time.Duration(ceiling)*time.Millisecond)) {
		s.Errorf("an id has the time %v, before its window: %v", parts.Time, err)
	}
}

func onlyEligible(s *space) {
	s.init(lease.Namespace{})
	soon := s.now() + 60_000
	held := row{"state": "granted", "owner": "o", "holder": "h", "fence": 1, "ceiling_tick": soon, "renewed_at_ms": time.Now().UnixMilli()}
	s.set(0, held)
	s.set(1, row{"ceiling_tick": soon})
	s.set(2, row{"state": "reserved", "owner": "o", "fence": 1})
	held["ceiling_tick"] = s.now() - 1
	s.set(3, held)
	if h := s.acquire(lease.Config{}); h.Stats().Worker != 3 {
		s.Errorf("got number %d, want 3", h.Stats().Worker)
	}
}

func noneFree(s *space) {
	s.init(lease.Namespace{Workers: 2})
	s.acquire(lease.Config{})
	h := s.acquire(lease.Config{})
	worker := h.Stats().Worker
	ceiling := s.row(worker).int("ceiling_tick") - 1000
	s.set(worker, row{"state": "free", "owner": "", "ceiling_tick": ceiling})
	_, err := s.try(s.c, lease.Config{})
	e := as[*lease.NoWorkerError](s, err)
	want := s.ns.Layout.Epoch().Add(time.Duration(ceiling)*time.Millisecond - 2*time.Second)
	if e.Live != 1 || e.Cooling != 1 || !e.EarliestFree.Equal(want) {
		s.Errorf("got %+v, want one live, one cooling, and %v", e, want)
	}
}

func badConfigs(s *space) {
	s.init(lease.Namespace{})
	number := uint64(4)
	for field, cfg := range map[string]lease.Config{"Worker": {Worker: &number}, "Datacenter": {Datacenter: 1}, "MaxSkew": {MaxSkew: time.Hour}} {
		_, err := s.try(s.c, cfg)
		if e := as[*snow.FieldError](s, err); e.Field != field {
			s.Errorf("got %v, want a FieldError of %s", e, field)
		}
	}
}

func idsCarryNumbers(s *space) {
	s.init(lease.Namespace{})
	h := s.acquire(lease.Config{})
	if parts, err := s.ns.Layout.Decompose(s.next(h)); err != nil || parts.Worker != h.Stats().Worker {
		s.Errorf("%+v: %v, want worker %d", parts, err, h.Stats().Worker)
	}
}

func manyAtOnce(s *space) {
	s.init(lease.Namespace{Workers: 100})
	var all sync.WaitGroup
	numbers := make([]atomic.Int64, 100)
	for range 100 {
		all.Go(func() {
			h, err := s.try(s.c, lease.Config{})
			if err != nil {
				s.Error(err)
				return
			}
			numbers[h.Stats().Worker].Add(1)
		})
	}
	all.Wait()
	for i := range numbers {
		if n := numbers[i].Load(); n != 1 {
			s.Errorf("%d processes got the number %d", n, i)
		}
	}
}

func raceForOne(s *space) {
	s.init(lease.Namespace{Workers: 1})
	var all sync.WaitGroup
	var won atomic.Int64
	for range 8 {
		all.Go(func() {
			if _, err := s.try(s.c, lease.Config{}); err == nil {
				won.Add(1)
			} else if !errors.As(err, new(*lease.NoWorkerError)) {
				s.Error(err)
			}
		})
	}
	all.Wait()
	if won.Load() != 1 {
		s.Errorf("%d processes got the last number", won.Load())
	}
}

func staleAcquire(s *space) {
	s.init(lease.Namespace{Workers: 1})
	once := sync.Once{}
	c := s.c.Wired(s.T, func(send func() error) error {
		once.Do(func() { s.set(0, row{"fence": 2, "ceiling_tick": s.now() + 60_000}) })
		return send()
	})
	if _, err := s.try(c, lease.Config{}); !errors.As(err, new(*lease.NoWorkerError)) {
		s.Errorf("got %v, want a NoWorkerError", err)
	}
	if r := s.row(0); r["state"] != "free" || r.int("fence") != 2 {
		s.Errorf("the row is %v", r)
	}
}

func cancelledAcquire(s *space) {
	s.init(lease.Namespace{})
	ctx, cancel := context.WithCancel(s.Context())
	c := s.c.Wired(s.T, func(send func() error) error { defer cancel(); return send() })
	l, err := c.Acquire(ctx, lease.Config{Namespace: s.name, Logger: slog.New(slog.DiscardHandler)})
	if err == nil { // the answer came before the end of ctx was noticed
		err = l.Close(s.Context())
	} else if errors.Is(err, context.Canceled) {
		err = nil
	}
	if err != nil {
		s.Error(err)
	}
	for worker := range uint64(4) {
		if r := s.row(worker); r["state"] != "free" {
			s.Errorf("worker %d: %v", worker, r)
		}
	}
}

func unknownAcquire(s *space) {
	s.init(lease.Namespace{})
	var writes atomic.Int64
	c := s.c.Wired(s.T, func(send func() error) error {
		err := send()
		if writes.Add(1) == 1 {
			return errors.Join(err, errCut)
		}
		return err
	})
	h, err := s.try(c, lease.Config{})
	if err != nil {
		if !errors.Is(err, errCut) {
			s.Error(err)
		}
		return
	}
	if writes.Load() < 2 {
		s.Error("a lease was acquired by a write whose answer was lost")
	}
	s.next(h)
}

func workersShow(s *space) {
	s.init(lease.Namespace{})
	h := s.acquire(lease.Config{Holder: "pod-1"})
	all, err := s.c.Workers(s.Context(), s.name)
	if err != nil || len(all) != 4 {
		s.Fatalf("%d workers: %v", len(all), err)
	}
	if w := all[h.Stats().Worker]; w.State != lease.Granted || w.Holder != "pod-1" || w.Fence != 1 || !w.Ceiling.Equal(h.Stats().Ceiling) || w.RenewBy.IsZero() {
		s.Errorf("%+v, and the lease says %+v", w, h.Stats())
	}
}

func renewalRaises(s *space) {
	s.init(lease.Namespace{})
	var writes atomic.Int64
	h, err := s.try(s.c.Wired(s.T, func(send func() error) error { writes.Add(1); return send() }), lease.Config{})
	if err != nil {
		s.Fatal(err)
	}
	before := s.row(h.Stats().Worker)
	s.await("tick", func() bool { return s.now() > before.int("ceiling_tick")-600_000 })
	writes.Store(0)
	if err := h.Renew(s.Context()); err != nil || writes.Load() != 1 {
		s.Errorf("%d writes: %v", writes.Load(), err)
	}
	if after := s.row(h.Stats().Worker); after.int("ceiling_tick") <= before.int("ceiling_tick") || after["owner"] != before["owner"] {
		s.Errorf("%v after %v", after, before)
	}
}
