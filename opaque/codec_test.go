package opaque_test

import (
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/testkit/golden"
	"github.com/shardsnow/snow/internal/testkit/testscale"
	"github.com/shardsnow/snow/opaque"
)

// What a text means never changes: testdata/golden.csv only grows.
func TestGolden(t *testing.T) {
	var b strings.Builder
	b.WriteString("version,secret,prefix,id,text\n")
	ids := []snow.ID{1, 2, 1<<31 - 1, 1 << 31, 1 << 32, 286467607756828714, 286467607756828715, math.MaxInt64}
	for i, bytes := range []int{16, 24, 32} {
		for _, prefix := range []string{"", "a", "ord", "usr", "abcdefghijk"} {
			version := 7 * i
			codec := newType(t, prefix, newKey(t, version, bytes, byte(16*(i+1))))
			for _, id := range ids {
				fmt.Fprintf(&b, "%d,%x,%s,%d,%s\n", version, secret(bytes, byte(16*(i+1))), prefix, id, codec.Encode(id).Text())
			}
		}
	}
	golden.Check(t, "testdata/golden.csv", b.String())

	file, err := os.Open("testdata/golden.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil || len(rows) < 121 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for _, row := range rows[1:] {
		version, err := strconv.Atoi(row[0])
		if err != nil {
			t.Fatal(err)
		}
		bytes, err := hex.DecodeString(row[1])
		if err != nil {
			t.Fatal(err)
		}
		key, err := opaque.NewKey(version, bytes)
		if err != nil {
			t.Fatal(err)
		}
		id, err := newType(t, row[2], key).Parse(row[4])
		if err != nil || id.String() != row[3] {
			t.Errorf("%s is %d, %v, want %s", row[4], id, err, row[3])
		}
	}
}

func TestKeysAndTypes(t *testing.T) {
	first, second := newKey(t, 1, 16, 1), newKey(t, 2, 32, 2)
	old, both, next := newType(t, "ord", first), newType(t, "ord", second, first), newType(t, "ord", first, second.DecodeOnly())
	users := newType(t, "usr", first)
	plain := newType(t, "", first)

	const id = snow.ID(286467607756828714)
	a, b := old.Encode(id), both.Encode(id)
	if a == b || !strings.HasPrefix(a.Text(), "ord_1") || !strings.HasPrefix(b.Text(), "ord_2") || next.Encode(id) != a {
		t.Fatalf("got %s and %s", a, b)
	}
	if got := a.Text()[5:]; users.Encode(id).Text()[5:] == got || plain.Encode(id).Text()[1:] == got {
		t.Error("two types have the same text of an id")
	}
	for _, test := range []struct {
		name  string
		codec *opaque.Codec
		text  string
		want  error
	}{
		{"the key is the newest", old, a.Text(), nil},
		{"the key is older", both, a.Text(), nil},
		{"the key only decodes", next, b.Text(), nil},
		{"the key is unknown", old, b.Text(), opaque.ErrKey},
		{"upper case", both, strings.ToUpper(b.Text()), nil},
		{"another type", users, a.Text(), opaque.ErrPrefix},
		{"a type where none is wanted", plain, a.Text(), opaque.ErrPrefix},
		{"no type", old, plain.Encode(id).Text(), opaque.ErrPrefix},
		{"mistyped", old, a.Text()[:8] + "0" + a.Text()[9:], opaque.ErrCheck},
		{"decimal", old, id.String(), opaque.ErrForm},
		{"empty", old, "", opaque.ErrForm},
	} {
		got, err := test.codec.Parse(test.text)
		var e *snow.ParseError
		switch {
		case test.want == nil && (err != nil || got != id):
			t.Errorf("%s: %d, %v, want %d", test.name, got, err, id)
		case test.want != nil && (!errors.Is(err, test.want) || !errors.As(err, &e) || e.Input != test.text || got != 0):
			t.Errorf("%s: %d, %v, want %v", test.name, got, err, test.want)
		}
	}
	if got, err := both.Decode(a); err != nil || got != id {
		t.Errorf("Decode: %d, %v", got, err)
	}
	if _, err := users.Decode(a); !errors.Is(err, opaque.ErrPrefix) {
		t.Errorf("Decode of another type: %v", err)
	}
	if _, err := old.Decode(opaque.ID{}); !errors.Is(err, opaque.ErrZero) {
		t.Errorf("Decode of the zero ID: %v", err)
	}
	if old.Prefix() != "ord" || a.Prefix() != "ord" || plain.Encode(id).Prefix() != "" || (opaque.ID{}).Prefix() != "" {
		t.Error("the prefixes are wrong")
	}
	for _, none := range []snow.ID{0, -1, math.MinInt64} {
		if got := old.Encode(none); !got.IsZero() {
			t.Errorf("%d is encoded as %s", none, got)
		}
	}
	if got := new(opaque.Codec).Encode(id); !got.IsZero() {
		t.Errorf("the zero Codec encodes %s", got)
	}
}

// Ten million ids in make test-long, ascending and scattered.
func TestRoundTrips(t *testing.T) {
	codec := newType(t, "ord", newKey(t, 1, 16, 1), newKey(t, 2, 32, 9))
	random := rand.New(rand.NewPCG(5, 6))
	for i := range testscale.Of(100_000, 10_000_000) {
		id := 286467607756828714 + snow.ID(i)
		if i%2 == 1 {
			id = snow.ID(random.Int64N(math.MaxInt64) + 1)
		}
		out := codec.Encode(id)
		if back, err := codec.Parse(out.Text()); err != nil || back != id {
			t.Fatalf("%d is %s, which is %d, %v", id, out, back, err)
		}
	}
}

// A million ascending ids, as one worker makes them. The keys are fixed, and so are
// the figures. 330.5 is the chi-square of 255 degrees of freedom at p = 0.001.
func TestTextsAreUniform(t *testing.T) {
	const n = 1_000_000
	for _, bytes := range testscale.Of([]int{16}, []int{16, 24, 32}) {
		codec := newType(t, "ord", newKey(t, 1, bytes, 77))
		var low, high [256]int
		var ones [63]int
		for i := range n {
			number, err := snow.ParseBase32(codec.Encode(286467607756828714 + snow.ID(i)).Text()[5:18])
			if err != nil {
				t.Fatal(err)
			}
			low[number&255]++
			high[number>>55]++
			for bit := range ones {
				ones[bit] += int(number >> bit & 1)
			}
		}
		for name, counts := range map[string][256]int{"low": low, "high": high} {
			chi := 0.0
			for _, c := range counts {
				chi += math.Pow(float64(c)-n/256.0, 2) / (n / 256.0)
			}
			t.Logf("AES-%d: chi-square of the %s 8 bits %.1f", 8*bytes, name, chi)
			if chi > 330.5 || chi < 190 {
				t.Errorf("AES-%d: chi-square of the %s 8 bits is %.1f", 8*bytes, name, chi)
			}
		}
		for bit, c := range ones {
			if d := math.Abs(float64(c) - n/2); d > 2500 { // 5 standard deviations
				t.Errorf("AES-%d: bit %d is 1 in %d of %d", 8*bytes, bit, c, n)
			}
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	codec := newType(t, "ord", newKey(t, 1, 16, 1))
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 2000 {
				id := snow.ID(g*2000 + i + 1)
				if back, err := codec.Decode(codec.Encode(id)); err != nil || back != id {
					t.Errorf("%d becomes %d, %v", id, back, err)
				}
			}
		})
	}
	wg.Wait()
}
