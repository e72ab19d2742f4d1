package questions

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"time"
)

// A Server shows the questions as a page in the browser, on the loopback address only.
type Server struct {
	Port    int              // 0 for a free one
	Title   string           // of the plan
	Next    string           // what to do when all is answered
	Sources Sources          // for samples
	Ready   func(url string) // called when the page can be opened; the address is secret
}

// Serve shows the questions until ctx ends or somebody ends it on the page. Each answer is in the file before the next page
// is shown.
func (c Server) Serve(ctx context.Context, s *Questionnaire) error {
	listener, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(c.Port)))
	if err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p, err := newPages(s, c)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	p.end = cancel
	g := newGuard(p, port)
	p.base, p.form = "/"+g.secret+"/", g.form
	server := &http.Server{
		Handler: g, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
		ErrorLog: log.New(io.Discard, "", 0), BaseContext: func(net.Listener) context.Context { return ctx },
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	c.Ready("http://127.0.0.1:" + port + p.base)
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	shut, done := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer done()
	if server.Shutdown(shut) != nil { // a browser holds a connection that it may need later: the last page has been sent
		return server.Close()
	}
	return nil
}
