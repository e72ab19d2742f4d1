package opaque

import (
	"crypto/aes"
	"crypto/cipher"
	"fmt"
	"log/slog"
	"strconv"
	"strings"

	"github.com/shardsnow/snow"
)

// Keys are the keys of a program. They are safe for concurrent use, and are printed
// and logged without secrets. The zero Keys has none, and its Type returns an error.
type Keys struct {
	blocks   [mostVersions]cipher.Block // nil where there is no key
	newest   int                        // the version that encodes
	versions []string                   // what String shows
}

// New returns keys of different versions. The one with the highest version encodes,
// leaving aside keys with [Key.DecodeOnly], and all decode. The order does not matter.
// No key, two keys of one version, one secret for two versions, and no key that may
// encode are a [*KeyError].
func New(keys ...Key) (*Keys, error) {
	k, err := newKeys(keys)
	if err != nil {
		return nil, fmt.Errorf("opaque: %w", err)
	}
	return k, nil
}

func newKeys(list []Key) (*Keys, error) {
	keys := &Keys{newest: -1}
	secrets := make(map[[32]byte]int)
	for _, k := range list {
		if k.length == 0 {
			return nil, &KeyError{Version: -1, Reason: "the zero Key has no secret"}
		}
		if keys.blocks[k.version] != nil {
			return nil, &KeyError{Version: k.version, Reason: "there are two keys of this version"}
		}
		if other, ok := secrets[k.secret]; ok {
			return nil, &KeyError{Version: k.version, Reason: "version " + strconv.Itoa(other) + " has the same secret"}
		}
		block, err := aes.NewCipher(k.secret[:k.length])
		if err != nil {
			return nil, &KeyError{Version: k.version, Reason: err.Error()}
		}
		secrets[k.secret], keys.blocks[k.version] = k.version, block
		keys.versions = append(keys.versions, strconv.Itoa(k.version))
		if !k.decodeOnly {
			keys.newest = max(keys.newest, k.version)
		}
	}
	if keys.newest < 0 {
		return nil, &KeyError{Version: -1, Reason: "want a key that may encode"}
	}
	return keys, nil
}

// Type returns the codec of a type of ids. The prefix, such as "ord", is 1 to 11 letters from
// a to z, or empty for texts without one. Each type has texts of its own, so
// the prefix of a type never changes. Another prefix is a [*snow.FieldError].
func (k *Keys) Type(prefix string) (*Codec, error) {
	if !validPrefix(prefix) {
		return nil, fmt.Errorf("opaque: %w", &snow.FieldError{Field: "prefix", Value: strconv.Quote(prefix), Bound: "want up to 11 letters from a to z"})
	}
	if k == nil || len(k.versions) == 0 {
		return nil, fmt.Errorf("opaque: %w", &KeyError{Version: -1, Reason: "want Keys from New"})
	}
	c := &Codec{prefix: prefix, newest: k.newest}
	for version, block := range k.blocks {
		if block != nil {
			c.permutations[version] = newPermutation(block, prefix)
		}
	}
	return c, nil
}

// String returns the versions of the keys, without secrets.
func (k Keys) String() string {
	if len(k.versions) == 0 {
		return "opaque.Keys(none)"
	}
	return "opaque.Keys(versions " + strings.Join(k.versions, " ") + ", encoding with " + strconv.Itoa(k.newest) + ")"
}

// Format implements [fmt.Formatter]: every verb prints [Keys.String].
func (k Keys) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(k.String())) }

// LogValue implements [slog.LogValuer] with [Keys.String].
func (k Keys) LogValue() slog.Value { return slog.StringValue(k.String()) }
