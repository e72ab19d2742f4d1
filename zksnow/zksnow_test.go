//go:build linux

package zksnow

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/testkit/zkserver"
)

var quiet = slog.New(slog.DiscardHandler)

func TestLease(t *testing.T) {
	server := zkserver.Start(t, 1)
	conn := dial(t, server.Addrs()...)
	ctx := t.Context()
	ns := Namespace{Name: "shop/eu", Layout: snow.DefaultLayout(), Workers: 64}
	keys, l, err := Open(ctx, conn, "", ns, LeaseConfig{Logger: quiet, Holder: "one", Generator: snow.Config{MaxAhead: 7 * time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	var field *snow.FieldError
	if _, err := snow.NewGenerator(l, snow.Config{}); !errors.As(err, &field) || field.Field != "MaxAhead" {
		t.Errorf("another generator with other settings: got %v, want a FieldError of MaxAhead", err)
	}
	id, err := keys.Next(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Renew(ctx); err != nil {
		t.Fatal(err)
	}
	all, err := Workers(ctx, conn, DefaultRoot, "shop/eu")
	if err != nil || len(all) != 64 {
		t.Fatalf("Workers: %d and %v", len(all), err)
	}
	if w := all[l.Stats().Worker]; w.Holder != "one" || w.Fence != 1 || w.Ceiling.Before(l.Stats().Ceiling) || ns.Layout.Time(id).After(w.Ceiling) {
		t.Errorf("got %+v for a lease with %+v", w, l.Stats())
	}
	spaces, err := Namespaces(ctx, conn, "")
	if err != nil || len(spaces) != 1 || spaces[0].Name != ns.Name || spaces[0].Window != 10*time.Minute {
		t.Errorf("Namespaces: got %+v and %v", spaces, err)
	}
	at, err := Clock(ctx, conn, "")
	if err != nil || time.Since(at).Abs() > 30*time.Second {
		t.Errorf("Clock: got %v and %v", at, err)
	}
	for range 2 {
		r, err := Reserve(ctx, conn, "", ns.Name, "old rows")
		if err != nil || r.Worker != 63 && l.Stats().Worker != 63 {
			t.Errorf("Reserve: got %+v and %v, want the highest number that was never leased", r, err)
		}
		again, err := Reservable(ctx, conn, "", ns.Name, "old rows")
		if err != nil || again != r {
			t.Errorf("Reservable: got %+v and %v, want %+v", again, err, r)
		}
		if again, err = Reclaim(ctx, conn, "", ns.Name, "old rows", r.Worker); err != nil || again != r {
			t.Errorf("Reclaim: got %+v and %v, want %+v", again, err, r)
		}
	}
	var held *HeldError
	if _, err := Reclaim(ctx, conn, "", ns.Name, "others", l.Stats().Worker); !errors.As(err, &held) || held.Holder != "one" {
		t.Errorf("Reclaim of a number that is leased: %v", err)
	}
	if err := Fence(ctx, conn, "", ns.Name); err != nil {
		t.Fatal(err)
	}
	if err := l.Renew(ctx); err != nil {
		t.Errorf("Renew after Fence, long before the end of the window: %v", err)
	}
	var none *NoWorkerError
	if _, err := Acquire(ctx, conn, "", LeaseConfig{Namespace: ns.Name, Logger: quiet}); !errors.As(err, &none) || none.EarliestFree.IsZero() {
		t.Errorf("Acquire after Fence: %v", err)
	}
	if err := l.Close(ctx); err != nil {
		t.Error(err)
	}
	if _, err := keys.Next(ctx); !errors.Is(err, snow.ErrLeaseExpired) {
		t.Errorf("Next after Close: %v", err)
	}
}

// A Conn that was never connected, to a member that does not exist.
func TestWrongEndpoint(t *testing.T) {
	conn := dial(t, "127.0.0.1:1")
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	_, _, err := Open(ctx, conn, "", Namespace{Name: "shop", Layout: snow.DefaultLayout()}, LeaseConfig{Logger: quiet})
	var failed *StoreError
	if !errors.As(err, &failed) || failed.State == zk.StateHasSession {
		t.Fatalf("got %v, want a StoreError without a session", err)
	}
	t.Log(err)
}
