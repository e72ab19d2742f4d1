//go:build unix

package leasefaults

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"syscall"
	"testing"
	"time"

	"github.com/shardsnow/snow"
)

func TestLedger(t *testing.T) {
	id := func(tick int64, worker, sequence uint64) snow.ID {
		id, err := layout().Compose(snow.Parts{
			Time: layout().Epoch().Add(time.Duration(tick) * layout().Tick()), Worker: worker, Sequence: sequence,
		})
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	for name, test := range map[string]struct {
		files [][]snow.ID
		torn  bool
		want  ledger
	}{
		"nothing": {},
		"two numbers in one tick": {
			files: [][]snow.ID{{id(7, 1, 0), id(7, 1, 3)}, {id(7, 2, 0), id(8, 1, 0)}},
			want:  ledger{Files: 2, IDs: 4, Numbers: 2},
		},
		"one number in neighbouring ticks": {
			files: [][]snow.ID{{id(7, 1, 3)}, {id(8, 1, 0)}, {}},
			want:  ledger{Files: 2, IDs: 2, Numbers: 1},
		},
		"a duplicate": {
			files: [][]snow.ID{{id(7, 1, 0), id(7, 1, 1)}, {id(7, 1, 1), id(7, 1, 2)}},
			want:  ledger{Files: 2, IDs: 4, Numbers: 1, Duplicates: 1, Shared: 1},
		},
		"three of the same": {
			files: [][]snow.ID{{id(7, 1, 1)}, {id(7, 1, 1)}, {id(7, 1, 1)}},
			want:  ledger{Files: 3, IDs: 3, Numbers: 1, Duplicates: 2, Shared: 1},
		},
		"a shared tick without a duplicate": {
			files: [][]snow.ID{{id(7, 1, 0), id(7, 1, 2), id(9, 1, 0)}, {id(7, 1, 1), id(7, 1, 3)}},
			want:  ledger{Files: 2, IDs: 5, Numbers: 1, Shared: 1},
		},
		"a duplicate in one file, and a descent": {
			files: [][]snow.ID{{id(7, 1, 1), id(7, 1, 1), id(6, 2, 0)}},
			want:  ledger{Files: 1, IDs: 3, Numbers: 2, Duplicates: 1, Descents: 2},
		},
		"a torn end": {
			files: [][]snow.ID{{id(7, 1, 0)}, {id(7, 2, 0)}}, torn: true,
			want: ledger{Files: 2, IDs: 2, Numbers: 2},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for i, ids := range test.files {
				var text []byte
				for _, id := range ids {
					text = binary.LittleEndian.AppendUint64(text, uint64(id))
				}
				if test.torn {
					text = append(text, 1, 2, 3)
				}
				if err := os.WriteFile(filepath.Join(dir, string(rune('a'+i))+".ids"), text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got, err := readLedger(dir, layout())
			if err != nil {
				t.Fatal(err)
			}
			if (len(got.Examples) > 0) != (got.Duplicates+got.Shared+got.Descents > 0) {
				t.Errorf("examples: %q", got.Examples)
			}
			got.Examples = nil
			if !reflect.DeepEqual(*got, test.want) {
				t.Errorf("got  %+v\nwant %+v", *got, test.want)
			}
		})
	}
}

// TestWorkers makes the fault that the suite must find, without a database: two processes use one number.
func TestWorkers(t *testing.T) {
	if os.Getenv(jobVariable) != "" {
		Work()
	}
	dir, number, other := t.TempDir(), uint64(3), uint64(4)
	program := []string{os.Args[0], "-test.run=^TestWorkers$"}
	a := spawn(t, program, job{Dir: dir, Holder: "a", Fixed: &number})
	b := spawn(t, program, job{Dir: dir, Holder: "b", Fixed: &number, Wait: true})
	c := spawn(t, program, job{Dir: dir, Holder: "c", Fixed: &other})
	flow(t, a)
	flow(t, c)
	if r := b.await(t, "is ready", func(r report) bool { return r.Serial > 0 }); r.Issued > 0 {
		t.Error("ids before the command")
	}
	b.command("go")
	flow(t, b)

	a.stop(t)
	before, _ := b.report()
	flow(t, b)
	a.resume(t)
	flow(t, a)
	if after, _ := b.report(); after.Issued <= before.Issued {
		t.Errorf("issued: got %d, want more than %d", after.Issued, before.Issued)
	}
	b.kill(t)
	for _, p := range []*process{a, c} {
		p.leave()
		p.left(t)
	}
	got, err := readLedger(dir, layout())
	if err != nil {
		t.Fatal(err)
	}
	if got.Duplicates == 0 || got.Shared == 0 || got.Descents != 0 || got.Files != 3 || got.Numbers != 2 {
		t.Errorf("got %+v, want duplicates and shared ticks in 3 files of 2 numbers", got)
	}
	for _, p := range []*process{a, b, c} {
		if r, _ := p.report(); uint64(got.IDs) < r.Issued || p.fault() != "" {
			t.Errorf("%s: %s", p.name, p.fault())
		}
	}
}

func TestWorkersEndWithTheirParent(t *testing.T) {
	number := uint64(3)
	p := spawn(t, []string{os.Args[0], "-test.run=^TestWorkers$"}, job{Dir: t.TempDir(), Holder: "a", Fixed: &number})
	flow(t, p)
	p.stdin.Close() // as the system does for a process that is gone
	p.left(t)
}

// A peer is a server that records the messages that it gets, and answers each message with the same text.
type peer struct {
	addr string
	got  chan string
}

func newPeer(t *testing.T) *peer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	p := &peer{addr: l.Addr().String(), got: make(chan string, 100)}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				b := make([]byte, 100)
				for {
					n, err := c.Read(b)
					if err != nil {
						return
					}
					p.got <- string(b[:n])
					if _, err := c.Write(b[:n]); err != nil {
						return
					}
				}
			}()
		}
	}()
	return p
}

