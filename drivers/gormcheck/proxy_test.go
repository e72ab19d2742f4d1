//go:build unix

package gormcheck_test

import (
	"bytes"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// A proxy stands between clients and a server. Once armed it lets the next
// commit through, waits for the server's answer, and cuts the client off
// instead of passing the answer on.
type proxy struct {
	listener net.Listener
	server   string
	armed    atomic.Bool
	cuts     atomic.Int64
	group    sync.WaitGroup
	mu       sync.Mutex
	open     map[net.Conn]bool
}

// throughProxy returns d with a proxy in front of its server.
func throughProxy(t *testing.T, d database) (database, *proxy) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: listener, server: d.addr, open: make(map[net.Conn]bool)}
	p.group.Go(p.accept)
	t.Cleanup(func() {
		listener.Close()
		p.mu.Lock()
		for conn := range p.open {
			conn.Close()
		}
		p.open = nil
		p.mu.Unlock()
		p.group.Wait()
	})
	dsn := strings.Replace(d.dsn, d.addr, listener.Addr().String(), 1)
	if dsn == d.dsn {
		t.Fatalf("the DSN does not name the server's address")
	}
	d.dsn = dsn
	return d, p
}

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.server)
		if err != nil || !p.keep(client, server) {
			client.Close()
			continue
		}
		committing := new(atomic.Bool)
		p.group.Go(func() {
			p.pipe(server, client, func(sent []byte) bool {
				if bytes.Contains(bytes.ToLower(sent), []byte("commit")) && p.armed.CompareAndSwap(true, false) {
					committing.Store(true)
				}
				return true
			})
		})
		p.group.Go(func() {
			p.pipe(client, server, func([]byte) bool {
				if committing.Load() {
					p.cuts.Add(1)
					return false
				}
				return true
			})
		})
	}
}

// keep reports whether the proxy is open, and closes the connections with it.
func (p *proxy) keep(connections ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range connections {
		if p.open == nil {
			conn.Close()
			continue
		}
		p.open[conn] = true
	}
	return p.open != nil
}

// pipe copies until one side ends or pass says no, and closes both.
func (p *proxy) pipe(to io.WriteCloser, from io.ReadCloser, pass func([]byte) bool) {
	defer to.Close()
	defer from.Close()
	buffer := make([]byte, 1<<16)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			if !pass(buffer[:n]) {
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
