package versioned

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/shardsnow/snow/internal/dberrors"
	"github.com/shardsnow/snow/internal/protocol"
)

// A space is a namespace in memory, with a clock that the test sets.
type space struct {
	*Memory
	t  *testing.T
	us int64
}

func newSpace(t *testing.T, workers int64) *space {
	s := &space{t: t, us: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC).UnixMicro()}
	s.Memory = &Memory{Clock: func() int64 { return s.us }}
	if err := Create(t.Context(), s, params(workers), Options{OwnClock: true}); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *space) open() *Registry {
	s.t.Helper()
	r, err := Open(s.t.Context(), s, "shop", Options{OwnClock: true})
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// take takes the lowest number that is free and returns the request that renews it.
func (s *space) take(r *Registry) protocol.Request { return s.takeFrom(r, 0) }

func (s *space) takeFrom(r *Registry, start int64) protocol.Request {
	s.t.Helper()
	free := r.Do(s.t.Context(), protocol.Request{Ask: protocol.AskFree, Start: start, End: r.Params.Workers})
	if free.Err != nil || len(free.Free) == 0 {
		s.t.Fatalf("no number is free: %v", free.Err)
	}
	f := free.Free[0]
	q := protocol.Request{Ask: protocol.AskTake, Worker: f.Worker, Fence: f.Fence, Seen: f.Ceiling, Owner: protocol.NewOwner(), Holder: "h", Window: 1000, Latest: s.us}
	if out := r.Do(s.t.Context(), q); !out.Changed || out.Now != s.us {
		s.t.Fatalf("%+v: %+v", q, out)
	}
	q.Ask, q.Acked, q.Cap = protocol.AskRenew, max(f.Ceiling, r.Params.TickAt(s.us))+1000, r.Params.TickAt(s.us)+1_000_000
	q.Fence++
	return q
}

func (s *space) row(worker int64) Row {
	s.t.Helper()
	e, err := s.Get(s.t.Context(), workerKey("shop", worker))
	if err != nil {
		s.t.Fatal(err)
	}
	row, err := decodeRow(e[0])
	if err != nil {
		s.t.Fatal(err)
	}
	return row
}

// counting counts the calls of a store.
type counting struct {
	Store
	gets, writes int
}

func (c *counting) Get(ctx context.Context, keys ...string) ([]Entry, error) {
	c.gets++
	return c.Store.Get(ctx, keys...)
}

func (c *counting) Write(ctx context.Context, expected, puts []Entry) (bool, error) {
	c.writes++
	return c.Store.Write(ctx, expected, puts)
}

func TestARenewalIsOneWrite(t *testing.T) {
	s := newSpace(t, 4)
	c := &counting{Store: s}
	r, err := Open(t.Context(), c, "shop", Options{})
	if err != nil {
		t.Fatal(err)
	}
	c.gets = 0
	q := s.take(r)
	s.us += 500_000
	if out := r.Do(t.Context(), q); !out.Changed {
		t.Fatalf("%+v", out)
	}
	if c.gets != 0 || c.writes != 2 {
		t.Errorf("taking a number and renewing it read %d times and wrote %d times, want 0 and 2", c.gets, c.writes)
	}
	if row := s.row(q.Worker); row.Ceiling != r.Params.TickAt(s.us)+1000 {
		t.Errorf("the row is %+v", row)
	}
}

// A row that changed since it was read is read again, and the conditions are tested again.
func TestARowThatSomebodyElseWrote(t *testing.T) {
	s := newSpace(t, 1)
	r := s.open()
	q := s.take(r)
	row := s.row(0)
	row.Fence++
	row.Owner = "another"
	s.Set(workerKey("shop", 0), row.encode())
	if out := r.Do(t.Context(), q); out.Changed || out.Err != nil {
		t.Fatalf("a renewal of another's row: %+v", out)
	}
	row.Fence--
	row.Owner = q.Owner
	row.Ceiling += 5
	s.Set(workerKey("shop", 0), row.encode())
	if out := r.Do(t.Context(), q); !out.Changed {
		t.Fatalf("a renewal of the own row: %+v", out)
	}
}

// After a restore, a row can have a version that it had before with another value.
func TestAVersionThatComesBack(t *testing.T) {
	s := newSpace(t, 1)
	r := s.open()
	snapshot, revision := s.Snapshot()
	q := s.take(r)
	version := r.seen[0].Version
	s.Restore(snapshot, revision)
	other := s.take(s.open())
	e, err := s.Get(t.Context(), workerKey("shop", 0))
	if err != nil || e[0].Version != version {
		t.Fatalf("the version is %d, want %d again: %v", e[0].Version, version, err)
	}
	if out := r.Do(t.Context(), q); out.Changed || out.Err != nil {
		t.Errorf("a renewal of another's row: %+v", out)
	}
	if got := s.row(0); got.Owner != other.Owner {
		t.Errorf("the row is %+v", got)
	}
}

func TestAnotherNamespace(t *testing.T) {
	s := newSpace(t, 1)
	r := s.open()
	q := s.take(r)
	key := namespaceKey("shop")
	e, _ := s.Get(t.Context(), key)
	s.Set(key, nil)
	if out := r.Do(t.Context(), q); out.Changed || !errors.Is(out.Err, ErrElsewhere) {
		t.Errorf("without the namespace: %+v", out)
	}
	if _, err := Open(t.Context(), s, "shop", Options{}); !errors.Is(err, dberrors.ErrNoNamespace) {
		t.Errorf("without the namespace: %v", err)
	}
	if err := Create(t.Context(), s, params(1), Options{}); err != nil {
		t.Fatal(err)
	}
	for _, ask := range []protocol.Ask{protocol.AskServer, protocol.AskRow, protocol.AskRenew} {
		q.Ask = ask
		if out := r.Do(t.Context(), q); !errors.Is(out.Err, ErrElsewhere) {
			t.Errorf("%v of a namespace that was made again: %+v", ask, out)
		}
	}
	s.Set(key, []byte(`{}`))
	if out := r.Do(t.Context(), q); !errors.Is(out.Err, dberrors.ErrNamespaceMismatch) {
		t.Errorf("%+v", out)
	}
	s.Set(key, e[0].Value) // written again, as it was
	q.Ask = protocol.AskRenew
	if out := r.Do(t.Context(), q); !out.Changed {
		t.Errorf("with the namespace: %+v", out)
	}
}

func TestCreate(t *testing.T) {
	s := &space{Memory: &Memory{}, t: t}
	want := params(200)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if err := Create(t.Context(), s, want, Options{}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	r := s.open()
	rows, err := r.Workers(t.Context())
	if err != nil || len(rows) != 200 {
		t.Fatalf("%d rows: %v", len(rows), err)
	}
	for i, row := range rows {
		if row.Number != int64(i) || row.Row != (Row{}) {
			t.Fatalf("row %d is %+v", i, row)
		}
	}
	before, err := s.Get(t.Context(), namespaceKey("shop"))
	if err != nil {
		t.Fatal(err)
	}
	// A row that was deleted gets no window before the longest one is over.
	s.Set(workerKey("shop", 7), nil)
	if err := Create(t.Context(), s, want, Options{}); err != nil {
		t.Fatal(err)
	}
	now := r.Params.TickAt(time.Now().UnixMicro())
	if row := s.row(7); row.Floor < now+r.Params.Ticks(r.Params.Window)+100_000 || row.Floor != row.Ceiling {
		t.Errorf("the row that was deleted is %+v, and now is tick %d", row, now)
	}
	if after, _ := s.Get(t.Context(), namespaceKey("shop")); string(after[0].Value) != string(before[0].Value) {
		t.Errorf("the namespace was %s, and is now %s", before[0].Value, after[0].Value)
	}
	want.Workers = 100
	if err := Create(t.Context(), s, want, Options{}); !errors.Is(err, dberrors.ErrNamespaceMismatch) {
		t.Errorf("with another number of workers: %v", err)
	}
	if all, err := Names(t.Context(), s); err != nil || fmt.Sprint(all) != "[shop]" {
		t.Errorf("the namespaces are %v: %v", all, err)
	}
}

func TestFence(t *testing.T) {
	s := newSpace(t, 150)
	r := s.open()
	q := s.take(r)
	s.Set(workerKey("shop", 3), []byte("by hand"))
	n, err := r.Fence(t.Context(), time.UnixMicro(s.us+1_000_000))
	if damaged := new(DamagedError); !errors.As(err, &damaged) || damaged.Key != workerKey("shop", 3) || n != 149 {
		t.Errorf("Fence moved %d rows: %v", n, err)
	}
	least := r.Params.TickAt(s.us+1_000_000) + r.Params.LongestWindow()
	for worker := range int64(150) {
		if worker == 3 {
			continue
		}
		if row := s.row(worker); row.Floor != least || row.Ceiling != least {
			t.Fatalf("row %d is %+v, want the floor and the ceiling %d", worker, row, least)
		}
	}
	q.Lapse = 0
	if out := r.Do(t.Context(), q); out.Changed || out.Err != nil {
		t.Errorf("a renewal near the end of a window: %+v", out)
	}
	q.Lapse = q.Acked
	if out := r.Do(t.Context(), q); !out.Changed {
		t.Errorf("a renewal within a window: %+v", out)
	}
}

func TestReserve(t *testing.T) {
	s := newSpace(t, 3)
	r := s.open()
	s.take(r)
	for _, want := range []struct {
		holder string
		worker int64
	}{{"a", 2}, {"a", 2}, {"b", 1}, {"a", 2}} {
		if got, err := r.Reserve(t.Context(), want.holder); err != nil || got != want.worker {
			t.Errorf("%q got %d, want %d: %v", want.holder, got, want.worker, err)
		}
	}
	none := new(protocol.NoWorkerError)
	if _, err := r.Reserve(t.Context(), "c"); !errors.As(err, &none) || none.Live != 1 || !none.EarliestFree.IsZero() {
		t.Errorf("with no unused number: %v", err)
	}
	held := new(protocol.HeldError)
	if err := r.Reclaim(t.Context(), "c", 1); !errors.As(err, &held) || held.Holder != "b" || !held.Until.IsZero() {
		t.Errorf("another's reservation: %v", err)
	}
	if err := r.Reclaim(t.Context(), "c", 0); !errors.As(err, &held) || held.Until.IsZero() {
		t.Errorf("a number that is leased: %v", err)
	}
	if err := r.Reclaim(t.Context(), "b", 1); err != nil {
		t.Error(err)
	}
}

func TestClocksOfPeers(t *testing.T) {
	s := newSpace(t, 8)
	day := 24 * time.Hour.Microseconds()
	find := func(r *Registry) error {
		return r.Do(t.Context(), protocol.Request{Ask: protocol.AskFree, End: r.Params.Workers}).Err
	}
	wrong := new(protocol.ClockError)
	s.us += day
	s.takeFrom(s.open(), 3) // a clock that is a day ahead of the others
	s.us -= day
	if err := find(s.open()); err != nil {
		t.Errorf("one process is a day ahead, and there is no other one: %v", err)
	}
	if err := s.open().CheckClock(t.Context()); !errors.As(err, &wrong) || wrong.Peers != 1 {
		t.Errorf("before Fence: %v", err)
	}
	s.us += day
	s.takeFrom(s.open(), 4)
	s.us -= day
	if err := find(s.open()); !errors.As(err, &wrong) || wrong.Peers != 2 {
		t.Errorf("two processes are a day ahead: %v", err)
	}
	s.Set(workerKey("shop", 5), nil)
	if err := Create(t.Context(), s, params(8), Options{OwnClock: true}); !errors.As(err, &wrong) {
		t.Errorf("a row was deleted: %v", err)
	}
	s = newSpace(t, 8)
	r := s.open()
	q := s.takeFrom(r, 0)
	s.us += day
	s.takeFrom(s.open(), 1)
	s.us -= day
	if err := find(s.open()); err != nil {
		t.Errorf("one process agrees, and one is a day ahead: %v", err)
	}
	s.us += day // the clock of a process steps to the only other one
	if out := r.Do(t.Context(), q); out.Err != nil || !out.Changed {
		t.Errorf("the clock stepped to the others: %+v", out)
	}
	s.us += day
	if out := r.Do(t.Context(), q); !errors.As(out.Err, &wrong) || wrong.Peers != 1 {
		t.Errorf("the clock stepped away from the others: %+v", out)
	}
}

// Processes whose clocks are wrong, and who have displaced others, do not keep them from other numbers.
func TestClocksAreComparedOnce(t *testing.T) {
	s := newSpace(t, 8)
	r := s.open()
	s.takeFrom(r, 0)
	day := 24 * time.Hour.Microseconds()
	s.us += day
	for number := range int64(3) {
		s.takeFrom(s.open(), number)
	}
	s.us -= day
	s.takeFrom(r, 0)
	if out := s.open().Do(t.Context(), protocol.Request{Ask: protocol.AskFree, End: 8}); !errors.As(out.Err, new(*protocol.ClockError)) {
		t.Errorf("a new process: %+v", out)
	}
}

// slowly is a store whose lists take a minute, in which others write.
type slowly struct {
	*space
	meanwhile func()
}

func (s *slowly) List(ctx context.Context, prefix, from string, limit int) ([]Entry, error) {
	if s.meanwhile != nil {
		s.us += time.Minute.Microseconds()
		s.meanwhile()
	}
	return s.space.List(ctx, prefix, from, limit)
}

func TestRowsThatAreWrittenMeanwhile(t *testing.T) {
	s := newSpace(t, 8)
	store := &slowly{space: s}
	r, err := Open(t.Context(), store, "shop", Options{OwnClock: true})
	if err != nil {
		t.Fatal(err)
	}
	number := int64(0)
	store.meanwhile = func() {
		for range 2 {
			s.takeFrom(s.open(), number)
			number++
		}
	}
	if out := r.Do(t.Context(), protocol.Request{Ask: protocol.AskFree, End: 8}); out.Err != nil || len(out.Free) == 0 {
		t.Errorf("two processes took numbers while the rows were read: %+v", out)
	}
	if err := r.CheckClock(t.Context()); err != nil {
		t.Errorf("two processes took numbers while the rows were read: %v", err)
	}
}
