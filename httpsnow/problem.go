package httpsnow

import (
	"encoding/json"
	"net/http"
)

// problem answers with a problem document (RFC 9457). detail must hold no secret.
func problem(w http.ResponseWriter, status int, detail string) {
	b, err := json.Marshal(struct {
		Title  string `json:"title"`
		Status int    `json:"status"`
		Detail string `json:"detail"`
	}{http.StatusText(status), status, detail})
	if err != nil {
		b = []byte("{}") // strings and numbers can always be written
	}
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(append(b, '\n')) // the client is gone
}
