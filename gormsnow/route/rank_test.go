package route

import (
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"
)

// TestOrderings has where databases put NULL.
func TestOrderings(t *testing.T) {
	for dialect, last := range map[string]bool{"mysql": false, "sqlite": false, "postgres": true} {
		b := &bound{rules: &rules{dialect: dialect}, stmt: new(gorm.Statement)}
		if o, refused := orderingOf(b, fuzzedModel(t)); refused != "" || o.nullsLast != last {
			t.Errorf("%s: %v %s", dialect, o.nullsLast, refused)
		}
	}
}

// TestMeasured has columns by whose values rows are merged.
func TestMeasured(t *testing.T) {
	moments, whole := reflect.TypeFor[time.Time](), reflect.TypeFor[int]()
	for _, c := range []struct {
		dialect, column string
		field           reflect.Type
		want            measure
	}{
		{"mysql", "datetime(3)", moments, moment},
		{"postgres", "timestamptz", moments, moment},
		{"postgres", "timestamp with time zone", moments, moment},
		{"mysql", "timestamp", moments, unmeasured}, // an hour may come twice
		{"sqlite", "time", moments, unmeasured},     // texts
		{"sqlite", "datetime", moments, unmeasured},
		{"sqlite", "integer", whole, number},
		{"mysql", "BIGINT UNSIGNED", whole, number},
		{"mysql", "decimal(10,2)", whole, number},
		{"postgres", "numeric", reflect.TypeFor[string](), unmeasured},
		{"mysql", "varchar(20)", whole, unmeasured},
		{"mysql", "bool", whole, unmeasured},
	} {
		f := &schema.Field{DataType: schema.DataType(c.column), IndirectFieldType: c.field}
		if got := measured(f, c.dialect); got != c.want {
			t.Errorf("%s of %s: got %d, want %d", c.column, c.dialect, got, c.want)
		}
	}
}

// TestRanks compares values that drivers give for one number or time.
func TestRanks(t *testing.T) {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for _, ascending := range []struct {
		measure measure
		values  [][]any // the values of a list are equal
	}{
		{number, [][]any{
			{math.Inf(-1)},
			{"-1e300"},
			{int64(math.MinInt64), []byte("-9223372036854775808")},
			{-1.5, "-1.50"},
			{int64(-1)},
			{int64(0), 0.0, "0.00", []byte("0")},
			{float32(0.5), "0.5"},
			{int64(9), "9"},
			{"10", 10.0},
			{int64(math.MaxInt64)},
			{uint64(math.MaxInt64) + 1, "9223372036854775808"},
			{1e30},
			{math.Inf(1)},
			{math.NaN()},
		}},
		{moment, [][]any{{noon.Add(-time.Nanosecond)}, {noon, noon.In(time.FixedZone("", 3600))}, {noon.Add(1)}}},
	} {
		for i, a := range ascending.values {
			for j, b := range ascending.values {
				for _, v := range a {
					for _, w := range b {
						x, err := rankOf(v, ascending.measure)
						y, err2 := rankOf(w, ascending.measure)
						if err != nil || err2 != nil {
							t.Fatal(err, err2)
						}
						if got, want := x.compare(y, false), compareInts(i, j); got != want {
							t.Errorf("%v and %v: got %d, want %d", v, w, got, want)
						}
						if null := (rank{}); null.compare(x, false) != -1 || x.compare(null, false) != 1 || null.compare(x, true) != 1 || x.compare(null, true) != -1 || null.compare(null, true) != 0 {
							t.Errorf("NULL and %v", v)
						}
					}
				}
			}
		}
	}
	for _, v := range []any{"x", "1/2", "0x10", "1_0", "Infinity", true, noon, ""} {
		if _, err := rankOf(v, number); err == nil {
			t.Errorf("%v is a number", v)
		}
	}
	for _, v := range []any{"2026-01-01 00:00:00", []byte("2026-01-01"), int64(1), 1.5, uint64(1)} {
		if _, err := rankOf(v, moment); err == nil {
			t.Errorf("%v is a time", v)
		}
	}
}

