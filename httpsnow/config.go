package httpsnow

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/shardsnow/snow"
)

// Config configures [New]. Its zero value is for a handler that only programs of
// this machine reach.
type Config struct {
	// Layout says what the bits of ids mean, for GET /v1/ids/ID. Default: the layout of the
	// source, if it has a method Layout, as a *snow.Generator has. Without a layout that path does not exist.
	Layout snow.Layout

	// Tokens are bearer tokens of 16 to 1024 bytes without spaces. A request must have one of them. Without
	// Tokens, every program that reaches the handler may ask, but no page of another origin in a browser.
	// /healthz, /readyz and /openapi.json never need a token.
	// Tokens are only secret if the connection is encrypted.
	Tokens []string

	// Hosts are the names that requests may use besides localhost and addresses, such as the name of a
	// proxy in front. A request for another name gets status 421. Without Hosts, other addresses than
	// loopback allow any name. With Tokens, names do not count: a page of the web has no token.
	Hosts []string

	// MaxIDs is how many ids one request may ask for: 1 to a million. Zero means 10,000. Of requests for
	// more than 1,024 ids, 4,000,000 / MaxIDs are answered at the same time; others wait, up to Timeout.
	MaxIDs int

	// Rate bounds the ids a second that the handler makes for all clients
	// together. A burst may have as many as Rate or MaxIDs, whichever is more. Zero means no bound.
	Rate float64

	// Timeout is how long a request may wait for ids, up to an hour. Zero means 5 s.
	Timeout time.Duration

	// Ready, if not nil, is asked by /readyz: an error means that the process should get no requests. Look at the
	// window that a lease has left, as LeaseStats.Left of package sqlsnow says. It must be safe for concurrent use.
	// It gets a context that ends after Timeout.
	Ready func(ctx context.Context) error

	// Metrics, if not nil, is served at /metrics, for example promhttp.Handler.
	Metrics http.Handler

	// Page, if not nil, is served at /page/ and below, for people with a browser, for example package page's. If
	// there are Tokens, the browser asks for a password, which is one of them, with any name. Such a password opens the
	// page only.
	Page http.Handler

	// Logger logs requests that got no ids because of the source, at most one each second. Nil means slog.Default.
	Logger *slog.Logger
}

const (
	defaultMaxIDs  = 10_000
	mostIDs        = 1_000_000
	piece          = 1024      // ids that are written at once
	mostHeld       = 4_000_000 // ids in all answers of more than a piece, 32 MB
	defaultTimeout = 5 * time.Second
	longestTimeout = time.Hour
	shortestToken  = 16
	longestToken   = 1024
)

// checked returns c with its defaults, or a *snow.FieldError.
func (c Config) checked(src snow.Source) (Config, error) {
	if c.Layout == (snow.Layout{}) {
		if s, ok := src.(interface{ Layout() snow.Layout }); ok {
			c.Layout = s.Layout()
		}
	}
	if c.MaxIDs == 0 {
		c.MaxIDs = defaultMaxIDs
	}
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	switch {
	case c.MaxIDs < 1 || c.MaxIDs > mostIDs:
		return c, &snow.FieldError{Field: "MaxIDs", Value: strconv.Itoa(c.MaxIDs), Bound: fmt.Sprintf("want 1 to %d", mostIDs)}
	case !(c.Rate >= 0) || math.IsInf(c.Rate, 1):
		return c, &snow.FieldError{Field: "Rate", Value: fmt.Sprint(c.Rate), Bound: "want 0 or more"}
	case c.Timeout < 0 || c.Timeout > longestTimeout:
		return c, &snow.FieldError{Field: "Timeout", Value: c.Timeout.String(), Bound: fmt.Sprintf("want 0 to %v", longestTimeout)}
	}
	return c, checkTokens(c.Tokens)
}

// checkTokens returns a *snow.FieldError, or nil.
func checkTokens(tokens []string) error {
	if tokens != nil && len(tokens) == 0 {
		return &snow.FieldError{Field: "Tokens", Value: "empty", Bound: "want nil, or one or more"}
	}
	for i, token := range tokens {
		if len(token) < shortestToken || len(token) > longestToken || !isToken(token) {
			return &snow.FieldError{ // without the token
				Field: "Tokens", Value: fmt.Sprintf("[%d] of %d bytes", i, len(token)),
				Bound: fmt.Sprintf("want %d to %d ASCII characters without spaces", shortestToken, longestToken),
			}
		}
	}
	return nil
}

func isToken(text string) bool {
	for i := range len(text) {
		if text[i] <= ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// hashes returns the SHA-256 sums of tokens. Sums of equal length are compared in constant time, whatever the
// tokens' lengths.
func hashes(tokens []string) [][sha256.Size]byte {
	all := make([][sha256.Size]byte, len(tokens))
	for i, token := range tokens {
		all[i] = sha256.Sum256([]byte(token))
	}
	return all
}
