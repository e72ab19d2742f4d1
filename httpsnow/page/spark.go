package page

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// The size of a line in the units of its picture.
const (
	sparkWidth  = hour - 1
	sparkHeight = 16
)

// A sparkView is the last hour as a small line, and in words.
type sparkView struct {
	Name string
	Path string // of the picture; empty if nothing is known yet
	Sum  string // in this hour
	Most string // in a minute, and when
	Bad  bool   // that it is not zero is bad
	sum  float64
	five float64 // in the last five minutes
}

// sparkOf draws a line. The running minute is not over, so it is drawn only if it is higher than the one before.
func sparkOf(name string, bad bool, points [hour]point, now time.Time) sparkView {
	v := sparkView{Name: name, Bad: bad}
	if p := points[hour-1]; points[hour-2].known && p.grown < points[hour-2].grown {
		v.sum, v.five = p.grown, p.grown
		points[hour-1] = point{}
	}
	most, when := 0.0, 0
	for i, p := range points {
		if v.sum += p.grown; i >= hour-5 {
			v.five += p.grown
		}
		if p.grown > most {
			most, when = p.grown, i
		}
	}
	v.Path = sparkPath(points, most)
	v.Sum = grouped(v.sum)
	if v.Most = grouped(most); most > 0 {
		begin := now.Truncate(time.Minute).Add(-time.Duration(hour-1-when) * time.Minute)
		v.Most += " at " + begin.UTC().Format("15:04")
	}
	return v
}

// sparkPath returns the path of a line. Minutes that are not known are gaps.
func sparkPath(points [hour]point, most float64) string {
	var b strings.Builder
	drawn := false
	for i, p := range points {
		if !p.known {
			drawn = false
			continue
		}
		y := float64(sparkHeight)
		if most > 0 {
			y *= 1 - p.grown/most
		}
		at := strconv.Itoa(i) + " " + strconv.FormatFloat(math.Round(y*10)/10, 'f', -1, 64)
		if drawn {
			b.WriteString("L" + at)
		} else {
			b.WriteString("M" + at + "h.5") // so that a minute alone is seen
		}
		drawn = true
	}
	return b.String()
}

// grouped writes a number for people, with a comma after each three digits.
func grouped(n float64) string {
	if n >= 1e15 {
		return fmt.Sprintf("%.3g", n)
	}
	digits := strconv.FormatInt(int64(math.Round(n)), 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
