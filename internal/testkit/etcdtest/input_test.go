//go:build unix

package etcdtest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc/codes"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/etcdsnow"
)

// What is wrong with a cluster or a client is a typed error that says what to do.
func TestBadInput(t *testing.T) {
	c := Start(t)
	ns := etcdsnow.Namespace{Name: "input", Layout: snow.DefaultLayout(), Workers: 2}
	if err := etcdsnow.Init(t.Context(), c.Client, "", ns); err != nil {
		t.Fatal(err)
	}
	try := func(cfg clientv3.Config) error {
		cfg.Logger = zap.NewNop()
		client, err := clientv3.New(cfg)
		if err != nil {
			return err
		}
		defer client.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		_, err = etcdsnow.Acquire(ctx, client, "", etcdsnow.LeaseConfig{Namespace: "input"})
		return err
	}
	check := func(name string, err error, code codes.Code, advice string) {
		t.Helper()
		failed := new(etcdsnow.ClusterError)
		if !errors.As(err, &failed) || failed.Code != code && failed.Code != codes.DeadlineExceeded || !strings.Contains(err.Error(), advice) {
			t.Errorf("%s: got %v, want a ClusterError with %v and %q", name, err, code, advice)
		}
	}
	check("a wrong endpoint", try(clientv3.Config{Endpoints: []string{free(t)}}), codes.Unavailable, "check the endpoints")
	check("a server without TLS", try(clientv3.Config{Endpoints: c.Addrs(), TLS: &tls.Config{}}), codes.Unavailable, "the TLS configuration")

	h, err := etcdsnow.Acquire(t.Context(), c.Client, "", etcdsnow.LeaseConfig{Namespace: "input"})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close(t.Context())
	keys, err := snow.NewGenerator(h, snow.Config{})
	if err != nil {
		t.Fatal(err)
	}
	row := fmt.Sprintf("snow/workers/input/%010d", h.Stats().Worker)
	good, err := c.Client.Get(t.Context(), row)
	if err != nil {
		t.Fatal(err)
	}
	put := func(key, value string) {
		t.Helper()
		if _, err := c.Client.Put(t.Context(), key, value); err != nil {
			t.Fatal(err)
		}
	}
	put(row, `{"state":"granted"}`)
	damaged := new(etcdsnow.DamagedError)
	if err := h.Renew(t.Context()); !errors.As(err, &damaged) || !strings.HasSuffix(row, damaged.Key) || !strings.Contains(err.Error(), "put its former value back") {
		t.Errorf("a renewal of a row that was written by hand: %v", err)
	}
	if _, err := etcdsnow.Workers(t.Context(), c.Client, "", "input"); !errors.As(err, &damaged) {
		t.Errorf("Workers with a row that was written by hand: %v", err)
	}
	if _, err := keys.Next(t.Context()); err != nil {
		t.Errorf("ids end with a row that was written by hand: %v", err)
	}
	put(row, string(good.Kvs[0].Value))
	if err := h.Renew(t.Context()); err != nil {
		t.Errorf("a renewal of a row that was put back: %v", err)
	}

	key := "snow/namespaces/input"
	former, err := c.Client.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	value := string(former.Kvs[0].Value)
	put(key, strings.Replace(value, `"workers":2`, `"workers":3`, 1))
	if err := h.Renew(t.Context()); !errors.As(err, &damaged) {
		t.Errorf("a renewal in a namespace that was changed by hand: %v", err)
	}
	put(key, strings.Replace(value, `"format":1`, `"format":9`, 1))
	if err := try(clientv3.Config{Endpoints: c.Addrs()}); !errors.Is(err, etcdsnow.ErrNamespaceMismatch) {
		t.Errorf("a namespace of a later version: %v", err)
	}
	if _, err := c.Client.Delete(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	if err := h.Renew(t.Context()); !errors.Is(err, etcdsnow.ErrElsewhere) {
		t.Errorf("a renewal in a namespace that is gone: %v", err)
	}
	if _, err := keys.Next(t.Context()); err != nil || h.Err() != nil {
		t.Errorf("ids end with the namespace: %v, %v", err, h.Err())
	}
	put(key, value)
	if err := h.Renew(t.Context()); err != nil {
		t.Errorf("a renewal in the namespace that is back: %v", err)
	}

	auth := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err = c.Client.RoleAdd(t.Context(), "reader")
	auth(err)
	_, err = c.Client.RoleGrantPermission(t.Context(), "reader", "snow/", "snow0", clientv3.PermissionType(clientv3.PermRead))
	auth(err)
	for user, role := range map[string]string{"root": "root", "guest": "reader"} {
		_, err = c.Client.UserAdd(t.Context(), user, "secret")
		auth(err)
		_, err = c.Client.UserGrantRole(t.Context(), user, role)
		auth(err)
	}
	_, err = c.Client.AuthEnable(t.Context())
	auth(err)
	check("no user", try(clientv3.Config{Endpoints: c.Addrs()}), codes.InvalidArgument, "check the user")
	check("a user without rights", try(clientv3.Config{Endpoints: c.Addrs(), Username: "guest", Password: "secret"}), codes.PermissionDenied, "permission to read and write")
	if err := try(clientv3.Config{Endpoints: c.Addrs(), Username: "root", Password: "secret"}); err != nil {
		t.Errorf("a user with rights: %v", err)
	}
}
