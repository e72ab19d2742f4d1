package sqlsnow

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/sqlsnow/internal/fakedb"
)

// A scripted database speaks MySQL: it knows one namespace whose worker 7 is
// always free. Its clock is the test's, which synctest moves.
type scripted struct {
	mu     sync.Mutex
	layout snow.Layout
	asked  []string
	down   error          // what it answers instead, if anything
	row    []driver.Value // what it has for worker 7
	refuse bool           // changes no row

	autocommit string        // "1" if empty
	ahead      time.Duration // of its clock
	before     func()        // each reply
	window     time.Duration // 10 minutes if zero
	slow       time.Duration // what a statement takes
}

func (s *scripted) answer(query string) ([]driver.Value, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	op := strings.Fields(query)[0]
	now := time.Now().Add(s.ahead).UnixMicro()
	switch {
	case op == "SET": // the check of the session before a write
		if s.down != nil && s.before != nil {
			s.before()
		}
		return nil, s.down
	case op == "SELECT" && strings.Contains(query, "@@global.read_only"):
		return []driver.Value{now, "0", cmp.Or(s.autocommit, "1"), "1", "0", "1", "1", "0", "1", "fsync", "1", "0", "shop", "0", "", ""}, nil
	case strings.Contains(query, "registry_uuid, workers"):
		op = "NAMESPACE"
	case strings.Contains(query, "SELECT worker_id"):
		op = "FREE"
	}
	s.asked = append(s.asked, op)
	if s.before != nil {
		s.before()
	}
	switch {
	case s.down != nil:
		return nil, s.down
	case op == "NAMESPACE":
		window := cmp.Or(s.window, 10*time.Minute).Milliseconds()
		return []driver.Value{s.layout.String(), "uuid", s.layout.Workers(), int64(0), int64(0), int64(0), window, window, window, int64(0), int64(30_000), int64(0)}, nil
	case op == "FREE":
		return []driver.Value{int64(7), int64(3), int64(0)}, nil
	case op == "SELECT":
		if s.row == nil {
			return []driver.Value{"uuid", nil, nil, nil, nil, nil, nil, nil, now}, nil
		}
		return append([]driver.Value{"uuid"}, s.row...), nil
	case s.refuse:
		return nil, nil
	}
	return []driver.Value{now}, nil
}

func (s *scripted) count(op string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, asked := range s.asked {
		if asked == op || op == "" {
			n++
		}
	}
	return n
}

func (s *scripted) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// open opens the database. A statement takes as long as the test says.
func (s *scripted) open() *sql.DB {
	answer := func(ctx context.Context, query string) ([]driver.Value, error) {
		s.mu.Lock()
		slow := s.slow
		s.mu.Unlock()
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(slow):
			return s.answer(query)
		}
	}
	return fakedb.Open(answer, answer)
}

// inVirtualTime runs a test with a lease of worker 7, which is closed at its end.
func inVirtualTime(t *testing.T, test func(t *testing.T, s *scripted, lease *Lease, keys *snow.Generator)) {
	t.Helper()
	withWindow(t, 10*time.Minute, test)
}

func withWindow(t *testing.T, window time.Duration, test func(t *testing.T, s *scripted, lease *Lease, keys *snow.Generator)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l, err := snow.NewLayout(time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC), time.Millisecond, snow.Bits{Timestamp: 41, Worker: 10, Sequence: 12})
		if err != nil {
			t.Fatal(err)
		}
		s := &scripted{layout: l, window: window}
		db := s.open()
		defer db.Close()
		lease, err := Acquire(t.Context(), db, MySQL, LeaseConfig{Namespace: "shop", Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		keys, err := snow.NewGenerator(lease, snow.Config{})
		if err != nil {
			t.Fatal(err)
		}
		test(t, s, lease, keys)
		if err := lease.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if err := lease.Err(); !errors.Is(err, ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	})
}

// A holder sends one statement for a renewal, about every 30 s, and none for ids.
func TestOneStatementForARenewal(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, s *scripted, lease *Lease, keys *snow.Generator) {
		acquired := s.count("")
		const hours = 10
		for range hours * 60 {
			time.Sleep(time.Minute)
			if _, err := keys.Next(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		sent := s.count("") - acquired
		if updates := s.count("UPDATE") - 1; updates != sent || sent < hours*100 || sent > hours*150 {
			t.Errorf("%d statements in %d hours, %d of them updates, want 100 to 150 an hour and all of them updates", sent, hours, updates)
		}
		st := lease.Stats()
		if st.Renewals != uint64(sent) || st.Failures != 0 || st.Err != nil || st.Worker != 7 || st.Fence != 4 || st.Left < 9*time.Minute {
			t.Errorf("stats %+v", st)
		}
	})
}

// Ids flow for a window without the database, then there is an error, and when
// the database is back they flow again.
func TestOutageLongerThanTheWindow(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, s *scripted, lease *Lease, keys *snow.Generator) {
		down := errors.New("no route")
		s.set(func() { s.down = down })
		var last snow.ID
		var flowed, refused int
		for range 12 * 60 {
			time.Sleep(time.Second)
			id, err := keys.Next(t.Context())
			switch {
			case errors.Is(err, snow.ErrLeaseExpired):
				refused++
			case err != nil || id <= last || refused > 0:
				t.Fatalf("id %d after %d and %d refusals: %v", id, last, refused, err)
			default:
				flowed++
				last = id
			}
		}
		if flowed < 9*60 || flowed > 10*60 || refused == 0 {
			t.Errorf("ids flowed for %d s and were refused for %d s, want about the 600 s of the window", flowed, refused)
		}
		st := lease.Stats()
		var failed *DatabaseError
		if !errors.As(st.Err, &failed) || !errors.Is(st.Err, down) || st.Failures == 0 || st.Left != 0 {
			t.Errorf("stats during the outage: %+v", st)
		}
		if n := s.count("UPDATE"); n > 12*60*2 {
			t.Errorf("%d statements in the outage", n)
		}
		select {
		case <-lease.Done():
			t.Error("the lease ended, though there is a way back")
		default:
		}
		s.set(func() { s.down = nil })
		time.Sleep(3 * time.Second)
		if id, err := keys.Next(t.Context()); err != nil || id <= last {
			t.Errorf("after the outage: id %d after %d, %v", id, last, err)
		}
	})
}

