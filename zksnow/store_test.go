//go:build linux

package zksnow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/shardsnow/snow/internal/testkit/zkserver"
	"github.com/shardsnow/snow/internal/versioned"
)

// dial opens a session that ends with the test, and says nothing.
func dial(t *testing.T, addrs ...string) *zk.Conn {
	t.Helper()
	conn, _, err := zk.Connect(addrs, 10*time.Second, zk.WithLogger(silent{}), zk.WithLogInfo(false))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}

type silent struct{}

func (silent) Printf(string, ...any) {}

func TestStore(t *testing.T) {
	server := zkserver.Start(t, 1)
	conn := dial(t, server.Addrs()...)
	for name, test := range map[string]func(t *testing.T, s *store){
		"the same as in memory":     testAsMemory,
		"a version that comes back": testVersionComesBack,
		"a value by hand":           testByHand,
		"time":                      testTime,
		"many at once":              testManyAtOnce,
	} {
		t.Run(name, func(t *testing.T) { test(t, newStoreOf(conn, "/t/"+fmt.Sprint(rand.Uint32()))) })
	}
}

// testAsMemory does the same at random in ZooKeeper and in memory, and compares.
func testAsMemory(t *testing.T, s *store) {
	ctx, model := t.Context(), &versioned.Memory{}
	keys := []string{"workers/a/0000000000", "workers/a/0000000001", "workers/a/0000000002", "workers/b/0000000000", "namespaces/a"}
	random := rand.New(rand.NewPCG(1, 2))
	done := 0
	for step := range 150 {
		at := random.Perm(len(keys))[:1+random.IntN(3)]
		some := make([]string, len(at))
		for i := range at {
			some[i] = keys[at[i]]
		}
		got, err := s.Get(ctx, some...)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := model.Get(ctx, some...)
		var puts, modelPuts []versioned.Entry
		for i := range got {
			if got[i].Key != want[i].Key || !bytes.Equal(got[i].Value, want[i].Value) || (got[i].Version == 0) != (want[i].Version == 0) {
				t.Fatalf("step %d: got %+v, want %+v", step, got[i], want[i])
			}
			switch random.IntN(8) {
			case 0: // expect another version
				got[i].Version, want[i].Version = got[i].Version+1, want[i].Version+1
			case 1: // or another value, if there is one
				if got[i].Version != 0 {
					got[i].Value, want[i].Value = []byte("other"), []byte("other")
				}
			}
			if i == 0 || random.IntN(2) == 0 {
				value := fmt.Append(nil, step, i)
				puts = append(puts, versioned.Entry{Key: some[i], Value: value})
				modelPuts = append(modelPuts, versioned.Entry{Key: some[i], Value: value})
			}
		}
		ok, err := s.Write(ctx, got, puts)
		if err != nil {
			t.Fatalf("step %d: %v", step, err)
		}
		if wantOK, _ := model.Write(ctx, want, modelPuts); ok != wantOK {
			t.Fatalf("step %d: write %+v if %+v: got %v, want %v", step, puts, got, ok, wantOK)
		}
		if !ok {
			continue
		}
		done++
		for _, put := range puts {
			if e, err := s.Get(ctx, put.Key); err != nil || e[0].Version != put.Version {
				t.Fatalf("step %d: got %+v and %v, want the version %d", step, e, err, put.Version)
			}
		}
	}
	if done < 30 {
		t.Errorf("%d writes had an effect, want more", done)
	}
	for _, limit := range []int{1, 2, 10} {
		for _, from := range []string{"", "workers/a/0000000001", "workers/a/0000000001\x00"} {
			got, err := s.List(ctx, "workers/a/", from, limit)
			want, _ := model.List(ctx, "workers/a/", from, limit)
			if err != nil || len(got) != len(want) {
				t.Fatalf("list from %q: got %+v and %v, want %+v", from, got, err, want)
			}
			for i := range got {
				if got[i].Key != want[i].Key || !bytes.Equal(got[i].Value, want[i].Value) {
					t.Errorf("list from %q: got %+v, want %+v", from, got[i], want[i])
				}
			}
		}
	}
}

// conn returns the connection of a store.
func conn(s *store) *zk.Conn { return s.conn.(*zk.Conn) }

const key = "workers/a/0000000000"

// put writes a key as it should be.
func put(t *testing.T, s *store, e versioned.Entry, value string) versioned.Entry {
	t.Helper()
	puts := []versioned.Entry{{Key: e.Key, Value: []byte(value)}}
	if done, err := s.Write(t.Context(), []versioned.Entry{e}, puts); err != nil || !done {
		t.Fatalf("write %q: %v and %v", value, done, err)
	}
	return puts[0]
}

