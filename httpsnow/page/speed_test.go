package page

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/shardsnow/snow/sqlsnow"
)

// BenchmarkShow is an answer for six namespaces. A part or all of their 1,024 numbers are held.
func BenchmarkShow(b *testing.B) {
	h, err := New([]Database{{DB: unreachable(b), Dialect: sqlsnow.MySQL}}, Config{Logger: quiet()})
	if err != nil {
		b.Fatal(err)
	}
	for _, held := range []int{33, 1024} {
		b.Run(fmt.Sprint(held, " held"), func(b *testing.B) {
			var all []namespace
			for i := range 6 {
				all = append(all, spaceOf(fmt.Sprint("space", i), held, 0, 1024-held))
			}
			var page bytes.Buffer
			for b.Loop() {
				page.Reset()
				v := viewOf(snapshot{databases: []state{stateOf("a", all...)}}, time.Second, filter{}, nil)
				if err := h.templates.ExecuteTemplate(&page, "live.html", v); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(page.Len()), "bytes/page")
		})
	}
}
