// Package testscale says how much work a test does: little enough to wait for it, or, with SNOW_TEST_LONG=1, which make
// test-long sets, enough to find rare failures.
package testscale

import (
	"os"
	"testing"
)

// Long reports whether tests may take minutes.
func Long() bool { return os.Getenv("SNOW_TEST_LONG") == "1" }

// Of returns the first of two sizes, or the second if tests may take minutes.
func Of[T any](usual, long T) T {
	if Long() {
		return long
	}
	return usual
}

// NeedLong skips a test that makes no sense in a smaller size.
func NeedLong(tb testing.TB) {
	tb.Helper()
	if !Long() {
		tb.Skip("takes long: make test-long runs it")
	}
}
