package numbers

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/work"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

func TestRoundUp(t *testing.T) {
	for n, want := range map[int64]int64{
		0: 0, 7: 7, 99: 99, 100: 100, 101: 110, 998: 1000, 12_345: 13_000, 1_000_001: 1_100_000, math.MaxInt64 - 1: math.MaxInt64,
	} {
		if got := roundUp(n); got != want {
			t.Errorf("%d: got %d, want %d", n, got, want)
		}
	}
}

// Offsets are the lowest that people remember, above all others, or in a gap if there is no room.
func TestOffsets(t *testing.T) {
	for _, test := range []struct {
		name      string
		low, high int64
		others    [][2]int64 // ranges
		top, last int64
		want      int64 // -1 for none
	}{
		{name: "the first", low: 1, high: 900, last: 1000, want: 0},
		{name: "the first, of all numbers", low: 1, high: math.MaxInt64, last: math.MaxInt64, want: 0},
		{name: "above rows", low: 1, high: 900, top: 1234, last: 9999, want: 1300},
		{name: "free above rows", low: 2000, high: 2900, top: 1234, last: 9999, want: 0},
		{name: "above another", low: 1, high: 900, others: [][2]int64{{1, 1234}}, last: 9999, want: 1300},
		{name: "above another, not round", low: 1, high: 900, others: [][2]int64{{1, 1234}}, last: 2140, want: 1234},
		{name: "beside another", low: 1, high: 900, others: [][2]int64{{5000, 6000}}, last: 9999, want: 0},
		{name: "in a gap", low: 1, high: 900, others: [][2]int64{{1, 700}, {1000, 1200}, {8000, 9500}}, last: 9999, want: 1200},
		{name: "no gap", low: 1, high: 900, others: [][2]int64{{1, 700}, {1000, 1200}, {1900, 9500}}, last: 9999, want: -1},
		{name: "an id of 0", low: 0, high: 9, last: 100, want: 1},
		{name: "up to the last number", low: 1, high: 5, others: [][2]int64{{1, math.MaxInt64}}, last: math.MaxInt64, want: -1},
		{name: "no room at all", low: 1, high: 900, last: 899, want: -1},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := &Choice{Ranges: map[string]ledger.IDRange{}, Highest: test.top}
			for i, other := range test.others {
				name := string(rune('a' + i))
				n.order = append(n.order, name)
				n.Ranges[name] = ledger.IDRange{IDs: plan.IDsOffset, First: uint64(other[0]), End: uint64(other[1]) + 1}
				n.Highest = max(n.Highest, other[1])
			}
			got, ok := n.offset(idSet{rows: 1, low: test.low, high: test.high}, test.last, test.top)
			if ok != (test.want >= 0) || ok && got != test.want {
				t.Errorf("got %d, %v, want %d", got, ok, test.want)
			}
		})
	}
}

// Dense ids of all sources begin with the first that is free. That there may not be enough for all rows is no error
// yet: they may be merged. What an earlier run has left must be enough.
func TestDense(t *testing.T) {
	for _, test := range []struct {
		first, last, rows int64
		left              bool
		highest           int64 // 0 for none
	}{
		{first: 1, last: 100, rows: 100, highest: 100},
		{first: 1, last: 100, rows: 101, highest: 100},
		{first: 1, last: 100, rows: 101, left: true},
		{first: 1, last: 100, rows: 100, left: true, highest: 100},
		{first: 101, last: 100, rows: 1},
		{first: 101, last: 100, rows: 0, highest: 100},
		{first: math.MaxInt64, last: math.MaxInt64, rows: 9, highest: math.MaxInt64},
	} {
		table := &plan.Table{Name: "t", IDs: plan.IDsDense, Columns: []*plan.Column{{Name: "id", Role: plan.RoleKey}}}
		n := &Choice{table: table, order: []string{"a", "b"}, rows: test.rows, most: test.last, Ranges: map[string]ledger.IDRange{}}
		err := n.dense(test.first, test.last, test.left)
		if test.highest == 0 {
			if !errors.As(err, new(*report.FitError)) {
				t.Errorf("%+v: got %v, want a *report.FitError", test, err)
			}
			continue
		}
		if r := n.Ranges["b"]; err != nil || n.Highest != test.highest || r != n.Ranges["a"] || r.First != uint64(test.first) || r.End != uint64(test.last)+1 {
			t.Errorf("%+v: got %+v up to %d, %v", test, r, n.Highest, err)
		}
	}
}

