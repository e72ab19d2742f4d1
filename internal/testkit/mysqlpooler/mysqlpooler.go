// Package mysqlpooler is a pooler in front of MySQL or MariaDB, for tests: clients share its connections to the
// server, and what one of them sets in a session another one finds there. It resets nothing, so it is worse than
// the poolers that people run.
package mysqlpooler

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

// The first byte of a client's packet.
const (
	comQuit             = 1
	comQuery            = 3
	comStatementPrepare = 22
	comStatementClose   = 25
)

// Start starts a pooler with some connections to the database of a DSN, and returns the DSN of the database through
// it. It lives as long as the test. A client keeps a connection until its next statement after a transaction, or
// until it closes a prepared statement. Then the client gets the one that has been idle the longest.
func Start(tb testing.TB, dsn string, connections int) string {
	tb.Helper()
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		tb.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	p := &pooler{cfg: cfg, idle: make(chan *connection, connections), end: make(chan struct{})}
	var clients sync.WaitGroup
	tb.Cleanup(func() {
		close(p.end)
		_ = listener.Close()
		clients.Wait()
		for len(p.idle) > 0 {
			_ = (<-p.idle).Close()
		}
	})
	for range connections {
		c, err := p.connect()
		if err != nil {
			tb.Fatal(err)
		}
		p.idle <- c
	}
	clients.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			clients.Go(func() { p.serve(client) })
		}
	})
	through := cfg.Clone()
	through.Net, through.Addr = "tcp", listener.Addr().String()
	return through.FormatDSN()
}

type pooler struct {
	cfg  *mysql.Config
	idle chan *connection
	end  chan struct{}
}

// A connection is a connection to the server after the login of a client.
type connection struct {
	net.Conn
	read     []byte // of the server's first packets
	greeting []byte
	pumped   chan struct{} // closed when no answer is copied to a client any more
}

func (c *connection) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.greeting == nil {
		c.read = append(c.read, b[:n]...)
	}
	return n, err
}

// connect lets the driver log in, and takes the connection from it.
func (p *pooler) connect() (*connection, error) {
	c := &connection{}
	cfg := p.cfg.Clone()
	cfg.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		under, err := new(net.Dialer).DialContext(ctx, network, address)
		c.Conn = under
		return c, err
	}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, err
	}
	if _, err := connector.Connect(context.Background()); err != nil {
		return nil, err
	}
	c.greeting = c.read[:4+int(c.read[0])]
	return c, nil
}

// pump copies answers to a client until stop.
func (c *connection) pump(client net.Conn) {
	c.pumped = make(chan struct{})
	go func() {
		defer close(c.pumped)
		_, _ = io.Copy(client, c.Conn)
	}()
}

func (c *connection) stop() {
	_ = c.SetReadDeadline(time.Unix(1, 0))
	<-c.pumped
	_ = c.SetReadDeadline(time.Time{})
}

// serve serves a client. A new statement shows that it has read all answers.
func (p *pooler) serve(client net.Conn) {
	defer client.Close()
	go func() {
		<-p.end
		_ = client.Close()
	}()
	first := <-p.idle
	greeting := first.greeting
	p.idle <- first
	if _, err := client.Write(greeting); err != nil {
		return
	}
	if _, err := packet(client); err != nil { // a login, which is not checked
		return
	}
	if _, err := client.Write([]byte{7, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0}); err != nil {
		return
	}
	var held *connection
	begun, prepared := false, 0
	for {
		next, err := packet(client)
		lost := err != nil || next[4] == comQuit
		if held != nil && (lost || !begun && prepared == 0) {
			held.stop()
			if lost && (begun || err != nil) { // it may be in the middle of an answer
				_ = held.Close()
				if held, err = p.connect(); err != nil {
					return
				}
			}
			p.idle <- held
			held = nil
		}
		if lost {
			return
		}
		if held == nil {
			select {
			case held = <-p.idle:
			case <-p.end:
				return
			}
			held.pump(client)
		}
		switch next[4] {
		case comStatementPrepare:
			prepared++
		case comStatementClose:
			prepared--
		case comQuery:
			switch word, _, _ := strings.Cut(strings.ToUpper(string(next[5:])), " "); word {
			case "BEGIN", "START":
				begun = true
			case "COMMIT", "ROLLBACK":
				begun = false
			}
		}
		if _, err := held.Write(next); err != nil {
			return
		}
	}
}

// packet reads a packet of a client with its head.
func packet(client net.Conn) ([]byte, error) {
	head := make([]byte, 4)
	if _, err := io.ReadFull(client, head); err != nil {
		return nil, err
	}
	body := make([]byte, binary.LittleEndian.Uint32(head)&0xffffff)
	_, err := io.ReadFull(client, body)
	return append(head, body...), err
}
