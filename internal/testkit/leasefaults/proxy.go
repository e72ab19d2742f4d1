//go:build unix

package leasefaults

import (
	"errors"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A proxy stands between worker processes and a server, and does to their connections what networks do.
type proxy struct {
	addr string

	mu       sync.Mutex
	server   string
	listener net.Listener // nil while refusing
	links    map[*link]bool
	hold     chan struct{} // closed when held data may pass; nil if nothing is held
	closed   bool
	all      sync.WaitGroup

	odds atomic.Int32 // that a request is cut, in percent
	cuts [cutKinds]atomic.Int64
}

// The kinds of cuts. The client can't tell them apart: it never learns whether the server has executed, or will
// execute, the last statement.
const (
	cutBefore = iota // the request is lost
	cutAfter         // the request is executed, the answer is lost
	cutLate          // the request is executed up to lateBy after the client was cut off
	cutKinds
)

const lateBy = 1500 * time.Millisecond

// A link is a connection of a client, and the proxy's connection to the server for it.
type link struct {
	client, server net.Conn
	mute           atomic.Bool // lose the next answer
}

func (l *link) cut() {
	l.client.Close()
	l.server.Close()
}

// newProxy returns a proxy that lets everything pass and lives as long as the test.
func newProxy(tb testing.TB, server string) *proxy {
	tb.Helper()
	p := &proxy{server: server, addr: "127.0.0.1:0", links: make(map[*link]bool)}
	p.accept(tb)
	tb.Cleanup(func() {
		p.refuse()
		p.mu.Lock()
		p.closed = true
		if p.hold != nil {
			close(p.hold)
		}
		p.mu.Unlock()
		p.all.Wait()
	})
	return p
}

// accept lets clients connect again after refuse.
func (p *proxy) accept(tb testing.TB) {
	tb.Helper()
	l, err := net.Listen("tcp", p.addr)
	if err != nil {
		tb.Fatal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.listener, p.addr = l, l.Addr().String()
	p.all.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			p.all.Go(func() { p.serve(client) })
		}
	})
}

// refuse cuts all connections, and refuses new ones.
func (p *proxy) refuse() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener != nil {
		p.listener.Close()
		p.listener = nil
	}
	for l := range p.links {
		l.cut()
	}
}

// silence holds back everything from now on, in both directions, and keeps connections open.
func (p *proxy) silence() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hold == nil {
		p.hold = make(chan struct{})
	}
}

// speak undoes silence. Held data passes now, to whoever still listens.
func (p *proxy) speak() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hold != nil {
		close(p.hold)
		p.hold = nil
	}
}

// turn has new connections go to another server. Open ones stay.
func (p *proxy) turn(server string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.server = server
}

// wait returns when nothing is held back.
func (p *proxy) wait() {
	p.mu.Lock()
	hold := p.hold
	p.mu.Unlock()
	if hold != nil {
		<-hold
	}
}

func (p *proxy) serve(client net.Conn) {
	defer client.Close()
	p.wait()
	p.mu.Lock()
	address := p.server
	p.mu.Unlock()
	server, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer server.Close()
	l := &link{client: client, server: server}
	p.mu.Lock()
	if p.listener == nil || p.closed {
		p.mu.Unlock()
		return
	}
	p.links[l] = true
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.links, l)
		p.mu.Unlock()
	}()
	var both sync.WaitGroup
	both.Go(func() {
		pump(client, server, func(b []byte) error { return p.ask(l, b) })
		// The server may be slow. It must read what it was sent before it learns that the connection has ended.
		if c, ok := server.(*net.TCPConn); ok {
			_ = c.CloseWrite()
		}
	})
	both.Go(func() {
		pump(server, client, func([]byte) error {
			p.wait()
			if l.mute.Load() {
				return errCut
			}
			return nil
		})
		l.cut()
	})
	both.Wait()
}

var errCut = errors.New("cut")

// pump passes on the data that it reads, until either end is closed or pass returns an error.
func pump(from, to net.Conn, pass func([]byte) error) {
	buffer := make([]byte, 1<<16)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			if pass(buffer[:n]) != nil {
				return
			}
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// ask decides whether a request passes, or how it is cut.
func (p *proxy) ask(l *link, request []byte) error {
	p.wait()
	if int32(rand.IntN(100)) >= p.odds.Load() {
		return nil
	}
	kind := rand.IntN(cutKinds)
	p.cuts[kind].Add(1)
	switch kind {
	case cutAfter:
		l.mute.Store(true)
		return nil
	case cutLate:
		l.client.Close()
		time.Sleep(rand.N(lateBy)) // the delay is the fault itself: no test waits for it
		_, _ = l.server.Write(request)
		l.mute.Store(true)
		return errCut
	}
	l.cut()
	return errCut
}
