//go:build linux

package zksnow

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/testkit/zkserver"
)

func TestRefusals(t *testing.T) {
	server := zkserver.Start(t, 1)
	conn := dial(t, server.Addrs()...)
	for name, test := range map[string]func(t *testing.T, conn *zk.Conn, root string){
		"arguments":            refuseArguments,
		"another layout":       refuseLayout,
		"a value by hand":      refuseValues,
		"another namespace":    refuseElsewhere,
		"an account":           func(t *testing.T, conn *zk.Conn, root string) { refuseAccount(t, conn, root, server.Addrs()) },
		"a root of one's own":  func(t *testing.T, conn *zk.Conn, root string) { ownRoot(t, conn, root, server.Addrs()) },
		"a connection is over": func(t *testing.T, _ *zk.Conn, root string) { refuseClosed(t, root, server.Addrs()) },
	} {
		t.Run(name, func(t *testing.T) { test(t, conn, "/"+strings.ReplaceAll(name, " ", "-")) })
	}
}

var shop = Namespace{Name: "shop", Layout: snow.DefaultLayout(), Workers: 4}

func refuseArguments(t *testing.T, conn *zk.Conn, root string) {
	lossy, many := shop, shop
	lossy.LossWindow, many.Workers = 5*time.Second, 1<<20
	calls := map[string]error{}
	for _, bad := range []string{"snow", "/", "/snow/", "//snow", "/a/../b", "/zookeeper", "/zookeeper/snow", "/a\x00", "/" + strings.Repeat("n", 255)} {
		calls["the root "+bad[:min(len(bad), 20)]] = Init(t.Context(), conn, bad, shop)
	}
	calls["no connection"] = Init(t.Context(), nil, root, shop)
	calls["a LossWindow"] = Init(t.Context(), conn, root, lossy)
	calls["too many workers"] = Init(t.Context(), conn, root, many)
	_, _, calls["another name"] = Open(t.Context(), conn, root, shop, LeaseConfig{Namespace: "other"})
	_, calls["a holder"] = Reserve(t.Context(), conn, root, "shop", "")
	_, calls["a namespace's name"] = Workers(t.Context(), conn, root, "sh op")
	for what, err := range calls {
		if !errors.As(err, new(*snow.FieldError)) {
			t.Errorf("%s: got %v, want a FieldError", what, err)
		}
	}
	calls = map[string]error{}
	_, calls["Acquire"] = Acquire(t.Context(), conn, root, LeaseConfig{Namespace: "shop", Logger: quiet})
	_, calls["Workers"] = Workers(t.Context(), conn, root, "shop")
	_, calls["Namespaces"] = Namespaces(t.Context(), conn, root, "shop")
	_, calls["Reserve"] = Reserve(t.Context(), conn, root, "shop", "rows")
	calls["Fence"] = Fence(t.Context(), conn, root, "shop")
	for what, err := range calls {
		if !errors.Is(err, ErrNoNamespace) || !strings.Contains(err.Error(), "call Init") {
			t.Errorf("%s without a namespace: got %v, want %v", what, err, ErrNoNamespace)
		}
	}
	if there, _, err := conn.Exists(root); err != nil || there {
		t.Errorf("functions that only read made %s: %v", root, err)
	}
}

func refuseLayout(t *testing.T, conn *zk.Conn, root string) {
	if err := Init(t.Context(), conn, root, shop); err != nil {
		t.Fatal(err)
	}
	for _, other := range []Namespace{
		{Name: "shop", Layout: snow.GameServers(), Workers: 4},
		{Name: "shop", Layout: snow.DefaultLayout(), Workers: 5},
		{Name: "shop", Layout: snow.DefaultLayout(), Workers: 4, Window: time.Minute},
	} {
		if err := Init(t.Context(), conn, root, other); !errors.Is(err, ErrNamespaceMismatch) {
			t.Errorf("%+v: got %v, want %v", other, err, ErrNamespaceMismatch)
		}
	}
	if err := Init(t.Context(), conn, root, shop); err != nil {
		t.Errorf("the same constants: %v", err)
	}
	tree := newStoreOf(conn, root)
	e, err := tree.Get(t.Context(), "namespaces/shop")
	if err != nil {
		t.Fatal(err)
	}
	put(t, tree, e[0], strings.Replace(string(e[0].Value), `"format":1`, `"format":2`, 1))
	if _, err := Workers(t.Context(), conn, root, "shop"); !errors.Is(err, ErrNamespaceMismatch) {
		t.Errorf("a newer format: got %v, want %v", err, ErrNamespaceMismatch)
	}
}

