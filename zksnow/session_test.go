//go:build linux

package zksnow

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/protocol"
	"github.com/shardsnow/snow/internal/testkit/leasefaults"
	"github.com/shardsnow/snow/internal/testkit/zkserver"
	"github.com/shardsnow/snow/internal/versioned"
	"github.com/shardsnow/snow/lease"
)

// TestSessionThatIsOver stops a process until the servers have ended its session and another process has its number.
// Then it goes on, and believes in the session, and in its lease.
func TestSessionThatIsOver(t *testing.T) {
	leasefaults.WorkStore(func(dsn string) (leasefaults.Acquire, error) { return openWith(dsn, time.Second) })
	server := zkserver.Start(t, 1)
	dsn := "zookeeper://" + server.Addrs()[0] + "/sessions"
	ns := Namespace{Name: "faults", Layout: leasefaults.Layout(), Workers: 1, Window: 3 * time.Second}
	if err := at(dsn, func(conn *zk.Conn, root string) error { return Init(t.Context(), conn, root, ns) }); err != nil {
		t.Fatal(err)
	}
	fleet := leasefaults.NewFleet(t, dsn, ns.Name)
	first := fleet.Start(1)
	fleet.Begin(first)
	first[0].Stop(t)
	for server.Members[0].Sessions(t) > 0 { // there is no event for it
	}
	second := fleet.Start(1)
	fleet.Begin(second)
	first[0].Resume(t)
	first[0].Await(t, "found out", func(r leasefaults.Report) bool { return r.Displaced > 0 && r.Expired > r.Resumed })
	fleet.Flow(second)
	second[0].Leave(t)
	fleet.Flow(first)
	if r := first[0].Report(); r.Ended > 0 || r.Swaps == 0 {
		t.Errorf("got %+v, want the same lease with another window", r)
	}
	fleet.Judge(false)
}

// A wire is a client whose requests the test sees.
type wire struct {
	client
	before, after func(op string) // may be nil
	lose          func(op string) bool
	stale         func(path string) ([]byte, *zk.Stat, bool)
	session       func() int64
}

func (w *wire) Get(path string) ([]byte, *zk.Stat, error) {
	if w.stale != nil {
		if data, stat, ok := w.stale(path); ok {
			return data, stat, nil
		}
	}
	return w.client.Get(path)
}

func (w *wire) SessionID() int64 {
	if w.session != nil {
		return w.session()
	}
	return w.client.SessionID()
}

func (w *wire) Multi(ops ...any) ([]zk.MultiResponse, error) {
	if w.before != nil {
		w.before("multi")
	}
	results, err := w.client.Multi(ops...)
	if w.after != nil {
		w.after("multi")
	}
	if w.lose != nil && w.lose("multi") {
		return nil, zk.ErrConnectionClosed
	}
	return results, err
}

