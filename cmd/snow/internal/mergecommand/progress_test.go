package mergecommand

import (
	"bytes"
	"testing"
	"time"

	"github.com/shardsnow/snow/merge/report"
)

// Where there is no terminal, progress is a line a minute.
func TestProgressLines(t *testing.T) {
	var b bytes.Buffer
	p := newProgress(&b)
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	p.now, p.told = func() time.Time { return now }, now
	chunk := func(kind report.EventKind, rows int64) {
		p.event(report.Event{Kind: kind, Phase: "copy", Source: "s1", Table: "players", Rows: rows, Total: 100_000})
	}
	chunk(report.EventTable, 20_000) // of an earlier run
	for second := range 150 {
		now = now.Add(time.Second)
		chunk(report.EventChunk, 20_000+int64(second+1)*500)
	}
	p.event(report.Event{Kind: report.EventPause})
	p.event(report.Event{Kind: report.EventResume})
	p.event(report.Event{Kind: report.EventWarning, Text: "a clock"})
	chunk(report.EventEnd, 100_000)
	p.close()
	p.close()
	p.event(report.Event{Kind: report.EventPause})
	want := "copy s1.players  50,000 of 100,000 rows, 500 rows/s, 1m40s left\n" +
		"copy s1.players  80,000 of 100,000 rows, 500 rows/s, 40s left\n" +
		"paused\ngoes on\nlook at: a clock\n"
	if b.String() != want {
		t.Errorf("got:\n%swant:\n%s", b.String(), want)
	}
}