func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(10 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	return c
}

// ask sends a message and returns the answer.
func ask(c net.Conn, message string) (string, error) {
	if _, err := c.Write([]byte(message)); err != nil {
		return "", err
	}
	b := make([]byte, len(message))
	_, err := io.ReadFull(c, b)
	return string(b), err
}

func TestProxyRefuses(t *testing.T) {
	p := newPeer(t)
	x := newProxy(t, p.addr)
	c := dial(t, x.addr)
	if got, err := ask(c, "one"); got != "one" || err != nil {
		t.Fatalf("through the proxy: got %q, %v", got, err)
	}
	x.refuse()
	if got, err := ask(c, "two"); err == nil {
		t.Errorf("on an old connection: got %q, want an error", got)
	}
	if c, err := net.Dial("tcp", x.addr); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("new connection: got %v, %v; want %v", c, err, syscall.ECONNREFUSED)
	}
	x.accept(t)
	if got, err := ask(dial(t, x.addr), "three"); got != "three" || err != nil {
		t.Errorf("after it: got %q, %v", got, err)
	}
}

func TestProxyIsSilent(t *testing.T) {
	p := newPeer(t)
	x := newProxy(t, p.addr)
	old, gone := dial(t, x.addr), dial(t, x.addr)
	for _, c := range []net.Conn{old, gone} {
		if _, err := ask(c, "hello"); err != nil {
			t.Fatal(err)
		}
		<-p.got
	}
	x.silence()
	fresh := dial(t, x.addr)
	for c, message := range map[net.Conn]string{old: "old", gone: "gone", fresh: "fresh"} {
		if err := c.SetDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		if got, err := ask(c, message); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s connection: got %q, %v; want %v", message, got, err, os.ErrDeadlineExceeded)
		}
	}
	gone.Close()
	if len(p.got) > 0 {
		t.Errorf("passed: %q", <-p.got)
	}
	x.speak()
	// Nothing was lost, not even of the client that has given up.
	late := map[string]bool{<-p.got: true, <-p.got: true, <-p.got: true}
	if !late["old"] || !late["gone"] || !late["fresh"] {
		t.Errorf("passed later: %v, want all three", late)
	}
}

func TestProxyCuts(t *testing.T) {
	p := newPeer(t)
	x := newProxy(t, p.addr)
	x.odds.Store(100)
	for x.cuts[cutBefore].Load() < 3 || x.cuts[cutAfter].Load() < 3 || x.cuts[cutLate].Load() < 3 {
		before := x.cuts[cutBefore].Load()
		if got, err := ask(dial(t, x.addr), "statement"); err == nil {
			t.Fatalf("got %q, want an error", got)
		}
		if x.cuts[cutBefore].Load() > before {
			continue
		}
		<-p.got // the statement, now or later
	}
	if len(p.got) > 0 {
		t.Error("a request that was cut before the server had it has reached it")
	}
	x.odds.Store(0)
	if got, err := ask(dial(t, x.addr), "statement"); got != "statement" || err != nil {
		t.Errorf("after it: got %q, %v", got, err)
	}
}

func TestTimedOut(t *testing.T) {
	outage := "segments: next: no numbers are left: database 0: context deadline exceeded\ndatabase 1: connection refused\ndatabase 2: read:\ncontext deadline exceeded"
	for database, want := range []bool{true, false, true, false} {
		if got := timedOut(outage, database); got != want {
			t.Errorf("database %d: got %t, want %t", database, got, want)
		}
	}
}
