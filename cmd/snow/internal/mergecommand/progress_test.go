package mergecommand

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shardsnow/snow/merge/report"
)

// A clocked is a progress whose clock stands still until the test moves it.
type clocked struct {
	*progress
	text bytes.Buffer
	time time.Time
}

// newClocked returns one without a terminal, or with one of so many columns.
func newClocked(columns int) *clocked {
	c := &clocked{time: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	c.progress = &progress{w: &c.text, now: func() time.Time { return c.time }, told: c.time, stop: make(chan struct{})}
	if columns > 0 {
		c.columns = func() int { return columns }
	}
	return c
}

// after lets time go by, and shows what there is to show.
func (c *clocked) after(d time.Duration) {
	c.time = c.time.Add(d)
	c.tick()
}

func (c *clocked) begin(rows, total int64) {
	c.event(report.Event{Kind: report.EventPhase, Phase: "copy", Number: 2, Phases: 5, Rows: rows, Total: total})
}

func (c *clocked) chunk(kind report.EventKind, table string, rows int64) {
	c.event(report.Event{Kind: kind, Phase: "copy", Number: 2, Phases: 5, Source: "s1", Table: table, Rows: rows, Total: 100_000})
}

// Where there is no terminal, progress is a line a minute, and nothing that only a terminal understands.
func TestProgressLines(t *testing.T) {
	c := newClocked(0)
	c.after(time.Hour) // before there is anything to tell
	c.told = c.time
	c.begin(20_000, 200_000)
	c.chunk(report.EventTable, "players", 20_000) // of an earlier run
	for second := range int64(150) {
		c.after(time.Second)
		c.chunk(report.EventChunk, "players", 20_000+(second+1)*500)
	}
	c.event(report.Event{Kind: report.EventPause})
	c.after(time.Minute)
	c.event(report.Event{Kind: report.EventResume})
	c.chunk(report.EventEnd, "players", 100_000)
	c.chunk(report.EventTable, "\x1b[31mitems\n", 0)
	c.after(time.Minute)
	c.event(report.Event{Kind: report.EventPhase, Phase: "witness", Number: 5, Phases: 5, Total: -1})
	c.after(30 * time.Second)
	c.after(30 * time.Second)
	c.close()
	c.close()
	c.event(report.Event{Kind: report.EventPause})
	c.after(time.Hour)
	want := `phase 2 of 5, copy, 24%, 49,500 of 200,000 rows, 491 rows/s, 5m6s left, s1.players
phase 2 of 5, copy, 39%, 79,500 of 200,000 rows, 495 rows/s, 4m3s left, s1.players
paused
phase 2 of 5, copy, 47%, 95,000 of 200,000 rows, paused, s1.players
goes on
phase 2 of 5, copy, 50%, 100,000 of 200,000 rows, 380 rows/s, 4m23s left, s1.?[31mitems?
phase 5 of 5, witness
`
	if got := c.text.String(); got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
}

// On a terminal it is one line, which has as much as there is room for.
func TestProgressOnATerminal(t *testing.T) {
	for columns, want := range map[int]string{
		200: "phase 2 of 5, copy  [=============>                ]  45%  90,000 of 200,000 rows  7,000 rows/s  16s left  s1.players",
		118: "phase 2 of 5, copy  [=============>                ]  45%  90,000 of 200,000 rows  7,000 rows/s  16s left  s1.players",
		100: "phase 2 of 5, copy  [=====>      ]  45%  90,000 of 200,000 rows  7,000 rows/s  16s left  s1.players",
		80:  "phase 2 of 5, copy  [============>               ]  45%  7,000 rows/s  16s left",
		60:  "phase 2 of 5, copy  [=========>            ]  45%  16s left",
		40:  "phase 2 of 5, copy  45%  16s left",
		20:  "phase 2 of 5, copy",
		12:  "45%",
		1:   "",
		0:   "",
	} {
		c := newClocked(1)
		c.columns = func() int { return columns }
		c.begin(20_000, 200_000)
		c.chunk(report.EventTable, "players", 20_000)
		c.chunk(report.EventChunk, "players", 90_000)
		c.after(10 * time.Second)
		got := strings.TrimPrefix(c.text.String(), "\r")
		if got != want || len(got) >= max(columns, 1) {
			t.Errorf("%d columns: got %q of %d, want %q", columns, got, len(got), want)
		}
	}
}

// A line takes the place of the one before, whatever the length of that, and a longer text does not get mixed with it.
func TestProgressIsWrittenOver(t *testing.T) {
	c := newClocked(60)
	c.begin(0, 1_000)
	c.chunk(report.EventTable, "players", 0)
	c.after(time.Second)
	c.chunk(report.EventChunk, "players", 500)
	c.after(time.Second)
	c.event(report.Event{Kind: report.EventPause})
	c.after(time.Second)
	c.event(report.Event{Kind: report.EventResume})
	c.chunk(report.EventEnd, "players", 1_000)
	c.after(time.Second)
	c.event(report.Event{Kind: report.EventPhase, Phase: "choose", Number: 1, Phases: 5, Total: -1})
	c.after(time.Second)
	c.close()
	got := c.text.String()
	if strings.Contains(got, "\x1b") {
		t.Errorf("there is an escape code in %q", got)
	}
	want := []string{
		"phase 2 of 5, copy  [>               ]  0%  0 of 1,000 rows",
		"phase 2 of 5, copy  [=====>     ]  50%  250 rows/s  2s left",
		"paused\n",
		"phase 2 of 5, copy  [============>           ]  50%  paused",
		"goes on\n",
		"phase 2 of 5, copy  [===================]  100%  333 rows/s",
		"phase 1 of 5, choose",
		"", "",
	}
	if screen := replay(got); fmt.Sprintf("%q", screen) != fmt.Sprintf("%q", want) {
		t.Errorf("the terminal showed\n%q\nwant\n%q", screen, want)
	}
}

// replay returns what a terminal shows after each return of its carriage.
func replay(text string) (shown []string) {
	var line []rune
	for part := range strings.SplitSeq(strings.TrimPrefix(text, "\r"), "\r") {
		written, end := strings.CutSuffix(part, "\n")
		for i, r := range []rune(written) {
			if i == len(line) {
				line = append(line, r)
			}
			line[i] = r
		}
		screen := strings.TrimRight(string(line), " ")
		if end {
			screen += "\n"
			line = nil
		}
		shown = append(shown, screen)
	}
	return shown
}

// Whatever is done and however narrow the terminal is, a line fits.
func TestProgressFits(t *testing.T) {
	for columns := range 150 {
		for _, rows := range []int64{0, 1, 999, 1_000, 1_001} {
			c := newClocked(max(columns, 1))
			c.begin(0, 1_000)
			c.chunk(report.EventTable, "工会\u202e", 0)
			c.chunk(report.EventChunk, "工会\u202e", rows)
			c.after(time.Millisecond)
			if line := strings.TrimPrefix(c.text.String(), "\r"); width(line) > max(columns-1, 0) {
				t.Fatalf("%d columns, %d rows: %q", columns, rows, line)
			}
		}
	}
}

// Where people want it quiet, nothing is written.
func TestProgressIsQuiet(t *testing.T) {
	var b bytes.Buffer
	p := newProgress(&b, true)
	p.event(report.Event{Kind: report.EventPhase, Phase: "copy", Number: 1, Phases: 1, Total: 5})
	p.event(report.Event{Kind: report.EventPause})
	p.tick()
	p.close()
	if b.String() != "" {
		t.Errorf("got %q", b.String())
	}
}
