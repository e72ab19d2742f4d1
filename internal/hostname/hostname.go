// Package hostname tells requests under a name that a stranger may own.
//
// The owner of a name can make it mean another address (DNS rebinding). Then a browser takes a page of that name and this server for
// one origin, and the page reads what the server answers. Only the header Host shows it.
package hostname

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// A Rule says which names requests may use.
type Rule struct{ names []string }

// NewRule returns a Rule that allows names, with or without a port.
func NewRule(names []string) Rule {
	var r Rule
	for _, name := range names {
		r.names = append(r.names, of(name))
	}
	return r
}

// Refuses reports whether a request uses a name that a stranger may own. Without names, only requests to loopback addresses are
// looked at: elsewhere the names of a machine are its operator's business. Addresses and localhost are always
// allowed, and no name at all, which no browser sends.
func (rule Rule) Refuses(r *http.Request) bool {
	if len(rule.names) == 0 && !isLoopback(r) {
		return false
	}
	name := of(r.Host)
	if name == "" || name == "localhost" || strings.HasSuffix(name, ".localhost") || slices.Contains(rule.names, name) {
		return false
	}
	_, err := netip.ParseAddr(name)
	return err != nil // nobody owns an address
}

// isLoopback reports whether a request came to a loopback address. Only servers of net/http tell.
func isLoopback(r *http.Request) bool {
	switch local := r.Context().Value(http.LocalAddrContextKey).(type) {
	case *net.TCPAddr:
		return local.IP.IsLoopback()
	case nil:
		return false
	case net.Addr:
		address, err := netip.ParseAddrPort(local.String())
		return err == nil && address.Addr().Unmap().IsLoopback()
	}
	return false
}

// of returns a host without its port, in lower case.
func of(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return strings.ToLower(strings.TrimSuffix(host, "."))
}
