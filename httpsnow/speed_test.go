package httpsnow

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/shardsnow/snow"
)

// A sink is an answer that nobody reads.
type sink struct{ header http.Header }

func (s *sink) Header() http.Header         { return s.header }
func (s *sink) Write(b []byte) (int, error) { return len(b), nil }
func (s *sink) WriteHeader(int)             {}

// BenchmarkGive is what a request costs beside the work of net/http.
func BenchmarkGive(b *testing.B) {
	for name, accept := range map[string]string{"json": "application/json", "binary": "application/octet-stream"} {
		b.Run(name, func(b *testing.B) {
			worker, err := snow.Fixed(snow.DefaultLayout(), 0)
			if err != nil {
				b.Fatal(err)
			}
			gen, err := snow.NewGenerator(worker, snow.Config{})
			if err != nil {
				b.Fatal(err)
			}
			h, err := New(gen, Config{})
			if err != nil {
				b.Fatal(err)
			}
			r := httptest.NewRequest(http.MethodPost, "/v1/ids", nil)
			r.Host = "127.0.0.1:8017" // as a client sends it
			r.Header.Set("Accept", accept)
			w := &sink{make(http.Header)}
			b.ReportAllocs()
			for b.Loop() {
				clear(w.header)
				h.ServeHTTP(w, r)
			}
		})
	}
}