func value(t *testing.T, conn *zk.Conn, path string) []byte {
	t.Helper()
	data, _, err := conn.Get(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func set(t *testing.T, conn *zk.Conn, path, data string) {
	t.Helper()
	if _, err := conn.Set(path, []byte(data), -1); err != nil {
		t.Fatal(err)
	}
}

// refuseValues writes the row of a lease by hand: ids go on, and renewals say what is wrong until it is put right.
func refuseValues(t *testing.T, conn *zk.Conn, root string) {
	keys, l, err := Open(t.Context(), conn, root, shop, LeaseConfig{Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close(context.WithoutCancel(t.Context()))
	path := root + "/workers/shop/000000000" + string(rune('0'+l.Stats().Worker))
	was := string(value(t, conn, path))
	for _, bad := range []string{"", "nonsense", `{"state":"free"}`, strings.Replace(was, `"state":"granted"`, `"state":"leased"`, 1), strings.Replace(was, `"fence":1`, `"fence":-1`, 1), was + was, strings.Replace(was, `"renew_seq":1`, `"renew_seq":7`, 1)} {
		set(t, conn, path, bad)
		var damaged *DamagedError
		if err := l.Renew(t.Context()); !errors.As(err, &damaged) || !strings.HasSuffix(path, damaged.Key) {
			t.Errorf("%.80q: Renew: got %v, want a DamagedError", bad, err)
		}
		if _, err := keys.Next(t.Context()); err != nil {
			t.Errorf("%.80q: Next: %v", bad, err)
		}
	}
	set(t, conn, path, "nonsense")
	if _, err := Workers(t.Context(), conn, root, "shop"); !errors.As(err, new(*DamagedError)) {
		t.Errorf("Workers: got %v, want a DamagedError", err)
	}
	other, err := Acquire(t.Context(), conn, root, LeaseConfig{Namespace: "shop", Logger: quiet})
	if err != nil || other.Stats().Worker == l.Stats().Worker {
		t.Errorf("Acquire beside such a row: got %v", err)
	} else if err := other.Close(t.Context()); err != nil {
		t.Error(err)
	}
	set(t, conn, path, was)
	if err := l.Renew(t.Context()); err != nil {
		t.Errorf("Renew with the former value: %v", err)
	}
}

// refuseElsewhere makes the namespace again while a lease has one of its numbers.
func refuseElsewhere(t *testing.T, conn *zk.Conn, root string) {
	keys, l, err := Open(t.Context(), conn, root, shop, LeaseConfig{Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close(context.WithoutCancel(t.Context()))
	remove(t, conn, root+"/namespaces/shop")
	if err := l.Renew(t.Context()); !errors.Is(err, ErrElsewhere) {
		t.Errorf("Renew without the namespace: got %v, want %v", err, ErrElsewhere)
	}
	remove(t, conn, root+"/workers")
	if err := Init(t.Context(), conn, root, shop); err != nil {
		t.Fatal(err)
	}
	if err := l.Renew(t.Context()); !errors.Is(err, ErrElsewhere) {
		t.Errorf("Renew in another namespace: got %v, want %v", err, ErrElsewhere)
	}
	if _, err := keys.Next(t.Context()); err != nil || l.Err() != nil {
		t.Errorf("Next: %v; the lease has ended: %v", err, l.Err())
	}
}

// remove deletes a znode with all below it.
func remove(t *testing.T, conn *zk.Conn, path string) {
	t.Helper()
	names, _, err := conn.Children(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		remove(t, conn, path+"/"+name)
	}
	if err := conn.Delete(path, -1); err != nil {
		t.Fatal(err)
	}
}

// refuseAccount lets an account in that has the wrong password.
func refuseAccount(t *testing.T, conn *zk.Conn, root string, addrs []string) {
	if _, err := conn.Create(root, nil, 0, zk.DigestACL(zk.PermAll, "snow", "right")); err != nil {
		t.Fatal(err)
	}
	wrong, right := dial(t, addrs...), dial(t, addrs...)
	if err := errors.Join(wrong.AddAuth("digest", []byte("snow:wrong")), right.AddAuth("digest", []byte("snow:right"))); err != nil {
		t.Fatal(err)
	}
	refused := func(what string, err error) {
		t.Helper()
		if !errors.As(err, new(*StoreError)) || !errors.Is(err, zk.ErrNoAuth) || !strings.Contains(err.Error(), "AddAuth") || strings.Contains(err.Error(), "wrong") {
			t.Errorf("%s: got %v, want %v and what to do", what, err, zk.ErrNoAuth)
		}
	}
	refused("Init", Init(t.Context(), wrong, root, shop))
	_, l, err := Open(t.Context(), right, root, shop, LeaseConfig{Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close(context.WithoutCancel(t.Context()))
	_, err = Acquire(t.Context(), wrong, root, LeaseConfig{Namespace: "shop", Logger: quiet})
	refused("Acquire", err)
	_, err = Workers(t.Context(), wrong, root, "shop")
	refused("Workers", err)
	acl, _, err := right.GetACL(root + "/workers/shop/0000000003")
	if err != nil || len(acl) != 1 || acl[0].Scheme != "digest" {
		t.Errorf("the ACL of a row is %v and %v, want the root's", acl, err)
	}
}

// ownRoot gives an account nothing but its root.
func ownRoot(t *testing.T, conn *zk.Conn, root string, addrs []string) {
	for _, path := range []string{root, root + "/team", root + "/team/snow"} {
		if _, err := conn.Create(path, nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := conn.SetACL(root+"/team/snow", zk.DigestACL(zk.PermAll, "team", "secret"), -1); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.SetACL(root+"/team", zk.WorldACL(zk.PermRead), -1); err != nil {
		t.Fatal(err)
	}
	team := dial(t, addrs...)
	if err := team.AddAuth("digest", []byte("team:secret")); err != nil {
		t.Fatal(err)
	}
	if err := Init(t.Context(), team, root+"/team/snow", shop); err != nil {
		t.Error(err)
	}
}

func refuseClosed(t *testing.T, root string, addrs []string) {
	conn := dial(t, addrs...)
	_, l, err := Open(t.Context(), conn, root, shop, LeaseConfig{Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	if err := l.Renew(t.Context()); !errors.Is(err, zk.ErrConnectionClosed) {
		t.Errorf("Renew: got %v, want %v", err, zk.ErrConnectionClosed)
	}
	if err := l.Close(t.Context()); !errors.Is(err, zk.ErrConnectionClosed) {
		t.Errorf("Close: got %v, want %v", err, zk.ErrConnectionClosed)
	}
}
