package lease

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/protocol"
	"github.com/shardsnow/snow/internal/versioned"
)

// onMemory is a registry in memory, whose requests fail as long as down has an error.
type onMemory struct {
	*versioned.Registry
	down atomic.Pointer[error]
}

func (m *onMemory) Do(ctx context.Context, q protocol.Request) protocol.Reply {
	if down := m.down.Load(); down != nil {
		return protocol.Reply{Err: *down, Failure: protocol.Unclear}
	}
	return m.Registry.Do(ctx, q)
}

func (m *onMemory) Explain(_ string, err error) error { return err }

func (m *onMemory) IsBusy(err error) bool { return errors.Is(err, versioned.ErrBusy) }

// acquired calls do with a lease in virtual time.
func acquired(t *testing.T, cfg Config, do func(t *testing.T, l *Lease, r *onMemory)) {
	synctest.Test(t, func(t *testing.T) {
		layout, err := snow.NewLayout(time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC), time.Millisecond, snow.Bits{Timestamp: 41, Worker: 10, Sequence: 12})
		if err != nil {
			t.Fatal(err)
		}
		want, err := (Namespace{Name: "shop", Layout: layout}).Params()
		if err != nil {
			t.Fatal(err)
		}
		s := &versioned.Memory{}
		if err := versioned.Create(t.Context(), s, want, versioned.Options{}); err != nil {
			t.Fatal(err)
		}
		r := &onMemory{}
		cfg.Namespace, cfg.Logger = "shop", slog.New(slog.DiscardHandler)
		l, err := Acquire(t.Context(), "leases", cfg, func(ctx context.Context) (_ Registry, _ protocol.Params, err error) {
			if r.Registry, err = versioned.Open(ctx, s, "shop", versioned.Options{OwnClock: true}); err != nil {
				return nil, protocol.Params{}, err
			}
			return r, r.Params, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := l.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}()
		do(t, l, r)
	})
}

// Nothing is left of a lease while its ids wait for running time that had to go back.
func TestLeftWhileIDsWait(t *testing.T) {
	acquired(t, Config{}, func(t *testing.T, l *Lease, _ *onMemory) {
		if left := l.Stats().Left; left <= 0 {
			t.Errorf("at first: %v is left", left)
		}
		l.mu.Lock()
		l.resumes = l.grant.Now().Add(time.Second)
		l.mu.Unlock()
		if left := l.Stats().Left; left != 0 {
			t.Errorf("while ids wait: %v is left", left)
		}
		time.Sleep(time.Second)
		if left := l.Stats().Left; left <= 0 {
			t.Errorf("afterwards: %v is left", left)
		}
	})
}

// Ids go on to the end of the window without the store, and again with it.
func TestAnOutage(t *testing.T) {
	acquired(t, Config{}, func(t *testing.T, l *Lease, r *onMemory) {
		keys, err := snow.NewGenerator(l, snow.Config{})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		down := errors.New("no quorum")
		r.down.Store(&down)
		time.Sleep(9 * time.Minute)
		if _, err := keys.Next(t.Context()); err != nil {
			t.Errorf("within the window: %v", err)
		}
		time.Sleep(2 * time.Minute)
		if _, err := keys.Next(t.Context()); !errors.Is(err, snow.ErrLeaseExpired) || !errors.Is(err, down) {
			t.Errorf("after the window: %v", err)
		}
		r.down.Store(nil)
		if err := l.Renew(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := keys.Next(t.Context()); err != nil {
			t.Errorf("after the outage: %v", err)
		}
		if s := l.Stats(); s.Swaps != 0 || s.Renewals < 100 || !s.Ready() {
			t.Errorf("%+v", s)
		}
	})
}
