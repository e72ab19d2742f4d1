package database

import (
	"reflect"
	"strings"
	"testing"
)

func TestClusters(t *testing.T) {
	for dsn, want := range map[string]Cluster{
		"etcd://a":                              {Scheme: "etcd", Addrs: []string{"a:2379"}},
		"etcd://a:1,b:2/games/":                 {Scheme: "etcd", Addrs: []string{"a:1", "b:2"}, Path: "games"},
		"etcd://u:p%40%3A@a:1/x/y":              {Scheme: "etcd", Addrs: []string{"a:1"}, Path: "x/y", User: "u", Password: "p@:"},
		"etcd://a/?tls=true&ca=/c&cert=d&key=e": {Scheme: "etcd", Addrs: []string{"a:2379"}, TLS: true, CA: "/c", Cert: "d", Key: "e"},
	} {
		if got, err := parseCluster(dsn); err != nil || !reflect.DeepEqual(*got, want) {
			t.Errorf("%s: got %+v and %v, want %+v", dsn, got, err, want)
		}
	}
	for _, dsn := range []string{
		"etcd://", "etcd:///x", "etcd://a,,b", "etcd://a:", "etcd://secret@a", "etcd://:secret@a", "etcd://%zz:secret@a", "etcd://a?tls=secret", "etcd://a?secre=1",
		"etcd://a?ca=secret", "etcd://a?tls=true&cert=secret", "etcd://a?%zz=secret",
	} {
		if got, err := parseCluster(dsn); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: got %+v and %v, want an error without the secret", dsn, got, err)
		}
	}
}

func FuzzCluster(f *testing.F) {
	f.Add("etcd://u:p@a:1,b:2/x?tls=true")
	f.Fuzz(func(t *testing.T, dsn string) {
		if c, err := parseCluster(dsn); err == nil && (len(c.Addrs) == 0 || strings.HasPrefix(c.Path, "/")) {
			t.Errorf("%q: %+v", dsn, c)
		}
	})
}
