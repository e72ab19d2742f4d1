package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/shardsnow/snow/merge"
)

// Where there is no terminal, progress is a line a minute.
func TestProgressLines(t *testing.T) {
	var b bytes.Buffer
	p := newProgress(&b)
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	p.now, p.told = func() time.Time { return now }, now
	batch := func(kind merge.EventKind, rows int64) {
		p.event(merge.Event{Kind: kind, Phase: "copy", Source: "s1", Table: "players", Rows: rows, Total: 100_000})
	}
	batch(merge.EventTable, 20_000) // of an earlier run
	for second := range 150 {
		now = now.Add(time.Second)
		batch(merge.EventBatch, 20_000+int64(second+1)*500)
	}
	p.event(merge.Event{Kind: merge.EventPause})
	p.event(merge.Event{Kind: merge.EventResume})
	p.event(merge.Event{Kind: merge.EventWarning, Text: "a clock"})
	batch(merge.EventEnd, 100_000)
	p.close()
	p.close()
	p.event(merge.Event{Kind: merge.EventPause})
	want := "copy s1.players  50,000 of 100,000 rows, 500 rows/s, 1m40s left\n" +
		"copy s1.players  80,000 of 100,000 rows, 500 rows/s, 40s left\n" +
		"paused\ngoes on\nlook at: a clock\n"
	if b.String() != want {
		t.Errorf("got:\n%swant:\n%s", b.String(), want)
	}
}
