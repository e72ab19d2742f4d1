package opaque_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/opaque"
)

// secret returns a secret of n bytes, another one for each seed.
func secret(n int, seed byte) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = seed + byte(i)
	}
	return b
}

func newKey(t testing.TB, version, bytes int, seed byte) opaque.Key {
	t.Helper()
	k, err := opaque.NewKey(version, secret(bytes, seed))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func newType(t testing.TB, prefix string, list ...opaque.Key) *opaque.Codec {
	t.Helper()
	keys, err := opaque.New(list...)
	if err != nil {
		t.Fatal(err)
	}
	codec, err := keys.Type(prefix)
	if err != nil {
		t.Fatal(err)
	}
	return codec
}

func TestWrongKeys(t *testing.T) {
	for n := range 66 {
		_, err := opaque.NewKey(1, secret(n, 1))
		var e *opaque.KeyError
		if good := slices.Contains([]int{16, 24, 32}, n); good != (err == nil) || !good && (!errors.As(err, &e) || e.Version != 1) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	for _, version := range []int{-1, 16} {
		if k, err := opaque.NewKey(version, secret(16, 1)); err == nil {
			t.Errorf("version %d is a key: %v", version, k)
		}
	}
	if k, err := opaque.NewKey(1, make([]byte, 32)); err == nil {
		t.Errorf("zeros are a key: %v", k)
	}
	one := newKey(t, 1, 16, 1)
	for _, test := range []struct {
		name string
		keys []opaque.Key
		want string
	}{
		{"none", nil, "may encode"},
		{"zero", []opaque.Key{{}}, "zero Key"},
		{"two of a version", []opaque.Key{one, newKey(t, 1, 16, 2)}, "two keys"},
		{"one secret twice", []opaque.Key{one, newKey(t, 2, 16, 1)}, "same secret"},
		{"none that encodes", []opaque.Key{one.DecodeOnly()}, "may encode"},
	} {
		_, err := opaque.New(test.keys...)
		var e *opaque.KeyError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}

func TestFilesOfKeys(t *testing.T) {
	const a, b = "000102030405060708090a0b0c0d0e0f", "F00102030405060708090a0b0c0d0e0F1011121314151617"
	list, err := opaque.ParseKeys([]byte("# keys of the shop\n\n 3 " + a + "\r\n15\t" + b + "  decode"))
	if err != nil || len(list) != 2 || list[0].Version() != 3 || list[1].Version() != 15 {
		t.Fatalf("got %v, %v", list, err)
	}
	if got := fmt.Sprint(list); got != "[opaque.Key(version 3, AES-128) opaque.Key(version 15, AES-192, decode only)]" {
		t.Error(got)
	}
	for _, test := range []struct {
		text string
		line int
		want string
	}{
		{"1", 1, "want a version"},
		{"# ok\n1 " + a + " encode", 2, "want a version"},
		{"1 " + a + " decode decode", 1, "want a version"},
		{"01 " + a, 1, "from 0 to 15"},
		{"+1 " + a, 1, "from 0 to 15"},
		{"16 " + a, 1, "from 0 to 15"},
		{"\n\n1 " + a[1:], 3, "hexadecimal"},
		{"1 " + a[2:], 1, "15 bytes"},
		{"1 " + strings.Repeat("0", 32), 1, "all zeros"},
	} {
		_, err := opaque.ParseKeys([]byte(test.text))
		var e *opaque.KeyError
		if !errors.As(err, &e) || e.Line != test.line || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), a[2:20]) {
			t.Errorf("%q: %v, want line %d and %q", test.text, err, test.line, test.want)
		}
	}

	path := filepath.Join(t.TempDir(), "keys")
	if _, err := opaque.ReadKeys(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a file: %v", err)
	}
	for text, good := range map[string]bool{"1 " + a: true, "1 " + a + "\n1 " + b: false, "": false, "x": false} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := opaque.ReadKeys(path)
		var e *opaque.KeyError
		if good != (err == nil) || !good && (!errors.As(err, &e) || !strings.Contains(err.Error(), path)) {
			t.Errorf("a file of %q: %v", text, err)
		}
	}
}

// Nothing that prints, logs or encodes a key shows its secret.
func TestSecretsAreHidden(t *testing.T) {
	k := newKey(t, 4, 32, 0x41) // ABCD…
	keys, err := opaque.New(k)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for _, v := range []any{k, &k, keys, *keys, []opaque.Key{k}, map[string]any{"k": k, "keys": keys}, struct{ Key opaque.Key }{k}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T", "%o"} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
		for _, h := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
			slog.New(h).Info("keys", "v", v)
		}
		if err := json.NewEncoder(&out).Encode(v); err != nil {
			t.Error(err)
		}
	}
	text := strings.ToLower(out.String())
	s := secret(32, 0x41)
	for _, hidden := range []string{string(s[:8]), hex.EncodeToString(s[:4]), "65 66 67", "65,66,67", "0x41, 0x42", "101 102 103", "\\x41"} {
		if strings.Contains(text, strings.ToLower(hidden)) {
			t.Errorf("the output has %q:\n%s", hidden, out.String())
		}
	}
	if !strings.Contains(text, "version 4") || !strings.Contains(fmt.Sprint(keys), "encoding with 4") {
		t.Errorf("the output does not name the key:\n%s", out.String())
	}
	if got := fmt.Sprint(opaque.Key{}, new(opaque.Keys)); got != "opaque.Key(none) opaque.Keys(none)" {
		t.Errorf("zero values are %s", got)
	}
}

func TestPrefixes(t *testing.T) {
	keys, err := opaque.New(newKey(t, 1, 16, 1))
	if err != nil {
		t.Fatal(err)
	}
	for prefix, good := range map[string]bool{
		"": true, "a": true, "ord": true, "abcdefghijk": true,
		"abcdefghijkl": false, "Ord": false, "ord_": false, "o-d": false, "v2": false, "é": false, " ": false,
	} {
		_, err := keys.Type(prefix)
		var e *snow.FieldError
		if good != (err == nil) || !good && !errors.As(err, &e) {
			t.Errorf("%q: %v", prefix, err)
		}
	}
	var none opaque.Keys
	if _, err := none.Type("ord"); err == nil {
		t.Error("the zero Keys has types")
	}
}
