package hostname

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestRefuses(t *testing.T) {
	loopback, elsewhere := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8017}, &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 8017}
	named := []string{"Snow.Example.org"}
	for _, tt := range []struct {
		local net.Addr
		names []string
		host  string
		want  bool
	}{
		{loopback, nil, "127.0.0.1:8017", false},
		{loopback, nil, "[::1]:8017", false},
		{loopback, nil, "[::1]", false},
		{loopback, nil, "LOCALHOST.:80", false},
		{loopback, nil, "snow.localhost:8017", false},
		{loopback, nil, "evil.example.org:8017", true},
		{loopback, nil, "localhost.evil.example.org", true},
		{loopback, nil, "127.0.0.1.evil.example.org", true},
		{loopback, nil, "notlocalhost", true},
		{loopback, nil, "", false}, // a probe with HTTP/1.0
		{loopback, named, "snow.example.ORG:443", false},
		{loopback, named, "evil.example.org", true},
		{elsewhere, nil, "evil.example.org", false},
		{elsewhere, named, "evil.example.org", true},
		{elsewhere, named, "snow.example.org", false},
		{elsewhere, named, "10.0.0.1:8017", false}, // a probe of a cluster
		{&net.UnixAddr{Name: "/run/snow.sock", Net: "unix"}, nil, "evil.example.org", false},
		{nil, nil, "evil.example.org", false},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Host = tt.host
		if tt.local != nil {
			r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, tt.local))
		}
		if got := NewRule(tt.names).Refuses(r); got != tt.want {
			t.Errorf("%v %v %q: %v, want %v", tt.local, tt.names, tt.host, got, tt.want)
		}
	}
}
