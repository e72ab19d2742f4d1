package mergecommand

import (
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shardsnow/snow/merge/report"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// progress shows how a run goes on: a bar for each table on a terminal,
// elsewhere a line a minute. It is safe for concurrent use.
type progress struct {
	w    io.Writer
	now  func() time.Time
	bars *mpb.Progress // nil where w is no terminal

	mu    sync.Mutex
	stage map[string]*stretch // by phase, source and table
	told  time.Time           // when the last line was written
	over  bool
}

// A stretch is the progress in a table and a phase, from the row where this process
// began. Bars read it while other goroutines write it, and must not wait for them.
type stretch struct {
	name  string
	begun time.Time
	from  int64
	rows  atomic.Int64
	total atomic.Int64 // negative while nobody knows
	bar   *mpb.Bar
}

const everyLine = time.Minute

func newProgress(w io.Writer) *progress {
	p := &progress{w: w, now: time.Now, stage: make(map[string]*stretch)}
	if f, ok := w.(*os.File); ok && os.Getenv("TERM") != "dumb" {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			p.bars = mpb.New(mpb.WithOutput(w), mpb.WithWidth(30), mpb.WithRefreshRate(200*time.Millisecond), mpb.WithAutoRefresh())
		}
	}
	p.told = p.now()
	return p
}

// event shows an event.
func (p *progress) event(e report.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return
	}
	switch e.Kind {
	case report.EventPause:
		p.line("paused")
	case report.EventResume:
		p.line("goes on")
	case report.EventWarning:
		p.line("look at: " + e.Text)
	case report.EventTable, report.EventChunk, report.EventEnd:
		if e.Table == "" {
			return
		}
		key := e.Phase + " " + e.Source + "." + e.Table
		s := p.stage[key]
		if s == nil {
			s = &stretch{name: key, begun: p.now(), from: e.Rows}
			if p.bars != nil {
				s.bar = p.bars.AddBar(max(e.Total, 0), mpb.BarRemoveOnComplete(),
					mpb.PrependDecorators(decor.Name(key, decor.WCSyncSpaceR)),
					mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return s.text(p.now()) })))
			}
			p.stage[key] = s
		}
		s.rows.Store(e.Rows)
		s.total.Store(e.Total)
		if e.Kind == report.EventEnd {
			delete(p.stage, key)
		}
		p.show(s, e.Kind == report.EventEnd)
	}
}

// show moves the bar, or writes a line when it is time.
func (p *progress) show(s *stretch, end bool) {
	if s.bar != nil {
		rows, total := s.rows.Load(), s.total.Load()
		if total >= 0 {
			total = max(total, rows+1) // or the bar would end by itself
		}
		s.bar.SetTotal(max(total, 0), false) // 0 is an empty bar
		s.bar.SetCurrent(rows)
		if end {
			s.bar.SetTotal(rows, true)
		}
		return
	}
	if now := p.now(); now.Sub(p.told) >= everyLine {
		p.told = now
		p.line(s.name + "  " + s.text(now))
	}
}

// text says how many rows are done, how fast, and how long the rest takes at that rate.
func (s *stretch) text(now time.Time) string {
	rows, total := s.rows.Load(), s.total.Load()
	text := count(rows)
	if total >= 0 {
		text += " of " + count(total)
	}
	text += " rows"
	took := now.Sub(s.begun)
	if took <= 0 || rows <= s.from {
		return text
	}
	rate := float64(rows-s.from) / took.Seconds()
	text += ", " + count(int64(rate)) + " rows/s"
	if left := total - rows; left > 0 {
		text += ", " + time.Duration(float64(left)/rate*float64(time.Second)).Round(time.Second).String() + " left"
	}
	return text
}

// line writes a line, above the bars if there are any.
func (p *progress) line(text string) {
	w := p.w
	if p.bars != nil {
		w = p.bars
	}
	_, _ = fmt.Fprintln(w, text)
}

// close ends the bars, so that others can write to the terminal. It may be called twice.
func (p *progress) close() {
	p.mu.Lock()
	over := p.over
	p.over = true
	p.mu.Unlock()
	if !over && p.bars != nil {
		p.bars.Shutdown()
	}
}
