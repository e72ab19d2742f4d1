package work

import (
	"math/big"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge/internal/chunk"
)

func TestNumbersOfAssertions(t *testing.T) {
	for _, tt := range []struct {
		v    any
		want string
	}{
		{nil, "0"},
		{int64(-5), "-5"},
		{[]byte("12.50"), "12.5"},
		{"9223372036854775808", "9223372036854775808"},
		{1.5, "1.5"},
		{1e300, "1" + strings.Repeat("0", 300)},
		{[]byte("0.1"), "0.1"},
		{"1/2", ""},
		{"", ""},
		{"gold", ""},
		{"1e99999999", ""},
		{"0x10", ""},
		{true, ""},
	} {
		n, err := chunk.ParseNumber(tt.v)
		if tt.want == "" {
			if err == nil {
				t.Errorf("%v: got %v, want an error", tt.v, n)
			}
			continue
		}
		if err != nil || PrintNumber(n) != tt.want {
			t.Errorf("%v: got %v (%v), want %s", tt.v, n, err, tt.want)
		}
	}
	if got := PrintNumber(big.NewRat(1, 8)); got != "0.125" {
		t.Errorf("got %s, want 0.125", got)
	}
}