func compareInts(a, b int) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func TestCombine(t *testing.T) {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		function string
		measure  measure
		values   []any
		want     any
	}{
		{"count", number, []any{int64(1), int64(2)}, int64(3)},
		{"sum", number, []any{nil, nil}, nil},
		{"sum", number, []any{nil, int64(5), int64(-7)}, int64(-2)},
		{"sum", number, []any{int64(math.MaxInt64), int64(1)}, "9223372036854775808"},
		{"sum", number, []any{[]byte("1.25"), []byte("2.5")}, []byte("3.75")},
		{"sum", number, []any{"0.1", "0.2", nil}, "0.3"},
		{"sum", number, []any{"12", "30"}, "42"},
		{"sum", number, []any{int64(1), 0.5}, 1.5},
		{"min", number, []any{nil, []byte("10"), []byte("9")}, []byte("9")},
		{"max", number, []any{nil, []byte("10"), []byte("9")}, []byte("10")},
		{"max", number, []any{1.5, nil, int64(1)}, 1.5},
		{"min", moment, []any{noon.Add(1), noon}, noon},
		{"max", moment, []any{nil, nil}, nil},
	} {
		got, err := combine(c.function, c.values, c.measure)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s of %v: got %v, %v, want %v", c.function, c.values, got, err, c.want)
		}
	}
	if _, err := combine("sum", []any{"x"}, number); err == nil {
		t.Error("no error")
	}
}

// Sums of decimals are exact, however they are divided.
func TestCombineExactly(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		all, parts := new(big.Rat), []any{}
		for range 1 + r.IntN(5) {
			part := big.NewRat(r.Int64N(1<<40)-1<<39, 1000)
			all.Add(all, part)
			parts = append(parts, part.FloatString(3))
		}
		if got, err := combine("sum", parts, number); err != nil || got != all.FloatString(3) {
			t.Fatalf("%v: got %v, %v, want %s", parts, got, err, all.FloatString(3))
		}
	}
}

func TestSelection(t *testing.T) {
	for _, c := range []struct {
		sql  string
		want []selected
	}{
		{"SELECT * FROM t", []selected{{plain: true, name: "*"}}},
		{"SELECT a, t.b, `t`.`c` AS d, t.* FROM t", []selected{
			{plain: true, name: "a"}, {plain: true, table: "t", name: "b"}, {plain: true, table: "t", name: "c", as: "d"}, {plain: true, table: "t", name: "*"},
		}},
		{"SELECT a b FROM t", []selected{{plain: true, name: "a", as: "b"}}},
		{"SELECT count(*), SUM(t.a) AS s, max(a) m FROM t", []selected{
			{plain: true, function: "count", name: "*"}, {plain: true, function: "sum", table: "t", name: "a", as: "s"}, {plain: true, function: "max", name: "a", as: "m"},
		}},
		{"SELECT sum(a) + 1, sum(a + 1), count(DISTINCT a), -a, a::text, (a) FROM t", []selected{
			{}, {function: "sum"}, {function: "count"}, {}, {}, {},
		}},
		{"SELECT sum(a) OVER (PARTITION BY b), sum(a) FILTER (WHERE b), sum(a) over w, count(*)*2 n FROM t", []selected{
			{function: "sum"}, {function: "sum"}, {}, {},
		}},
		{"SELECT a FROM t WHERE b IN (1, 2)", []selected{{plain: true, name: "a"}}},
		{"SELECT 1", []selected{{}}},
	} {
		dialect := "mysql"
		if strings.Contains(c.sql, "::") {
			dialect = "postgres"
		}
		if got := selection(c.sql, dialect); !slices.Equal(got, c.want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", c.sql, got, c.want)
		}
	}
}

func TestGives(t *testing.T) {
	for sql, want := range map[string]bool{
		"*": true, "o.*": true, "id": true, "a, o.id": true, "ID": true, "id AS id": true, "id, a + 1 AS b": true, "x.id AS x, id": true,
		"a": false, "a AS id": false, "id, a AS id": false, "-id AS id": false, "id::text": false, "x.id": false, "*, -id AS id": false, "id AS a": false, "x.*": false,
		"x.*, id": false, "id, a + 1": false, "*, id::text": false, "*, id::double precision": false, "id, a + 1 AS b, 2 AS c": true,
	} {
		if got := gives(selection("SELECT "+sql+" FROM o", "postgres"), "o", "id", false); got != want {
			t.Errorf("%s: got %v", sql, got)
		}
	}
	if gives(selection("SELECT * FROM o JOIN x", "postgres"), "o", "id", true) {
		t.Error("* of a join")
	}
	if !strings.Contains(unsorted(&model{}), "a key") {
		t.Error(unsorted(&model{}))
	}
}
