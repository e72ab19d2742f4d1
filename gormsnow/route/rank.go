package route

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm/schema"
)

// A measure says how the values of a field are compared.
type measure uint8

const (
	unmeasured measure = iota // as texts are, by rules of the database
	number
	moment
)

// measured returns how a database and Go both compare the values of a field.
func measured(f *schema.Field, dialect string) measure {
	if f.Serializer != nil || f.IndirectFieldType.Kind() == reflect.String {
		return unmeasured
	}
	first, _, _ := strings.Cut(strings.ToLower(string(f.DataType)), "(")
	first, _, _ = strings.Cut(strings.TrimSpace(first), " ")
	switch first {
	case "int", "uint", "float", "tinyint", "smallint", "mediumint", "integer", "bigint", "int2", "int4", "int8", "serial", "bigserial",
		"decimal", "numeric", "double", "real", "float4", "float8":
		return number
	case "time", "datetime", "date":
		if dialect != "sqlite" { // which compares texts
			return moment
		}
	case "timestamp", "timestamptz":
		if dialect == "postgres" { // MySQL's are read in a time zone in which an hour may come twice
			return moment
		}
	}
	return unmeasured
}

// A rank is the place of a value among others.
type rank struct {
	kind  rankKind
	whole int64
	float float64
	exact *big.Rat
	at    time.Time
}

type rankKind uint8

const (
	isNull rankKind = iota
	isWhole
	isFloat
	isExact
	isTime
)

// rankOf returns the rank of a value as a driver gives it.
func rankOf(v any, m measure) (rank, error) {
	switch v := v.(type) {
	case nil:
		return rank{}, nil
	case time.Time:
		if m == moment {
			return rank{kind: isTime, at: v}, nil
		}
	case int64:
		if m == number {
			return rank{kind: isWhole, whole: v}, nil
		}
	case uint64:
		if m == number {
			return rank{kind: isExact, exact: new(big.Rat).SetUint64(v)}, nil
		}
	case float32:
		return rankOf(float64(v), m)
	case float64:
		if m == number {
			return rank{kind: isFloat, float: v}, nil
		}
	case []byte:
		return rankOf(string(v), m)
	case string:
		if m == moment {
			return rank{}, fmt.Errorf("route: merge the rows: %q is no time: on MySQL add parseTime=true to the DSN", v)
		}
		if n, err := strconv.ParseInt(v, 10, 64); err == nil {
			return rank{kind: isWhole, whole: n}, nil
		}
		if exact, ok := new(big.Rat).SetString(v); ok && strings.Trim(v, "0123456789.eE+-") == "" {
			return rank{kind: isExact, exact: exact}, nil
		}
		return rank{}, fmt.Errorf("route: merge the rows: %q is no number", v)
	}
	return rank{}, fmt.Errorf("route: merge the rows: a %T is neither a number nor a time", v)
}

// compare returns the order of two ranks as an ascending query has it. PostgreSQL has NULL last, and NaN before it.
func (a rank) compare(b rank, nullsLast bool) int {
	switch {
	case a.kind == isNull || b.kind == isNull:
		c := cmp.Compare(min(a.kind, isWhole), min(b.kind, isWhole))
		if nullsLast {
			c = -c
		}
		return c
	case a.kind == isTime && b.kind == isTime:
		return a.at.Compare(b.at)
	case a.kind == isWhole && b.kind == isWhole:
		return cmp.Compare(a.whole, b.whole)
	case a.kind == isFloat && math.IsNaN(a.float), b.kind == isFloat && math.IsNaN(b.float):
		return -cmp.Compare(a.double(), b.double()) // Go has NaN first
	case a.kind == isFloat && b.kind == isFloat:
		return cmp.Compare(a.float, b.float)
	case a.kind == isFloat && math.IsInf(a.float, 0):
		return cmp.Compare(a.float, 0)
	case b.kind == isFloat && math.IsInf(b.float, 0):
		return cmp.Compare(0, b.float)
	}
	return a.rational().Cmp(b.rational())
}

// double returns a number as a float.
func (a rank) double() float64 {
	switch a.kind {
	case isWhole:
		return float64(a.whole)
	case isExact:
		f, _ := a.exact.Float64()
		return f
	}
	return a.float
}

// rational returns a finite number.
func (a rank) rational() *big.Rat {
	switch a.kind {
	case isWhole:
		return new(big.Rat).SetInt64(a.whole)
	case isFloat:
		return new(big.Rat).SetFloat64(a.float)
	}
	return a.exact
}

// combine returns the value of a function for all rows, of its values for some of them.
func combine(function string, values []any, m measure) (any, error) {
	sum, scale, float, text := new(big.Rat), 0, false, any(nil)
	var double float64
	var best any
	var bestRank rank
	for _, v := range values {
		r, err := rankOf(v, m)
		switch {
		case err != nil:
			return nil, err
		case r.kind == isNull:
			continue
		case function == "min" || function == "max":
			if c := r.compare(bestRank, false); best == nil || function == "min" && c < 0 || function == "max" && c > 0 {
				best, bestRank = v, r
			}
			continue
		}
		best = v
		double += r.double()
		switch v := v.(type) {
		case []byte:
			text, scale = v, max(scale, digits(string(v)))
		case string:
			text, scale = v, max(scale, digits(v))
		}
		if r.kind == isFloat {
			float = true
		} else {
			sum.Add(sum, r.rational())
		}
	}
	switch {
	case best == nil || function == "min" || function == "max":
		return best, nil
	case float:
		return double, nil
	case text == nil && sum.Num().IsInt64():
		return sum.Num().Int64(), nil
	}
	if _, ok := text.([]byte); ok {
		return []byte(sum.FloatString(scale)), nil
	}
	return sum.FloatString(scale), nil
}

// digits returns how many digits a number has after its point.
func digits(number string) int {
	if _, fraction, ok := strings.Cut(number, "."); ok {
		return len(fraction)
	}
	return 0
}
