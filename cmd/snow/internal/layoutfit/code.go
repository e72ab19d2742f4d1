package layoutfit

import (
	"fmt"
	"strings"
	"time"

	"github.com/shardsnow/snow"
)

// Code returns the expression of Go that returns l, without lanes: the call of a preset, or of snow.NewLayout.
func Code(l snow.Layout) string {
	for _, p := range []struct {
		code   string
		layout snow.Layout
	}{
		{"snow.DefaultLayout()", snow.DefaultLayout()},
		{"snow.DefaultShards()", snow.DefaultShards()},
		{"snow.JavaScript()", snow.JavaScript()},
		{"snow.GameServers()", snow.GameServers()},
		{"snow.BusyGameServers()", snow.BusyGameServers()},
	} {
		if p.layout == l {
			return p.code
		}
	}
	b := l.Bits()
	var bits []string
	for _, part := range []struct {
		name string
		bits uint8
	}{{"Timestamp", b.Timestamp}, {"Datacenter", b.Datacenter}, {"Worker", b.Worker}, {"Sequence", b.Sequence}, {"Shard", b.Shard}} {
		if part.bits > 0 {
			bits = append(bits, fmt.Sprintf("%s: %d", part.name, part.bits))
		}
	}
	return fmt.Sprintf("snow.NewLayout(%s, %s, snow.Bits{%s})", dateCode(l.Epoch()), durationCode(l.Tick()), strings.Join(bits, ", "))
}

func dateCode(t time.Time) string {
	t = t.UTC()
	return fmt.Sprintf("time.Date(%d, %d, %d, %d, %d, %d, %d, time.UTC)", t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond())
}

func durationCode(d time.Duration) string {
	for _, unit := range []struct {
		code string
		is   time.Duration
	}{{"time.Second", time.Second}, {"time.Millisecond", time.Millisecond}, {"time.Microsecond", time.Microsecond}} {
		if n := d / unit.is; d%unit.is == 0 && n == 1 {
			return unit.code
		} else if d%unit.is == 0 {
			return fmt.Sprintf("%d*%s", n, unit.code)
		}
	}
	return fmt.Sprintf("%d*time.Nanosecond", d)
}
