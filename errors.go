package snow

import (
	"errors"
	"strconv"
)

// Errors that callers branch on. They are wrapped: use errors.Is.
var (
	// ErrTimeExhausted is returned by Generator methods when the layout's
	// timestamp has no tick left. See [Layout.End].
	ErrTimeExhausted = errors.New("the layout's timestamp is exhausted")

	// ErrLeaseExpired is returned by Generator methods when the worker has no
	// tick left: its ticks are used up, lost, or given back because the lease is
	// closed. The error also wraps the reason, if the worker gave one with
	// [Grant.Explain].
	ErrLeaseExpired = errors.New("the worker's granted ticks are used up")
)

// A ParseError says why a text or a database value is not an [ID], [IDs], a [Layout], or a text of package opaque.
type ParseError struct {
	Kind  string // what was expected: "id", "ids", "base32 id", "opaque id" or "layout"
	Input string // the offending text
	Err   error  // the reason
}

// Error returns the kind, the quoted input, shortened if it is long, and the reason.
func (e *ParseError) Error() string {
	return "parse " + e.Kind + " " + quote(e.Input) + ": " + e.Err.Error()
}

// Unwrap returns the reason.
func (e *ParseError) Unwrap() error { return e.Err }

// A FieldError names a field whose value is out of bounds.
type FieldError struct {
	Field string // for example "bits", "tick" or "worker"
	Value string // the offending value
	Bound string // what the field can hold
}

// Error returns the field, its value and its bound.
func (e *FieldError) Error() string { return e.Field + " " + e.Value + ": " + e.Bound }

// quote keeps messages short whatever the input is.
func quote(s string) string {
	const limit = 64
	if len(s) > limit {
		return strconv.Quote(s[:limit]) + "…"
	}
	return strconv.Quote(s)
}
