package opaque

import (
	"fmt"
	"log/slog"
	"strconv"
)

const mostVersions = 16 // a version has 4 bits

// A Key is an AES key and its version. It is printed and logged without the secret,
// and has no way to read it back. The zero Key is no key.
type Key struct {
	version    int
	secret     [32]byte
	length     int // of the secret
	decodeOnly bool
}

// NewKey returns the key of a version from 0 to 15. The secret is 16, 24 or 32 random
// bytes, for AES-128, AES-192 or AES-256, and is copied. The error is a
// [*KeyError].
func NewKey(version int, secret []byte) (Key, error) {
	k, err := newKey(version, secret)
	if err != nil {
		return Key{}, fmt.Errorf("opaque: %w", err)
	}
	return k, nil
}

func newKey(version int, secret []byte) (Key, *KeyError) {
	if version < 0 || version >= mostVersions {
		return Key{}, &KeyError{Version: -1, Reason: "version " + strconv.Itoa(version) + ": want 0 to 15"}
	}
	switch len(secret) {
	case 16, 24, 32:
	default:
		return Key{}, &KeyError{Version: version, Reason: "the secret has " + strconv.Itoa(len(secret)) + " bytes: want 16, 24 or 32"}
	}
	k := Key{version: version, length: len(secret)}
	copy(k.secret[:], secret)
	if k.secret == ([32]byte{}) {
		return Key{}, &KeyError{Version: version, Reason: "the secret is all zeros"}
	}
	return k, nil
}

// DecodeOnly returns k as a key that never encodes, even if it is the newest.
func (k Key) DecodeOnly() Key {
	k.decodeOnly = true
	return k
}

// Version returns the version of k.
func (k Key) Version() int { return k.version }

// String returns the version of k, without the secret.
func (k Key) String() string {
	if k.length == 0 {
		return "opaque.Key(none)"
	}
	text := "opaque.Key(version " + strconv.Itoa(k.version) + ", AES-" + strconv.Itoa(8*k.length)
	if k.decodeOnly {
		text += ", decode only"
	}
	return text + ")"
}

// Format implements [fmt.Formatter]: every verb prints [Key.String].
func (k Key) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(k.String())) }

// LogValue implements [slog.LogValuer] with [Key.String].
func (k Key) LogValue() slog.Value { return slog.StringValue(k.String()) }

// MarshalText implements [encoding.TextMarshaler] with [Key.String], so JSON has no
// secret either.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }
