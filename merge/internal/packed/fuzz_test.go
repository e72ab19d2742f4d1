package packed_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge/internal/packed"
)

// check replaces the ids of a value by others, finds those in what comes out, and puts the first ones back: which
// must give the value again, so that nothing outside of ids has changed. Case is left to the hexadecimal digits.
func check(t *testing.T, c packed.Codec, value string, seed uint64) {
	t.Helper()
	noID := errors.New("no id")
	var before, want []string
	after, err := packed.Replace(c, value, func(_, id string) (string, error) {
		n, err := strconv.ParseUint(id, 10, 63)
		if err != nil || strconv.FormatUint(n, 10) != id {
			return "", noID
		}
		seed = seed*6364136223846793005 + 1442695040888963407
		next := strconv.FormatUint(seed>>(1+seed%60), 10)
		before, want = append(before, id), append(want, next)
		return next, nil
	})
	switch {
	case errors.Is(err, noID), errors.As(err, new(*packed.WidthError)):
		return
	case err != nil:
		if _, bad := of(c, value); bad == nil && !strings.Contains(err.Error(), "not found again") {
			t.Fatalf("%q can be read, and not written: %v", value, err)
		}
		return
	}
	i := 0
	back, err := c.Replace(after, func(_, id string) (string, error) {
		if i >= len(want) || id != want[i] {
			t.Fatalf("%q became %q: id %d is %s, want %q", value, after, i, id, want)
		}
		i++
		return before[i-1], nil
	})
	if err != nil || i != len(want) || !strings.EqualFold(back, value) {
		t.Fatalf("%q became %q, and that %q, %v", value, after, back, err)
	}
}

func FuzzBits(f *testing.F) {
	f.Add("8589934599", uint64(1))
	f.Add("-2305843009213693945", uint64(2))
	c := codecOf(f, "bits 61", "", [2]bool{}, "0", "1", "2", "7")
	f.Fuzz(func(t *testing.T, value string, seed uint64) { check(t, c, canonical(value), seed) })
}

func FuzzHalves(f *testing.F) {
	f.Add("0 7", false, true, uint64(1))
	f.Add("1 -2147483648", true, true, uint64(2))
	f.Fuzz(func(t *testing.T, value string, high, low bool, seed uint64) {
		upper, lower, _ := strings.Cut(value, " ")
		check(t, codecOf(t, "high 32", "", [2]bool{high, low}, "id"), canonical(upper)+" "+canonical(lower), seed)
	})
}

// canonical writes an integer as a database does.
func canonical(text string) string {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return strconv.FormatInt(n, 10)
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		return strconv.FormatUint(n, 10)
	}
	return text
}

func FuzzFixed(f *testing.F) {
	f.Add("P0000000000000000007-00000000000000ffX", uint64(1))
	c := codecOf(f, "fixed", "", [2]bool{}, "1:dec19", "21:hex16")
	f.Fuzz(func(t *testing.T, value string, seed uint64) { check(t, c, value, seed) })
}

func FuzzFields(f *testing.F) {
	f.Add("7 1  7 2 8", " ", uint64(1))
	f.Add("1,ff, 3 ,4", ",", uint64(2))
	f.Fuzz(func(t *testing.T, value, separator string, seed uint64) {
		check(t, codecOf(t, "fields", separator, [2]bool{}, "1+3", "5"), value, seed)
	})
}

func FuzzRegexp(f *testing.F) {
	f.Add("player:7 met player:9, guild 3", `player:(?P<p>\d+)|guild (?P<g>[1-9]\d*)`, uint64(1))
	f.Add("p7", `^p(?P<p>\d{1,3})(?P<g>x)?$`, uint64(2))
	f.Fuzz(func(t *testing.T, value, expr string, seed uint64) {
		format, err := packed.ParseFormat("regexp " + expr)
		if err != nil {
			return
		}
		if c, err := format.New([]string{"p", "g"}, "", [2]bool{}); err == nil {
			check(t, c, value, seed)
		}
	})
}

func FuzzPHP(f *testing.F) {
	f.Add(`a:2:{s:1:"p";i:7;s:1:"l";a:2:{i:0;s:1:"7";i:5;N;}}`, uint64(1))
	f.Add("O:1:\"A\":2:{s:4:\"\x00A\x00p\";i:7;s:1:\"m\";a:1:{i:3;b:1;}}", uint64(2))
	f.Add(`a:2:{s:1:"m";a:2:{i:1;d:0.5;s:2:"77";r:1;}i:0;C:1:"X":2:{ab}}`, uint64(3))
	c := codecOf(f, "php", "", [2]bool{}, "$.p", "$.l[*]", "$.m.*~")
	f.Fuzz(func(t *testing.T, value string, seed uint64) { check(t, c, value, seed) })
}

func FuzzLua(f *testing.F) {
	f.Add("return { 7, p = 7, -- it's 7\n [\"l\"] = { '7', 8; }, x = [[7]], [\"\\\"}\"] = nil }", uint64(1))
	f.Add("{m={[7]=1,['8']={7}}, l = {0x10, 1.5}}", uint64(2))
	f.Add("p = 7\nl = {1, --[[ x ]] 2}; m = {}", uint64(3))
	c := codecOf(f, "lua", "", [2]bool{}, "$.p", "$.l[*]", "$.m.*~")
	f.Fuzz(func(t *testing.T, value string, seed uint64) { check(t, c, value, seed) })
}
