package convertcommand

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/shardsnow/snow/cmd/snow/internal/terminal"
	"github.com/shardsnow/snow/convert/report"
)

// progress shows how far a run is: on a terminal a line that is written again and again, elsewhere a line a minute, and
// a line for each step. It is safe for concurrent use.
type progress struct {
	w       io.Writer
	columns func() int // of the terminal; nil where w is none
	quiet   bool
	stop    chan struct{}
	once    sync.Once
	ticking sync.WaitGroup

	mu       sync.Mutex
	step     string
	began    time.Time
	done, of int64
	from     int64 // rows that an earlier process has done
	waits    string
	told     time.Time
	drawn    int
}

func newProgress(w io.Writer, quiet bool) *progress {
	p := &progress{w: w, quiet: quiet, stop: make(chan struct{}), told: time.Now()}
	if f, ok := w.(*os.File); ok && os.Getenv("TERM") != "dumb" && terminal.Columns(f) > 0 {
		p.columns = func() int { return terminal.Columns(f) }
	}
	if quiet {
		return p
	}
	p.ticking.Go(func() {
		ticker := time.NewTicker(500 * time.Millisecond)
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
	return p
}

// event takes an event.
func (p *progress) event(e report.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.quiet {
		return
	}
	switch e.Kind {
	case report.StepBegins:
		p.step, p.began, p.done, p.of, p.from, p.waits = e.Step, time.Now(), 0, 0, -1, ""
		p.line(e.Step + ": " + e.Title)
	case report.StepVerified:
		p.line(fmt.Sprintf("%s: done and verified in %v", e.Step, time.Since(p.began).Round(100*time.Millisecond)))
		p.step = ""
	case report.StepUndone:
		p.line(e.Step + ": taken back")
		p.step = ""
	case report.Progress:
		if p.from < 0 {
			p.from = e.Done
		}
		p.done, p.of = e.Done, e.Of
	case report.Waits, report.TakesOver:
		p.waits = e.Why
		p.line("waits: " + e.Why)
	case report.GoesOn:
		p.waits = ""
		p.line("goes on")
	}
}

func (p *progress) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.step == "":
	case p.columns != nil:
		p.draw()
	case time.Since(p.told) >= time.Minute:
		p.line(p.text())
	}
}

// text says how far the step is, and how long the rest takes.
func (p *progress) text() string {
	took := time.Since(p.began)
	text := fmt.Sprintf("%s: %v", p.step, took.Round(time.Second))
	if p.of > 0 {
		text += fmt.Sprintf(", %d of %d rows, %d %%", p.done, p.of, min(100, 100*p.done/p.of))
		if n := p.done - p.from; n > 0 && p.of > p.done {
			text += fmt.Sprintf(", about %v more", (took * time.Duration(p.of-p.done) / time.Duration(n)).Round(time.Second))
		}
	}
	if p.waits != "" {
		text += ", waits: " + p.waits
	}
	return text
}

func (p *progress) draw() {
	text := []rune(p.text())
	if most := p.columns() - 1; len(text) > most {
		text = text[:max(0, most)]
	}
	fmt.Fprintf(p.w, "\r%s%s", string(text), strings.Repeat(" ", max(0, p.drawn-len(text))))
	p.drawn = len(text)
}

// line writes a line that stays.
func (p *progress) line(text string) {
	p.wipe()
	fmt.Fprintln(p.w, text)
	p.told = time.Now()
}

func (p *progress) wipe() {
	if p.drawn > 0 {
		fmt.Fprintf(p.w, "\r%s\r", strings.Repeat(" ", p.drawn))
		p.drawn = 0
	}
}

// clear makes room for a question.
func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wipe()
	p.step = ""
}

// end ends the ticks.
func (p *progress) end() {
	p.once.Do(func() { close(p.stop) })
	p.ticking.Wait()
	p.clear()
}
