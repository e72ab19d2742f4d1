package serve

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
)

// A client is one connection. It is for one goroutine.
type client interface {
	ask(ctx context.Context) error // a request and its answer
	close()
}

// A connection sends the same request of HTTP/1.1 again and again.
type connection struct {
	net.Conn
	reader  *bufio.Reader
	request []byte
}

// requests returns what makes connections to a server that send a request. line is its method and path.
func requests(address, line, accept string) func(context.Context) (client, error) {
	request := []byte(line + " HTTP/1.1\r\nHost: " + address + "\r\nAccept: " + accept + "\r\nContent-Length: 0\r\n\r\n")
	return func(ctx context.Context) (client, error) {
		var d net.Dialer
		conn, err := d.DialContext(ctx, "tcp", address)
		if err != nil {
			return nil, err
		}
		return &connection{conn, bufio.NewReader(conn), request}, nil
	}
}

func (c *connection) close() { _ = c.Close() }

var contentLength = []byte("Content-Length: ")

// ask reads an answer with a length, as answers of up to 2 KB have.
func (c *connection) ask(context.Context) error {
	if _, err := c.Write(c.request); err != nil {
		return err
	}
	line, err := c.reader.ReadSlice('\n')
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(line, []byte("HTTP/1.1 200 ")) {
		return fmt.Errorf("the answer is %q", strings.TrimSpace(string(line)))
	}
	length := -1
	for len(line) > 2 { // the empty line is \r\n
		if line, err = c.reader.ReadSlice('\n'); err != nil {
			return err
		}
		if value, ok := bytes.CutPrefix(line, contentLength); ok {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return err
			}
		}
	}
	if length < 0 {
		return errors.New("the answer has no length")
	}
	_, err = c.reader.Discard(length)
	return err
}

// A statement asks for the next value of a sequence.
type statement struct{ *sql.Stmt }

func (s statement) ask(ctx context.Context) error {
	var id int64
	return s.QueryRowContext(ctx).Scan(&id)
}

func (s statement) close() {}
