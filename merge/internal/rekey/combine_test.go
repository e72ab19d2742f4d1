package rekey

import (
	"math"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge/plan"
)

func TestCombineValues(t *testing.T) {
	for _, tt := range []struct {
		how    plan.Combine
		values []any
		want   any // an error if it is "overflow"
	}{
		{plan.CombineKeep, []any{nil, int64(1)}, nil},
		{plan.CombineSum, []any{nil, nil}, nil},
		{plan.CombineSum, []any{nil, int64(2), int64(-5)}, int64(-3)},
		{plan.CombineSum, []any{int64(math.MaxInt64), int64(-1), int64(1)}, int64(math.MaxInt64)},
		{plan.CombineSum, []any{int64(math.MaxInt64), int64(1)}, "overflow"},
		{plan.CombineSum, []any{int64(math.MinInt64), int64(-1)}, "overflow"},
		{plan.CombineSum, []any{"18446744073709551615", int64(1)}, "18446744073709551616"},
		{plan.CombineSum, []any{"0.10", "0.25"}, "0.35"},
		{plan.CombineSum, []any{0.5, int64(1)}, 1.5},
		{plan.CombineSum, []any{"a", int64(1)}, "overflow"},
		{plan.CombineMax, []any{int64(9), nil, int64(10)}, int64(10)},
		{plan.CombineMax, []any{"9.5", "10.25"}, "10.25"},
		{plan.CombineMax, []any{"2024-01-01", "2023-12-31"}, "2024-01-01"},
		{plan.CombineMin, []any{nil, int64(9), int64(10)}, int64(9)},
		{plan.CombineFirst, []any{nil, "a", "b"}, "a"},
		{plan.CombineLast, []any{"a", "b", nil}, "b"},
	} {
		got, err := combineValues(&plan.Column{Combine: tt.how}, tt.values)
		if tt.want == "overflow" {
			if err == nil {
				t.Errorf("%s of %v: got %v, want an error", tt.how, tt.values, got)
			}
			continue
		}
		if err != nil || got != tt.want {
			t.Errorf("%s of %v: got %v, %v; want %v", tt.how, tt.values, got, err, tt.want)
		}
	}
}

func TestMemberOf(t *testing.T) {
	const set, enum = "set('vip','gm','a','A')", "enum('x','y')"
	for _, tt := range []struct{ typ, text, want, bad string }{
		{set, "", "", ""},
		{set, "gm,vip,gm", "vip,gm", ""},
		{set, "GM,A,a", "gm,a,A", ""},
		{set, "vip,old,x", "", `no "old"`},
		{set, "3", "", `no "3"`},
		{set, "vip,", "", `no ""`},
		{enum, "Y", "y", ""},
		{enum, "x,y", "", `no "x,y"`},
		{"varchar(9)", "x,y", "x,y", ""},
	} {
		got, err := memberOf(&plan.Column{Type: tt.typ}, tt.text)
		if tt.bad == "" && (err != nil || got != tt.want) || tt.bad != "" && (err == nil || !strings.Contains(err.Error(), tt.bad)) {
			t.Errorf("%q of %s: got %v and %v, want %q and %q", tt.text, tt.typ, got, err, tt.want, tt.bad)
		}
	}
}

func TestTimeOf(t *testing.T) {
	for _, tt := range []struct{ typ, text, want, bad string }{
		{"datetime", "2024-01-02", "2024-01-02 00:00:00", ""},
		{"datetime", "2024-01-02T10:00:00.000", "2024-01-02 10:00:00", ""},
		{"datetime(3)", "2024-01-02 10:00:00.125000", "2024-01-02 10:00:00.125", ""},
		{"timestamp(3)", "2024-01-02 10:00:00.1251", "", "more digits"},
		{"timestamp", "0000-00-00 00:00:00", "0000-00-00 00:00:00", ""},
		{"datetime", "10:00:00", "", "no value of datetime"},
		{"datetime", "2024-01-02 10:00:002024", "", "no value"},
		{"datetime", "2024-01-02.5", "", "no value"},
		{"datetime", "", "", "no value"},
		{"date", "2024-01-02 10:00:00.5", "2024-01-02", ""},
		{"date", "soon", "", "no value of date"},
		{"time", "-101:00:00", "-101:00:00", ""},
		{"time(1)", "10:00:00.50", "10:00:00.5", ""},
		{"time", "10:00:00.5", "", "more digits"},
		{"time", "2024-01-02 10:00:00", "", "no value"},
	} {
		got, err := timeOf(&plan.Column{Type: tt.typ}, tt.text)
		if tt.bad == "" && (err != nil || got != tt.want) || tt.bad != "" && (err == nil || !strings.Contains(err.Error(), tt.bad)) {
			t.Errorf("%q of %s: got %v and %v, want %q and %q", tt.text, tt.typ, got, err, tt.want, tt.bad)
		}
	}
}
