//go:build unix

package etcdtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/etcdsnow"
	"github.com/shardsnow/snow/lease"
)

// A wire is what stands between a client and the cluster: send carries a write out.
type wire struct {
	clientv3.KV
	write func(send func() error) error
}

func (w *wire) Txn(ctx context.Context) clientv3.Txn { return &wireTxn{Txn: w.KV.Txn(ctx), wire: w} }

type wireTxn struct {
	clientv3.Txn
	wire   *wire
	writes bool
}

func (t *wireTxn) If(c ...clientv3.Cmp) clientv3.Txn {
	t.Txn, t.writes = t.Txn.If(c...), true
	return t
}

func (t *wireTxn) Then(ops ...clientv3.Op) clientv3.Txn {
	t.Txn = t.Txn.Then(ops...)
	return t
}

func (t *wireTxn) Commit() (reply *clientv3.TxnResponse, err error) {
	send := func() error {
		reply, err = t.Txn.Commit()
		return err
	}
	if !t.writes {
		return reply, send()
	}
	if err := t.wire.write(send); err != nil {
		return nil, err
	}
	return reply, nil
}

// A space is a namespace of four numbers in a cluster that all clauses share.
type space struct {
	*testing.T
	c    *Cluster
	name string
	ns   etcdsnow.Namespace
}

func (s *space) init(ns etcdsnow.Namespace) {
	s.Helper()
	ns.Name = s.name
	if ns.Layout == (snow.Layout{}) {
		ns.Layout = snow.DefaultLayout()
	}
	if ns.Workers == 0 {
		ns.Workers = 4
	}
	if err := etcdsnow.Init(s.Context(), s.c.Client, "", ns); err != nil {
		s.Fatal(err)
	}
	s.ns = ns
}

// wired returns a client whose writes go through write.
func (s *space) wired(write func(send func() error) error) *clientv3.Client {
	s.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: s.c.Client.Endpoints(), Logger: zap.NewNop()})
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { c.Close() })
	c.KV = &wire{c.KV, write}
	return c
}

// A holder is a lease and its generator.
type holder struct {
	*etcdsnow.Lease
	keys *snow.Generator
}

func (s *space) try(c *clientv3.Client, cfg etcdsnow.LeaseConfig) (*holder, error) {
	cfg.Namespace, cfg.Logger = s.name, slog.New(slog.DiscardHandler)
	l, err := etcdsnow.Acquire(s.Context(), c, "", cfg)
	if err != nil {
		return nil, err
	}
	s.Cleanup(func() { _ = l.Close(context.Background()) })
	keys, err := snow.NewGenerator(l, snow.Config{})
	return &holder{l, keys}, err
}

func (s *space) acquire(cfg etcdsnow.LeaseConfig) *holder {
	s.Helper()
	h, err := s.try(s.c.Client, cfg)
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
	return fmt.Sprintf("snow/workers/%s/%010d", s.name, worker)
}

type row map[string]any

func (r row) int(column string) int64 { return int64(r[column].(float64)) }

func (s *space) row(worker uint64) row {
	s.Helper()
	reply, err := s.c.Client.Get(s.Context(), s.key(worker))
	if err != nil || len(reply.Kvs) != 1 {
		s.Fatalf("worker %d: %v", worker, err)
	}
	var r row
	if err := json.Unmarshal(reply.Kvs[0].Value, &r); err != nil {
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
		_, err = s.c.Client.Put(s.Context(), s.key(worker), string(text))
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

// The clauses of sqlsnow/sqlsnowtest that are about leases, and not about tables, sessions, transactions or a LossWindow.
func TestContract(t *testing.T) {
	c := Start(t)
	for name, check := range map[string]func(s *space){
		"3": noNamespace, "4": initAgain, "5": initDefaults, "6": initMismatch, "7": badNamespaces, "8 9": namesOfNamespaces,
		"13": windowsBegin, "14": onlyEligible, "15": noneFree, "16": badConfigs, "17": idsCarryNumbers, "18": manyAtOnce, "19": raceForOne,
		"20": staleAcquire, "21": cancelledAcquire, "22": unknownAcquire, "24": workersShow, "25": renewalRaises,
		"26 27": displaced, "28": regressed, "30": reservedMeanwhile, "31": vanished, "33": unknownRenewal, "34": lateRenewal, "35": lateRelease,
		"39 42": closeFrees, "40": closeUnused, "45 46": pinned, "48": pinnedLost, "59": fenced, "62 63": reserveAtOnce, "64": unknownReserve,
		"70": closeLost, "71": closeTwice, "74": madeAnew, "75": reclaims,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(&space{T: t, c: c, name: "clause-" + strings.ReplaceAll(name, " ", "-")})
		})
	}
}

