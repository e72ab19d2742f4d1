//go:build unix

package etcdtest

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"
)

// A network is what members reach each other through: a proxy in front of each. The first request of a connection says
// which member sends it, in the header X-Server-From.
type network struct {
	mu    sync.Mutex
	names map[string]string // of members, by their ids in hex digits
	alone string            // the name of the member that is cut off, or ""
	links map[*link]bool
	all   sync.WaitGroup
}

// A link is a connection from one member to another.
type link struct {
	from, to     string // names; from is "" as long as it is unknown
	dialer, peer net.Conn
}

func (l *link) close() {
	l.dialer.Close()
	if l.peer != nil {
		l.peer.Close()
	}
}

// listen returns the address at which others reach the member to, which listens at addr.
func (n *network) listen(tb testing.TB, to, addr string) string {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	n.all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			n.all.Go(func() { n.serve(&link{to: to, dialer: c}, addr) })
		}
	})
	tb.Cleanup(func() {
		l.Close()
		n.mu.Lock()
		for link := range n.links {
			link.close()
		}
		n.mu.Unlock()
	})
	return l.Addr().String()
}

// isolate cuts a member off from the others, in both directions. An empty name undoes it.
func (n *network) isolate(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.alone = name
	for l := range n.links {
		if name != "" && (l.from == name || l.to == name) {
			l.close()
		}
	}
}

// know makes the ids of the members known.
func (n *network) know(names map[string]string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.names = names
	for l := range n.links { // they tell again who they are
		l.close()
	}
}

func (n *network) serve(l *link, addr string) {
	defer l.close()
	head := make([]byte, 1<<16)
	size, err := l.dialer.Read(head)
	if err != nil {
		return
	}
	peer, err := net.Dial("tcp", addr)
	if err != nil {
		return
	}
	n.mu.Lock()
	l.from, l.peer = n.names[sender(head[:size])], peer
	cut := n.alone != "" && (l.from == n.alone || l.to == n.alone)
	if !cut {
		n.links[l] = true
	}
	n.mu.Unlock()
	defer func() {
		n.mu.Lock()
		delete(n.links, l)
		n.mu.Unlock()
		peer.Close()
	}()
	if cut {
		return
	}
	if _, err := peer.Write(head[:size]); err != nil {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { _, _ = io.Copy(peer, l.dialer); peer.Close() })
	both.Go(func() { _, _ = io.Copy(l.dialer, peer); l.dialer.Close() })
	both.Wait()
}

// sender returns the id of the member that a request comes from.
func sender(head []byte) string {
	_, rest, _ := bytes.Cut(head, []byte("X-Server-From: "))
	id, _, _ := bytes.Cut(rest, []byte("\r\n"))
	return string(id)
}
