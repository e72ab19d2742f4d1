package page

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/lease"
	"github.com/shardsnow/snow/sqlsnow"
)

// A fakeStore has one namespace with four numbers. It writes down what it was asked.
type fakeStore struct {
	ahead time.Duration // of its clock; negative: it has none
	err   error
	asked []string
}

func (f *fakeStore) Clock(context.Context) (time.Time, error) {
	f.asked = append(f.asked, "clock")
	if f.ahead < 0 {
		return time.Time{}, f.err
	}
	return time.Now().Add(f.ahead), f.err
}

func (f *fakeStore) Namespaces(_ context.Context, names ...string) ([]lease.Namespace, error) {
	f.asked = append(f.asked, "namespaces "+strings.Join(names, " "))
	return []lease.Namespace{{Name: "shop", Layout: snow.DefaultLayout(), Workers: 4, Window: 10 * time.Minute, PinnedWindow: 30 * time.Second}}, f.err
}

func (f *fakeStore) Workers(_ context.Context, namespace string) (all []lease.WorkerInfo, err error) {
	f.asked = append(f.asked, "workers "+namespace)
	now := time.Now().Add(max(f.ahead, 0))
	for i := range uint64(4) {
		all = append(all, lease.WorkerInfo{Worker: i, State: sqlsnow.Free, Leasable: now.Add(-time.Hour)})
	}
	for i, renewed := range []time.Duration{-time.Second, -5 * time.Minute} { // one is held, one is late
		all[i] = lease.WorkerInfo{
			Worker: uint64(i), State: sqlsnow.Granted, Holder: "<i>pod-" + string(rune('a'+i)), Fence: 1, Claimed: now.Add(-time.Hour), Floor: now.Add(-time.Hour),
			Renewed: now.Add(renewed), RenewBy: now.Add(renewed + time.Minute), Ceiling: now.Add(5 * time.Minute), Leasable: now.Add(5 * time.Minute),
		}
	}
	return all, f.err
}

// A store shows its numbers as a database does, and its clock if it has one.
func TestStore(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name          string
		ahead         time.Duration
		wants, absent []string
	}{
		{"no clock", -1, nil, []string{"Its clock", "A clock is wrong"}},
		{"the same clock", 0, []string{"Its clock is <span"}, []string{"A clock is wrong"}},
		{"a clock that is ahead", time.Hour, []string{"ahead of this process&#39;s", "A clock is wrong"}, nil},
	} {
		f := &fakeStore{ahead: tt.ahead}
		h, err := New([]Database{{Name: "etcd", Store: f, Host: "a:2379, b:2379/games"}}, Config{Namespaces: []string{"shop"}, Every: time.Hour, Logger: quiet()})
		if err != nil {
			t.Fatal(err)
		}
		body := ask(t, h, "GET", "/live").Body.String()
		for _, want := range append(tt.wants, ">etcd</bdi>", " on <bdi>a:2379, b:2379/games</bdi>", "1 lease is late:", "&lt;i&gt;pod-a", `data-count="free"><b>2</b>`) {
			if !strings.Contains(body, want) {
				t.Errorf("%s: want %q: %s", tt.name, want, body)
			}
		}
		for _, absent := range append(tt.absent, "Segments", "SELECT", "<i>pod", "has not answered", "dialect") {
			if strings.Contains(body, absent) {
				t.Errorf("%s: there is %q: %s", tt.name, absent, body)
			}
		}
		if want := []string{"clock", "namespaces shop", "workers shop"}; !slices.Equal(f.asked, want) {
			t.Errorf("%s: it was asked for %q, want %q", tt.name, f.asked, want)
		}
	}
}

// A store that fails shows what it had before, and is asked for its namespaces again.
func TestStoreFails(t *testing.T) {
	t.Parallel()
	f := &fakeStore{ahead: -1}
	h, err := New([]Database{{Name: "etcd", Store: f}}, Config{Every: time.Hour, Logger: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	live := func() string {
		h.reader.last.at = time.Time{} // it is old
		return ask(t, h, "GET", "/live").Body.String()
	}
	live()
	if live(); !slices.Equal(f.asked, []string{"clock", "namespaces ", "workers shop", "clock", "workers shop"}) {
		t.Errorf("it was asked for %q", f.asked)
	}
	f.err, f.asked = errors.New("secret"), nil
	if body := live(); !strings.Contains(body, "has not answered since") || !strings.Contains(body, "pod-a") || strings.Contains(body, "secret") {
		t.Error(body)
	}
	f.err, f.asked = nil, nil
	if body := live(); strings.Contains(body, "has not answered") || !slices.Contains(f.asked, "namespaces ") {
		t.Errorf("it was asked for %q: %s", f.asked, body)
	}
}

// A clock that a store does not have is not compared with others.
func TestStoreSpread(t *testing.T) {
	t.Parallel()
	now := time.Now()
	with, without := state{name: "a", at: now, now: now.Add(time.Hour)}, state{name: "b", at: now, now: now, clockless: true}
	if v := viewOf(snapshot{at: now, databases: []state{with, without}}, time.Second, filter{}, nil); v.Spread != "" {
		t.Errorf("one clock is %s apart", v.Spread)
	}
}
