package httpsnow

import (
	"errors"
	"strings"
	"testing"

	"github.com/shardsnow/snow"
)

// Tokens are replaced while requests come. What can't be used changes nothing, and nobody is let in.
func TestSetTokens(t *testing.T) {
	const first, second = "0123456789abcdef", "fedcba9876543210"
	h := newHandler(t, &counter{}, Config{Tokens: []string{first}})
	status := func(token string) int { return ask(h, "POST", "/v1/ids", "Authorization: Bearer "+token).Code }
	for _, bad := range [][]string{nil, {}, {second, "geheim"}} {
		var field *snow.FieldError
		if err := h.SetTokens(bad); !errors.As(err, &field) || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%q: %v", bad, err)
		}
		if a, b, none := status(first), status(second), status(""); a != 200 || b != 401 || none != 401 {
			t.Errorf("after %q: %d, %d, %d", bad, a, b, none)
		}
	}
	if err := h.SetTokens([]string{second}); err != nil {
		t.Fatal(err)
	}
	if a, b := status(first), status(second); a != 401 || b != 200 {
		t.Errorf("with another token: %d, %d", a, b)
	}
}