// A later run takes what an earlier one has left, if all new ids have room there, and leaves no more then.
func TestLeft(t *testing.T) {
	for _, test := range []struct {
		name        string
		ids         plan.IDs
		leave, rows int64
		offsets     map[string]int64
		first, last int64 // the numbers that were left
		highest     int64
		least, most int64 // what this run leaves; 0 for nothing
	}{
		{name: "dense", ids: plan.IDsDense, rows: 10, first: 50, last: 59, highest: 59},
		{name: "dense, and leaves some", ids: plan.IDsDense, leave: 500, rows: 10, first: 50, last: 59, highest: 59},
		{name: "dense, too many", ids: plan.IDsDense, leave: 500, rows: 11, first: 50, last: 59, highest: 11, least: 1, most: 511},
		{name: "offset", ids: plan.IDsOffset, leave: 500, rows: 10, first: 50, last: 61, highest: 59},
		{name: "offset of the plan", ids: plan.IDsOffset, leave: 500, rows: 10, offsets: map[string]int64{"a": 51}, first: 50, last: 61, highest: 61},
		{name: "offset of the plan, elsewhere", ids: plan.IDsOffset, leave: 500, rows: 10, offsets: map[string]int64{"a": 52}, first: 50, last: 61, highest: 62, least: 63, most: 562},
		{name: "offset of the plan, up to the last", ids: plan.IDsOffset, leave: 500, rows: 10, offsets: map[string]int64{"a": 990}, first: 901, last: 1000, highest: 1000},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := &Choice{
				Job: &work.Job{}, least: 1, most: 1000, keep: test.leave, order: []string{"a"}, rows: test.rows,
				table:  &plan.Table{Name: "t", IDs: test.ids, Leave: test.leave, Offsets: test.offsets, Columns: []*plan.Column{{Name: "id", Role: plan.RoleKey}}},
				old:    map[string]idSet{"a": {test.rows, 1, test.rows}},
				Ranges: map[string]ledger.IDRange{},
			}
			n.Engine = &dialect.Dialect{}
			if err := n.choose(t.Context(), []ledger.Numbers{{First: test.first, Last: test.last}}); err != nil {
				t.Fatal(err)
			}
			if n.Highest != test.highest {
				t.Errorf("new ids go up to %d, want %d", n.Highest, test.highest)
			}
			var left ledger.Numbers
			if n.Left != nil {
				left = *n.Left
			}
			if want := (ledger.Numbers{First: test.least, Last: test.most}); left != want {
				t.Errorf("%+v stay free, want %+v", left, want)
			}
		})
	}
}

// No new id is a number that stands for no row.
func TestMeansNone(t *testing.T) {
	for _, test := range []struct {
		ids         plan.IDs
		offset      int64
		first, last int64
		none        string
		want        bool
	}{
		{ids: plan.IDsDense, first: 1, last: 300, none: "0"},
		{ids: plan.IDsDense, first: 1, last: 300, none: "-1"},
		{ids: plan.IDsDense, first: 1, last: 300, none: "nobody"},
		{ids: plan.IDsDense, first: 1, last: 300, none: "255", want: true},
		{ids: plan.IDsDense, first: 1, last: 300, none: "300", want: true},
		{ids: plan.IDsDense, first: 1, last: 300, none: "301"},
		{ids: plan.IDsDense, first: 256, last: 300, none: "255"},
		{ids: plan.IDsOffset, first: 1, last: 300, none: "255"},
		{ids: plan.IDsOffset, offset: 100, first: 101, last: 400, none: "255", want: true},
		{ids: plan.IDsOffset, offset: 300, first: 301, last: 600, none: "255"},
	} {
		table := &plan.Table{Name: "players", IDs: test.ids, Columns: []*plan.Column{{Name: "id", Role: plan.RoleKey}}}
		items := &plan.Table{Name: "items", Columns: []*plan.Column{{Name: "owner", Role: plan.RoleReference, Refers: []*plan.Reference{{Table: "players"}}, None: []string{"0", test.none}}}}
		n := &Choice{
			Job: &work.Job{Order: []*plan.Table{table, items}}, table: table, order: []string{"a"}, old: map[string]idSet{"a": {300, 1, 300}}, Highest: test.last,
			Ranges: map[string]ledger.IDRange{"a": {IDs: test.ids, Offset: test.offset, First: uint64(test.first), End: uint64(test.last) + 1}},
		}
		if err := n.meansNone(); (err != nil) != test.want || err != nil && !strings.Contains(err.Error(), `"items.owner"`) {
			t.Errorf("%+v: got %v", test, err)
		}
	}
}