// Renewals succeed even if the database becomes slower than their timeout.
func TestSlowDatabase(t *testing.T) {
	withWindow(t, 6*time.Second, func(t *testing.T, s *scripted, lease *Lease, keys *snow.Generator) {
		s.set(func() { s.slow = 700 * time.Millisecond })
		for range 600 {
			time.Sleep(time.Second)
			if _, err := keys.Next(t.Context()); err != nil {
				t.Fatalf("%v, %+v", err, lease.Stats())
			}
		}
		if st := lease.Stats(); st.Renewals < 60 || st.Failures == 0 {
			t.Errorf("stats %+v, want renewals, and some that took too long", st)
		}
		s.set(func() { s.slow = 0 })
	})
}

// A pinned number that is another process's now ends the lease.
func TestPinnedNumberIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := snow.NewLayout(time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC), time.Millisecond, snow.Bits{Timestamp: 41, Worker: 10, Sequence: 12})
		if err != nil {
			t.Fatal(err)
		}
		s := &scripted{layout: l}
		db := s.open()
		defer db.Close()
		seven := uint64(7)
		lease, err := Acquire(t.Context(), db, MySQL, LeaseConfig{Namespace: "shop", Worker: &seven, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		if left := lease.Stats().Left; left > 30*time.Second || left < 29*time.Second {
			t.Errorf("the window of a pinned number is %v, want 30 s", left)
		}
		s.set(func() {
			s.refuse = true
			s.row = []driver.Value{int64(Granted), "somebody", int64(5), int64(1 << 40), int64(1 << 41), int64(0), "pod 2", time.Now().UnixMicro()}
		})
		<-lease.Done()
		var lost *LostError
		if err := lease.Err(); !errors.As(err, &lost) || lost.Reason != Displaced || lost.Worker != 7 || lost.Holder != "pod 2" {
			t.Errorf("Err = %v", err)
		}
		if err := lease.Renew(t.Context()); !errors.As(err, &lost) {
			t.Errorf("Renew = %v", err)
		}
		keys, err := snow.NewGenerator(lease, snow.Config{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := keys.Next(t.Context()); !errors.Is(err, snow.ErrLeaseExpired) {
			t.Errorf("Next = %v", err)
		}
		if err := errors.Join(lease.Close(t.Context()), lease.Close(t.Context())); err != nil {
			t.Errorf("Close = %v", err)
		}
		if s.count("SELECT") == 0 {
			t.Error("the loss was believed without a look at the row")
		}
	})
}

func TestAcquireRefuses(t *testing.T) {
	l := snow.Twitter()
	s := &scripted{layout: l}
	db := s.open()
	defer db.Close()
	thousand := uint64(32)
	for name, cfg := range map[string]LeaseConfig{
		"namespace":  {Namespace: "a b"},
		"MaxSkew":    {Namespace: "shop", MaxSkew: -1},
		"MaxSkew ":   {Namespace: "shop", MaxSkew: 30*time.Second + 1},
		"Datacenter": {Namespace: "shop", Datacenter: 32},
		"Worker":     {Namespace: "shop", Worker: &thousand},
	} {
		var field *snow.FieldError
		if _, err := Acquire(t.Context(), db, MySQL, cfg); !errors.As(err, &field) || field.Field != strings.TrimSpace(name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var field *snow.FieldError
	for _, d := range []Dialect{0, 4, -1} {
		if _, err := Acquire(t.Context(), db, d, LeaseConfig{Namespace: "shop"}); !errors.As(err, &field) || field.Field != "dialect" {
			t.Errorf("dialect %d: %v", d, err)
		}
	}
	s.down = errors.New("gone")
	var failed *DatabaseError
	if _, err := Acquire(t.Context(), db, MySQL, LeaseConfig{Namespace: "shop"}); !errors.As(err, &failed) || !errors.Is(err, s.down) {
		t.Errorf("without a database: %v", err)
	}
}

// A process may wait for a connection of its pool for longer than clocks may be apart.
func TestAcquireAfterAWaitForAConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{layout: longAgo(t)}
		db := s.open()
		defer db.Close()
		db.SetMaxOpenConns(1)
		busy, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(2*time.Minute, func() { busy.Close() })
		lease, err := Acquire(t.Context(), db, MySQL, LeaseConfig{Namespace: "shop", Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		if skew := lease.Stats().Skew; skew != 0 {
			t.Errorf("the clocks are %v apart", skew)
		}
		if busy, err = db.Conn(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(4*time.Second, func() { busy.Close() })
		if err := lease.Renew(t.Context()); err != nil {
			t.Error(err)
		}
		if skew := lease.Stats().Skew; skew != 0 {
			t.Errorf("after a renewal the clocks are %v apart", skew)
		}
		if err := lease.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