// acquireOn is Acquire with a client.
func acquireOn(t *testing.T, conn client, root string) (*snow.Generator, *Lease) {
	t.Helper()
	l, err := lease.Acquire(t.Context(), "zksnow", LeaseConfig{Namespace: "shop", Logger: slog.New(slog.DiscardHandler)}, func(ctx context.Context) (lease.Registry, protocol.Params, error) {
		r, err := versioned.Open(ctx, newStoreOf(conn, root), "shop", options)
		if err != nil {
			return nil, protocol.Params{}, err
		}
		return onRegistry{r}, r.Params, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	keys, err := snow.NewGenerator(l, snow.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return keys, l
}

func TestWire(t *testing.T) {
	server := zkserver.Start(t, 1)
	conn := dial(t, server.Addrs()...)
	for name, test := range map[string]func(t *testing.T, conn *zk.Conn, root string){
		"a reply that is lost":       loseReplies,
		"a read that is old":         readOld,
		"a session that is new":      changeSessions,
		"a number that is displaced": displaceLate,
	} {
		t.Run(name, func(t *testing.T) {
			root := "/w/" + tag([]byte(name))
			if err := Init(t.Context(), conn, root, shop); err != nil {
				t.Fatal(err)
			}
			test(t, conn, root)
		})
	}
}

// loseReplies loses the reply to a transaction that was carried out, in each place of a lease's life.
func loseReplies(t *testing.T, conn *zk.Conn, root string) {
	lost := 0
	w := &wire{client: conn, lose: func(string) bool { lost++; return lost == 1 }}
	keys, l := acquireOn(t, w, root) // a take that is lost, which the lease must find in the row and confirm
	first, err := keys.Next(t.Context())
	if err != nil || lost != 2 || l.Stats().Fence != 1 {
		t.Fatalf("after %d transactions: got %v, %v and %+v, want the number that the lost one took", lost, first, err, l.Stats())
	}
	before := l.Stats()
	lost = 0
	var failed *StoreError
	if err := l.Renew(t.Context()); !errors.As(err, &failed) || !errors.Is(err, zk.ErrConnectionClosed) {
		t.Errorf("Renew: got %v, want a StoreError", err)
	}
	if s := l.Stats(); s.Renewals != before.Renewals || !s.Ceiling.Equal(before.Ceiling) {
		t.Errorf("a renewal whose reply was lost: got %+v, want the window as before: %+v", s, before)
	}
	if err := l.Renew(t.Context()); err != nil || l.Stats().Swaps != 0 || !l.Stats().Ceiling.After(before.Ceiling) {
		t.Errorf("the next one: %v, %+v", err, l.Stats())
	}
	lost = 0
	if err := l.Close(t.Context()); err != nil {
		t.Errorf("Close, whose first reply is lost: %v", err)
	}
	all, err := Workers(t.Context(), conn, root, "shop")
	if err != nil || all[before.Worker].State != lease.Free {
		t.Errorf("after Close: got %+v and %v", all, err)
	}
}

// readOld answers reads of a new session with what was there before, as a member that lags behind does.
func readOld(t *testing.T, conn *zk.Conn, root string) {
	s := newStoreOf(conn, root)
	old := put(t, s, versioned.Entry{Key: key}, "old")
	data, stat, err := conn.Get(s.path(key))
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, old, "new")
	asked, reads := int64(0), 0
	w := &wire{
		client: conn,
		// The session ends after the write that precedes the first read.
		session: func() int64 { asked++; return min(asked, 2) },
		stale: func(string) ([]byte, *zk.Stat, bool) {
			reads++
			return data, stat, reads == 1
		},
	}
	got, err := newStoreOf(w, root).Get(t.Context(), key)
	if err != nil || string(got[0].Value) != "new" || reads != 2 {
		t.Errorf("after %d reads: got %q and %v, want the new value", reads, got[0].Value, err)
	}
}

func changeSessions(t *testing.T, conn *zk.Conn, root string) {
	asked := int64(0)
	s := newStoreOf(&wire{client: conn, session: func() int64 { asked++; return asked }}, root)
	if _, err := s.Get(t.Context(), key); !errors.Is(err, errNewSession) {
		t.Errorf("Get: got %v, want %v", err, errNewSession)
	}
	if _, err := s.List(t.Context(), "workers/shop/", "", 9); !errors.Is(err, errNewSession) {
		t.Errorf("List: got %v, want %v", err, errNewSession)
	}
}

// displaceLate gives a number to another process while a renewal of it is under way.
func displaceLate(t *testing.T, conn *zk.Conn, root string) {
	late := false
	var w *wire
	var number uint64
	w = &wire{client: conn, before: func(string) {
		if !late {
			return
		}
		late = false
		s := newStoreOf(conn, root)
		name := "workers/shop/000000000" + string(rune('0'+number))
		e, err := s.Get(t.Context(), name)
		if err != nil {
			t.Error(err)
			return
		}
		row := []byte(`{"state":"granted","owner":"other","fence":2,"floor_tick":1000000000000,"ceiling_tick":1000000600000,"claimed_at_ms":1,"renewed_at_ms":1,"renew_seq":9,"holder":"other"}`)
		if done, err := s.Write(t.Context(), e, []versioned.Entry{{Key: name, Value: row}}); err != nil || !done {
			t.Errorf("give the number away: %v and %v", done, err)
		}
	}}
	keys, l := acquireOn(t, w, root)
	defer l.Close(context.WithoutCancel(t.Context()))
	if _, err := keys.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	number, late = l.Stats().Worker, true
	var lost *LostError
	if err := l.Renew(t.Context()); err != nil && (!errors.As(err, &lost) || lost.Reason != lease.Displaced) {
		t.Errorf("Renew: got %v, want nil or a LostError", err)
	}
	if late || l.Stats().Swaps != 1 {
		t.Errorf("got %+v, want another number", l.Stats())
	}
	all, err := Workers(t.Context(), conn, root, "shop")
	if err != nil || all[number].Holder != "other" || all[number].Fence != 2 {
		t.Errorf("the row of the other process: got %+v and %v", all[number], err)
	}
}

// A mute is a client that answers when the test says so.
type mute struct {
	client
	answer chan struct{}
}

func (m mute) Set(string, []byte, int32) (*zk.Stat, error) { <-m.answer; return &zk.Stat{}, nil }
func (mute) SessionID() int64                              { return 1 }
func (mute) State() zk.State                               { return zk.StateHasSession }
func (mute) Server() string                                { return "here" }

// A call ends with its ctx, and requests that have no answer take no more than inFlight goroutines, which end with the
// answer.
func TestNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := mute{answer: make(chan struct{})}
		s := newStoreOf(m, "/snow")
		for range inFlight + 5 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_, err := s.Now(ctx)
			cancel()
			var failed *StoreError
			if !errors.As(err, &failed) || failed.Server != "here" || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v, want a StoreError", err)
			}
		}
		if len(s.slots) != inFlight {
			t.Errorf("%d requests are under way, want %d", len(s.slots), inFlight)
		}
		close(m.answer)
		synctest.Wait()
		if len(s.slots) != 0 {
			t.Errorf("%d requests are under way after all answers", len(s.slots))
		}
	})
}