// testVersionComesBack makes a znode again, until it has the version that it had with another value.
func testVersionComesBack(t *testing.T, s *store) {
	first := put(t, s, put(t, s, versioned.Entry{Key: key}, "one"), "two")
	path := s.path(key)
	for _, p := range []string{path + "/" + tag(first.Value), path} {
		if err := conn(s).Delete(p, -1); err != nil {
			t.Fatal(err)
		}
	}
	again := put(t, s, put(t, s, versioned.Entry{Key: key}, "three"), "four")
	if again.Version != first.Version {
		t.Fatalf("the version is %d, want %d again", again.Version, first.Version)
	}
	for what, entries := range map[string][2][]versioned.Entry{
		"writing it":    {{first}, {{Key: key, Value: []byte("five")}}},
		"expecting it":  {{first, {Key: "workers/a/0000000001"}}, {{Key: "workers/a/0000000001", Value: []byte("x")}}},
		"making it":     {{{Key: key}}, {{Key: key, Value: []byte("six")}}},
		"finding it":    {{{Key: key}, {Key: "workers/a/0000000001"}}, {{Key: "workers/a/0000000001", Value: []byte("x")}}},
		"nothing there": {{{Key: "workers/c/0000000000", Version: 1, Value: []byte("x")}}, {{Key: "workers/c/0000000000", Value: []byte("y")}}},
	} {
		if done, err := s.Write(t.Context(), entries[0], entries[1]); err != nil || done {
			t.Errorf("%s: got %v and %v, want no effect", what, done, err)
		}
	}
}

func testByHand(t *testing.T, s *store) {
	e := put(t, s, versioned.Entry{Key: key}, "one")
	if _, err := s.conn.Set(s.path(key), []byte("by hand"), -1); err != nil {
		t.Fatal(err)
	}
	if done, err := s.Write(t.Context(), []versioned.Entry{e}, []versioned.Entry{{Key: key, Value: []byte("two")}}); err != nil || done {
		t.Errorf("a write over another value: got %v and %v, want no effect", done, err)
	}
	var damaged *versioned.DamagedError
	if got, err := s.Get(t.Context(), key); !errors.As(err, &damaged) || damaged.Key != key {
		t.Errorf("a value by hand: got %+v and %v, want a DamagedError", got, err)
	}
	all, err := s.List(t.Context(), "workers/a/", "", 9)
	if err != nil || len(all) != 1 || all[0].Version != 2 || all[0].Value != nil {
		t.Errorf("a list with a value by hand: got %+v and %v, want it without a value", all, err)
	}
	got := []versioned.Entry{{Key: key, Version: 2, Value: []byte("by hand")}} // as if its child had been there
	done, err := s.Write(t.Context(), got, []versioned.Entry{{Key: key, Value: []byte("two")}})
	if done || !errors.As(err, &damaged) || damaged.Key != key {
		t.Errorf("a write over a value by hand: got %v and %v, want a DamagedError", done, err)
	}
	// The remedy is to put the value back.
	if _, err := s.conn.Set(s.path(key), e.Value, -1); err != nil {
		t.Fatal(err)
	}
	if got, err = s.Get(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	put(t, s, got[0], "two")
}

func testTime(t *testing.T, s *store) {
	for range 2 {
		before := time.Now()
		us, err := s.Now(t.Context())
		if got := time.UnixMicro(us); err != nil || got.Before(before.Truncate(time.Millisecond)) || got.After(time.Now()) {
			t.Errorf("got %v and %v, want a time during the call, after %v", got, err, before)
		}
	}
}

// testManyAtOnce counts in one key from many goroutines: no write may be lost.
func testManyAtOnce(t *testing.T, s *store) {
	const goroutines, writes = 16, 5
	put(t, s, versioned.Entry{Key: key}, "0")
	failed := make(chan error, goroutines)
	for range goroutines {
		go func() {
			failed <- count(t.Context(), s, writes)
		}()
	}
	for range goroutines {
		if err := <-failed; err != nil {
			t.Fatal(err)
		}
	}
	if e, err := s.Get(t.Context(), key); err != nil || string(e[0].Value) != fmt.Sprint(goroutines*writes) {
		t.Errorf("got %q and %v, want %d", e[0].Value, err, goroutines*writes)
	}
}

func count(ctx context.Context, s *store, writes int) error {
	for n := 0; n < writes; {
		e, err := s.Get(ctx, key)
		if err != nil {
			return err
		}
		var now int
		if _, err := fmt.Sscan(string(e[0].Value), &now); err != nil {
			return err
		}
		done, err := s.Write(ctx, e, []versioned.Entry{{Key: key, Value: fmt.Append(nil, now+1)}})
		if err != nil {
			return err
		}
		if done {
			n++
		}
	}
	return nil
}
