// Command http-orders is a small service that keeps orders in two databases. Any
// number of its instances run beside each other, and each makes the keys of the
// orders that it stores:
//
//	go run ./examples/http-orders -dir /tmp/shop -addr 127.0.0.1:8080
//
//	curl -i -H 'Idempotency-Key: 7d1c' -d '{"buyer":"ann","item":"tea"}' http://127.0.0.1:8080/orders
//	curl http://127.0.0.1:8080/orders/ord_11m6bp6t15r7nr7
//	curl http://127.0.0.1:8080/orders?buyer=ann
//	curl http://127.0.0.1:8080/orders?limit=20
//
// main.go starts and stops the service, store.go has the orders in their databases,
// api.go the answers to requests, and keys.go the key of the ids that clients see. The databases are SQLite files, so that
// nothing need be installed. With MySQL or PostgreSQL, only open in store.go differs.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

// A Kubernetes pod is killed 30 s after SIGTERM. These times fit into it.
const (
	drain    = 3 * time.Second  // for load balancers to see that the instance is not ready
	shutdown = 15 * time.Second // for requests under way
	release  = 5 * time.Second  // to give back the worker number
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	err := run(ctx, os.Args[1:], os.Stdout)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "http-orders:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends. Then it is not ready any more, waits until load
// balancers know, finishes the requests that it has, and gives back its worker
// number, in this order: a request that is under way still needs keys.
func run(ctx context.Context, args []string, stdout io.Writer) (err error) {
	flags := flag.NewFlagSet("http-orders", flag.ContinueOnError)
	dir := flags.String("dir", ".", "folder of the databases, the same for all instances")
	addr := flags.String("addr", "127.0.0.1:8080", "address to listen on; port 0 means any that is free")
	databases := flags.Int("databases", 2, "how many databases have orders: 1, 2, 4, 8 or 16, the same for all instances")
	keys := flags.String("keys", "", "file of the keys of ids that clients see, the same for all instances; without it, opaque.keys in the folder")
	wait := flags.Duration("drain", drain, "time from SIGTERM to the end of new connections")
	if err := flags.Parse(args); err != nil {
		return err
	}

	if err := os.MkdirAll(*dir, 0o700); err != nil {
		return err
	}
	orders, err := openKeys(cmp.Or(*keys, filepath.Join(*dir, "opaque.keys")), *keys == "")
	if err != nil {
		return err
	}
	s, err := openStore(ctx, *dir, *databases)
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), release)
		defer cancel()
		err = errors.Join(err, s.close(ctx))
	}()

	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", *addr)
	if err != nil {
		return err
	}
	a := &api{store: s, orders: orders}
	server := &http.Server{Handler: a.handler(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	if _, err := fmt.Fprintf(stdout, "http://%s worker %d\n", listener.Addr(), s.lease.Stats().Worker); err != nil {
		return errors.Join(err, server.Close())
	}

	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	a.stopping.Store(true)
	select {
	case err := <-served:
		return err
	case <-time.After(*wait):
	}
	finish, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdown)
	defer cancel()
	if err := server.Shutdown(finish); err != nil {
		slog.Warn("requests were cut off", "error", err)
		return errors.Join(err, server.Close())
	}
	return nil
}
