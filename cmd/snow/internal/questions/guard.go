package questions

import (
	"crypto/rand"
	"crypto/subtle"
	"net/http"
	"strings"
)

// policy lets a browser load the style of the page, send its forms, and do nothing else. There are no scripts.
const policy = "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// mostBody is how many bytes a form may have.
const mostBody = 64 << 10

// A guard answers only who knows the secret path, under a name of this machine, and no form of another page.
type guard struct {
	next    http.Handler // for paths below the secret one
	secret  string       // what paths begin with
	form    string       // what forms repeat
	names   []string     // of the server, with its port
	origins http.CrossOriginProtection
}

func newGuard(next http.Handler, port string) *guard {
	return &guard{next: next, secret: rand.Text(), form: rand.Text(), names: []string{"127.0.0.1:" + port, "localhost:" + port}}
}

// ServeHTTP answers a request.
func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Security-Policy", policy)
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "same-origin") // the path is secret; with no-referrer forms would have no origin
	header.Set("Cache-Control", "no-store")
	secret, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch {
	case r.Host != g.names[0] && r.Host != g.names[1]: // DNS rebinding
		http.Error(w, "the page is not served under this name and port: use the address that the command has printed, also behind ssh -L", http.StatusMisdirectedRequest)
	case subtle.ConstantTimeCompare([]byte(secret), []byte(g.secret)) != 1:
		http.Error(w, "unknown page: open the address that the command has printed", http.StatusNotFound)
	case r.Method == http.MethodPost && !g.isOwnForm(w, r):
		http.Error(w, "the form is not from this page", http.StatusForbidden)
	default:
		http.StripPrefix("/"+g.secret, g.next).ServeHTTP(w, r)
	}
}

// isOwnForm reports whether a form was sent by the page.
func (g *guard) isOwnForm(w http.ResponseWriter, r *http.Request) bool {
	if g.origins.Check(r) != nil {
		return false
	}
	r.Body = http.MaxBytesReader(w, r.Body, mostBody)
	return r.ParseForm() == nil && subtle.ConstantTimeCompare([]byte(r.PostForm.Get("form")), []byte(g.form)) == 1
}
