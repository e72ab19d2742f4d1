package page

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// isForeign reports whether a browser may have been led here by a name that somebody else owns. A page of the web whose name
// begins to mean a loopback address (DNS rebinding) could read this one; the header Host tells it.
func (h *Handler) isForeign(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false // no server of net/http
	}
	address, err := netip.ParseAddrPort(local.String())
	if err != nil || !address.Addr().Unmap().IsLoopback() {
		return false
	}
	name := nameOf(r.Host)
	if _, err := netip.ParseAddr(name); err == nil { // nobody owns it
		return false
	}
	return name != "localhost" && !strings.HasSuffix(name, ".localhost") && !slices.Contains(h.hosts, name)
}

// nameOf returns the host of a header Host without its port, in lower case.
func nameOf(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return strings.ToLower(strings.TrimSuffix(host, "."))
}