func noNamespace(s *space) {
	_, err := s.try(s.c.Client, etcdsnow.LeaseConfig{})
	_, err2 := etcdsnow.Workers(s.Context(), s.c.Client, "", s.name)
	_, err3 := etcdsnow.Reserve(s.Context(), s.c.Client, "", s.name, "h")
	for _, err := range []error{err, err2, err3, etcdsnow.Fence(s.Context(), s.c.Client, "", s.name)} {
		if !errors.Is(err, etcdsnow.ErrNoNamespace) || !strings.Contains(err.Error(), "call Init") {
			s.Errorf("got %v, want ErrNoNamespace", err)
		}
	}
}

func initAgain(s *space) {
	s.init(etcdsnow.Namespace{})
	h := s.acquire(etcdsnow.LeaseConfig{})
	before := s.row(h.Stats().Worker)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := etcdsnow.Init(s.Context(), s.c.Client, "", s.ns); err != nil {
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
	if err := etcdsnow.Init(s.Context(), s.c.Client, "", etcdsnow.Namespace{Name: s.name, Layout: snow.DefaultLayout()}); err != nil {
		s.Fatal(err)
	}
	all, err := etcdsnow.Namespaces(s.Context(), s.c.Client, "", s.name)
	want := etcdsnow.Namespace{Name: s.name, Layout: snow.DefaultLayout(), Workers: 1024, Window: 10 * time.Minute, PinnedWindow: 30 * time.Second}
	if err != nil || len(all) != 1 || all[0] != want {
		s.Errorf("got %+v and %v, want %+v", all, err, want)
	}
}

func initMismatch(s *space) {
	s.init(etcdsnow.Namespace{})
	for _, change := range []func(ns *etcdsnow.Namespace){
		func(ns *etcdsnow.Namespace) { ns.Workers = 5 },
		func(ns *etcdsnow.Namespace) { ns.Window = time.Hour },
		func(ns *etcdsnow.Namespace) { ns.PinnedWindow = time.Minute },
		func(ns *etcdsnow.Namespace) { ns.Layout = snow.GameServers() },
	} {
		ns := s.ns
		change(&ns)
		if err := etcdsnow.Init(s.Context(), s.c.Client, "", ns); !errors.Is(err, etcdsnow.ErrNamespaceMismatch) {
			s.Errorf("%+v: got %v, want ErrNamespaceMismatch", ns, err)
		}
	}
	s.init(s.ns)
}

func badNamespaces(s *space) {
	for field, ns := range map[string]etcdsnow.Namespace{
		"namespace":  {Name: "a b", Layout: snow.DefaultLayout()},
		"Layout":     {Name: s.name},
		"Workers":    {Name: s.name, Layout: snow.DefaultLayout(), Workers: -1},
		"Window":     {Name: s.name, Layout: snow.DefaultLayout(), Window: 25 * time.Hour},
		"LossWindow": {Name: s.name, Layout: snow.DefaultLayout(), LossWindow: 5 * time.Second},
	} {
		if e := as[*snow.FieldError](s, etcdsnow.Init(s.Context(), s.c.Client, "", ns)); e.Field != field {
			s.Errorf("got %v, want a FieldError of %s", e, field)
		}
	}
	if e := as[*snow.FieldError](s, etcdsnow.Init(s.Context(), s.c.Client, "a\x00", s.ns)); e.Field != "prefix" {
		s.Errorf("got %v, want a FieldError of the prefix", e)
	}
	if e := as[*snow.FieldError](s, etcdsnow.Init(s.Context(), nil, "", s.ns)); e.Field != "client" {
		s.Errorf("got %v, want a FieldError of the client", e)
	}
}

func namesOfNamespaces(s *space) {
	names := []string{s.name, strings.ToUpper(s.name), s.name + "/x", strings.Repeat("n", 64), ".", ".."}
	for i, name := range names {
		ns := etcdsnow.Namespace{Name: name, Layout: snow.DefaultLayout(), Workers: i + 1}
		if err := etcdsnow.Init(s.Context(), s.c.Client, s.name, ns); err != nil {
			s.Fatalf("%q: %v", name, err)
		}
	}
	for i, name := range names {
		if all, err := etcdsnow.Workers(s.Context(), s.c.Client, s.name+"/", name); err != nil || len(all) != i+1 {
			s.Errorf("%q has %d workers, want %d: %v", name, len(all), i+1, err)
		}
	}
	if all, err := etcdsnow.Namespaces(s.Context(), s.c.Client, s.name); err != nil || len(all) != len(names) {
		s.Errorf("got %v and %v, want %d namespaces", all, err, len(names))
	}
}

func windowsBegin(s *space) {
	s.init(etcdsnow.Namespace{Workers: 1})
	ceiling := s.now() + 1000
	s.set(0, row{"ceiling_tick": ceiling})
	h := s.acquire(etcdsnow.LeaseConfig{})
	if r := s.row(0); r.int("floor_tick") != ceiling || r.int("ceiling_tick") != ceiling+600_000 || r.int("fence") != 1 {
		s.Errorf("the row is %v, and the former ceiling was %d", r, ceiling)
	}
	parts, err := s.ns.Layout.Decompose(s.next(h))
	if err != nil || parts.Time.Before(s.ns.Layout.Epoch().Add(time.Duration(ceiling)*time.Millisecond)) {
		s.Errorf("an id has the time %v, before its window: %v", parts.Time, err)
	}
}

func onlyEligible(s *space) {
	s.init(etcdsnow.Namespace{})
	soon := s.now() + 60_000
	held := row{"state": "granted", "owner": "o", "holder": "h", "fence": 1, "ceiling_tick": soon, "renewed_at_ms": time.Now().UnixMilli()}
	s.set(0, held)
	s.set(1, row{"ceiling_tick": soon})
	s.set(2, row{"state": "reserved", "owner": "o", "fence": 1})
	held["ceiling_tick"] = s.now() - 1
	s.set(3, held)
	if h := s.acquire(etcdsnow.LeaseConfig{}); h.Stats().Worker != 3 {
		s.Errorf("got number %d, want 3", h.Stats().Worker)
	}
}

func noneFree(s *space) {
	s.init(etcdsnow.Namespace{Workers: 2})
	s.acquire(etcdsnow.LeaseConfig{})
	h := s.acquire(etcdsnow.LeaseConfig{})
	worker := h.Stats().Worker
	ceiling := s.row(worker).int("ceiling_tick") - 1000
	s.set(worker, row{"state": "free", "owner": "", "ceiling_tick": ceiling})
	_, err := s.try(s.c.Client, etcdsnow.LeaseConfig{})
	e := as[*etcdsnow.NoWorkerError](s, err)
	want := s.ns.Layout.Epoch().Add(time.Duration(ceiling)*time.Millisecond - 2*time.Second)
	if e.Live != 1 || e.Cooling != 1 || !e.EarliestFree.Equal(want) {
		s.Errorf("got %+v, want one live, one cooling, and %v", e, want)
	}
}

func badConfigs(s *space) {
	s.init(etcdsnow.Namespace{})
	number := uint64(4)
	for field, cfg := range map[string]etcdsnow.LeaseConfig{"Worker": {Worker: &number}, "Datacenter": {Datacenter: 1}, "MaxSkew": {MaxSkew: time.Hour}} {
		_, err := s.try(s.c.Client, cfg)
		if e := as[*snow.FieldError](s, err); e.Field != field {
			s.Errorf("got %v, want a FieldError of %s", e, field)
		}
	}
}

func idsCarryNumbers(s *space) {
	s.init(etcdsnow.Namespace{})
	h := s.acquire(etcdsnow.LeaseConfig{})
	if parts, err := s.ns.Layout.Decompose(s.next(h)); err != nil || parts.Worker != h.Stats().Worker {
		s.Errorf("%+v: %v, want worker %d", parts, err, h.Stats().Worker)
	}
}

func manyAtOnce(s *space) {
	s.init(etcdsnow.Namespace{Workers: 100})
	var all sync.WaitGroup
	numbers := make([]atomic.Int64, 100)
	for range 100 {
		all.Go(func() {
			h, err := s.try(s.c.Client, etcdsnow.LeaseConfig{})
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
	s.init(etcdsnow.Namespace{Workers: 1})
	var all sync.WaitGroup
	var won atomic.Int64
	for range 8 {
		all.Go(func() {
			if _, err := s.try(s.c.Client, etcdsnow.LeaseConfig{}); err == nil {
				won.Add(1)
			} else if !errors.As(err, new(*etcdsnow.NoWorkerError)) {
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
	s.init(etcdsnow.Namespace{Workers: 1})
	once := sync.Once{}
	c := s.wired(func(send func() error) error {
		once.Do(func() { s.set(0, row{"fence": 2, "ceiling_tick": s.now() + 60_000}) })
		return send()
	})
	if _, err := s.try(c, etcdsnow.LeaseConfig{}); !errors.As(err, new(*etcdsnow.NoWorkerError)) {
		s.Errorf("got %v, want a NoWorkerError", err)
	}
	if r := s.row(0); r["state"] != "free" || r.int("fence") != 2 {
		s.Errorf("the row is %v", r)
	}
}

func cancelledAcquire(s *space) {
	s.init(etcdsnow.Namespace{})
	ctx, cancel := context.WithCancel(s.Context())
	c := s.wired(func(send func() error) error { defer cancel(); return send() })
	l, err := etcdsnow.Acquire(ctx, c, "", etcdsnow.LeaseConfig{Namespace: s.name, Logger: slog.New(slog.DiscardHandler)})
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
	s.init(etcdsnow.Namespace{})
	var writes atomic.Int64
	c := s.wired(func(send func() error) error {
		err := send()
		if writes.Add(1) == 1 {
			return errors.Join(err, errCut)
		}
		return err
	})
	h, err := s.try(c, etcdsnow.LeaseConfig{})
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
	s.init(etcdsnow.Namespace{})
	h := s.acquire(etcdsnow.LeaseConfig{Holder: "pod-1"})
	all, err := etcdsnow.Workers(s.Context(), s.c.Client, "", s.name)
	if err != nil || len(all) != 4 {
		s.Fatalf("%d workers: %v", len(all), err)
	}
	if w := all[h.Stats().Worker]; w.State != lease.Granted || w.Holder != "pod-1" || w.Fence != 1 || !w.Ceiling.Equal(h.Stats().Ceiling) || w.RenewBy.IsZero() {
		s.Errorf("%+v, and the lease says %+v", w, h.Stats())
	}
}

func renewalRaises(s *space) {
	s.init(etcdsnow.Namespace{})
	var writes atomic.Int64
	h, err := s.try(s.wired(func(send func() error) error { writes.Add(1); return send() }), etcdsnow.LeaseConfig{})
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
