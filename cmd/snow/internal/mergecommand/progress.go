package mergecommand

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/shardsnow/snow/cmd/snow/internal/terminal"
	"github.com/shardsnow/snow/merge/report"
)

// progress shows how far a merge is: on a terminal one line that is written over
// again and again, elsewhere a line a minute. It is safe for concurrent use.
type progress struct {
	w       io.Writer
	columns func() int // of the terminal; nil where w is none
	now     func() time.Time
	quiet   bool // it writes warnings only
	stop    chan struct{}
	ticking sync.WaitGroup

	mu     sync.Mutex
	phase  string
	begun  time.Time // the phase in this process, or later by the time that it was paused
	from   int64     // rows of the phase that earlier processes have handled
	rows   int64
	total  int64            // negative while nobody knows
	tables map[string]int64 // rows, by source and table
	at     string           // the source and table of the last event
	paused time.Time        // zero if it goes on
	told   time.Time        // when the last line was written
	drawn  int              // columns that the line on the terminal takes
	over   bool
}

const (
	everyLine = time.Minute
	everyDraw = 200 * time.Millisecond
	mostBar   = 30
	leastBar  = 10
)

func newProgress(w io.Writer, quiet bool) *progress {
	p := &progress{w: w, now: time.Now, quiet: quiet, stop: make(chan struct{})}
	p.told = p.now()
	every := time.Second
	if f, ok := w.(*os.File); ok && os.Getenv("TERM") != "dumb" && terminal.Columns(f) > 0 {
		p.columns = func() int { return terminal.Columns(f) }
		every = everyDraw
	}
	if !quiet {
		p.ticking.Go(func() {
			ticker := time.NewTicker(every)
			defer ticker.Stop()
			for {
				select {
				case <-ticker.C:
					p.tick()
				case <-p.stop:
					return
				}
			}
		})
	}
	return p
}

// event takes an event.
func (p *progress) event(e report.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over || p.quiet {
		return
	}
	switch e.Kind {
	case report.EventPause:
		p.paused = p.now()
		p.line("paused")
	case report.EventResume:
		p.begun = p.begun.Add(p.now().Sub(p.paused))
		p.paused = time.Time{}
		p.line("goes on")
	case report.EventPhase:
		p.phase, p.begun, p.at, p.tables = e.Phase, p.now(), "", map[string]int64{}
		if e.Phase == "mint" {
			p.phase = "new ids"
		}
		if e.Phases > 1 {
			p.phase = fmt.Sprintf("phase %d of %d, %s", e.Number, e.Phases, p.phase)
		}
		p.from, p.rows, p.total = e.Rows, e.Rows, e.Total
	case report.EventTable, report.EventChunk, report.EventEnd:
		p.at = e.Table
		if e.Source != "" {
			p.at = e.Source + "." + e.Table
		}
		if before, known := p.tables[p.at]; known {
			p.rows += e.Rows - before
		}
		if p.tables != nil {
			p.tables[p.at] = e.Rows
		}
	}
}

// tick writes what there is to show now.
func (p *progress) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch now := p.now(); {
	case p.over || p.phase == "":
	case p.columns != nil:
		p.draw()
	case now.Sub(p.told) >= everyLine:
		p.told = now
		p.line(strings.Join(p.status(now).all(), ", "))
	}
}

// A status is the text for a phase, empty where it is unknown.
type status struct{ phase, percent, rows, rate, left, at string }

func (p status) all() (all []string) {
	for _, part := range []string{p.phase, p.percent, p.rows, p.rate, p.left, p.at} {
		if part != "" {
			all = append(all, part)
		}
	}
	return all
}

// status says how many rows of the phase are done, how fast this process is, and how long the rest of the phase
// takes at that rate.
func (p *progress) status(now time.Time) status {
	all := status{phase: p.phase, at: printable(p.at)}
	if p.total > 0 {
		all.percent = fmt.Sprintf("%d%%", min(100, 100*p.rows/p.total))
		all.rows = count(p.rows) + " of " + count(p.total) + " rows"
	} else if p.rows > 0 {
		all.rows = count(p.rows) + " rows"
	}
	if !p.paused.IsZero() {
		all.left = "paused"
		return all
	}
	took := now.Sub(p.begun)
	if took <= 0 || p.rows <= p.from {
		return all
	}
	rate := float64(p.rows-p.from) / took.Seconds()
	all.rate = count(int64(rate)) + " rows/s"
	if left := p.total - p.rows; left > 0 {
		all.left = time.Duration(float64(left)/rate*float64(time.Second)).Round(time.Second).String() + " left"
	}
	return all
}

// draw writes over the line of the terminal.
func (p *progress) draw() {
	most := max(p.columns()-1, 0) // in the last column, some terminals begin another line
	line := p.fit(p.status(p.now()), most)
	blank := strings.Repeat(" ", max(0, min(p.drawn, most)-width(line)))
	_, _ = fmt.Fprint(p.w, "\r"+line+blank)
	p.drawn = width(line)
}

// fit returns a line of at most so many columns: without what matters less, where there is no room for it.
func (p *progress) fit(what status, most int) string {
	var shown status
	bar := 0
	length := func() int {
		n := width(strings.Join(shown.all(), "  "))
		if bar > 0 {
			n += bar + 4
		}
		return n
	}
	full := false // what matters less than a part without room is not shown either, or parts would come and go
	keep := func(set func()) {
		before, was := shown, bar
		if set(); full || length() > most {
			shown, bar, full = before, was, true
		}
	}
	if width(what.phase) <= most {
		shown.phase = what.phase
	}
	keep(func() { shown.percent = what.percent })
	keep(func() { shown.left = what.left })
	if what.percent != "" {
		keep(func() { bar = leastBar })
	}
	keep(func() { shown.rate = what.rate })
	keep(func() { shown.rows = what.rows })
	keep(func() { shown.at = what.at })
	if bar > 0 {
		bar += min(mostBar-leastBar, most-length())
	}
	texts := shown.all()
	if bar > 0 && shown.phase != "" {
		texts[0] += "  " + p.bar(bar)
	}
	return strings.Join(texts, "  ")
}

// bar draws how much of the phase is done, with so many signs between the brackets.
func (p *progress) bar(signs int) string {
	done := int(int64(signs) * min(p.rows, p.total) / p.total)
	if done == signs {
		return "[" + strings.Repeat("=", signs) + "]"
	}
	return "[" + strings.Repeat("=", done) + ">" + strings.Repeat(" ", signs-done-1) + "]"
}

// line writes a line, above the progress line of the terminal.
func (p *progress) line(text string) {
	text = printable(text)
	if p.columns != nil {
		text = "\r" + text + strings.Repeat(" ", max(0, p.drawn-width(text)))
		p.drawn = 0
	}
	_, _ = fmt.Fprintln(p.w, text)
}

// close ends the line of the terminal, so that others can write there. It may be called twice.
func (p *progress) close() {
	p.mu.Lock()
	over := p.over
	p.over = true
	if !over && p.drawn > 0 {
		_, _ = fmt.Fprint(p.w, "\r"+strings.Repeat(" ", p.drawn)+"\r")
	}
	p.mu.Unlock()
	if !over {
		close(p.stop)
		p.ticking.Wait()
	}
}

// printable returns a text without control characters of a terminal: names of tables may be any.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) {
			return '?'
		}
		return r
	}, text)
}

// width is how many columns of a terminal a text may take.
func width(text string) int {
	n := 0
	for _, r := range text {
		n++
		if r > unicode.MaxLatin1 { // such as Chinese
			n++
		}
	}
	return n
}
