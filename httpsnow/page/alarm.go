package page

import (
	"fmt"
	"strings"
	"time"

	"github.com/shardsnow/snow/internal/timetext"
)

// mostSkew is how far a database's clock may be from this process's before the page says so. More than 30 s stop ids.
const mostSkew = time.Second

// mostLinks is how many places a problem names.
const mostLinks = 12

// An alarmView is the line on top: what is wrong, and where.
type alarmView struct {
	Problems []problemView
	Notes    []problemView // what to know, although it is not wrong
	Calm     string        // what is said if nothing is wrong
}

// A problemView is one thing that is wrong, with the places where it is.
type problemView struct {
	Text  string
	Short string // for the document's title
	Links []linkView
	More  int // places that are not named
}

// A linkView leads to an anchor. Under a filter it leads to the page without one, because the filter may leave out
// where it leads.
type linkView struct{ Href, Text string }

// add adds a place.
func (p *problemView) add(href, text string) {
	if len(p.Links) == mostLinks {
		p.More++
		return
	}
	p.Links = append(p.Links, linkView{href, text})
}

// alarmOf says what is wrong with what is shown, the worst first.
func alarmOf(v view) (a alarmView) {
	var down, late, full, back, clocks, unread, scarce, fenced problemView
	nLate, held, spaces := 0, 0, 0
	for _, d := range v.Databases {
		of := func(name string) string {
			if len(v.Databases) > 1 {
				return name + " of " + d.Name
			}
			return name
		}
		if d.Failing != "" {
			down.add(v.href(d.Anchor), d.Name+" since "+d.Failing+" UTC")
		}
		if d.skewed {
			clocks.add(v.href(d.Anchor), d.Name+": "+d.Clock)
		}
		if d.Unread {
			unread.add(v.href(d.Anchor), d.Name)
		}
		for _, n := range d.Namespaces {
			spaces++
			nLate += n.count("late")
			held += n.count("held")
			if n.count("late") > 0 {
				late.add(v.href(n.Anchor), fmt.Sprintf("%s %d", of(n.Name), n.count("late")))
			}
			switch free := n.count("free"); {
			case n.waits != "":
				fenced.add(v.href(n.Anchor), of(n.Name)+" until "+n.waits)
			case n.total > 0 && free == 0:
				full.add(v.href(n.Anchor), of(n.Name))
			case n.total >= 20 && free*20 < n.total:
				scarce.add(v.href(n.Anchor), fmt.Sprintf("%s %d of %d", of(n.Name), free, n.total))
			}
		}
		for _, c := range d.Counters {
			if c.Regressed {
				back.add(v.href(c.Anchor), of(c.Tag))
			}
		}
	}
	found := func(p problemView, n int, short, one, many string) {
		if p.Text = one; n != 1 {
			p.Text = fmt.Sprintf(many, n)
		}
		if p.Short = short; strings.Contains(short, "%") {
			p.Short = fmt.Sprintf(short, n)
		}
		if n > 0 {
			a.Problems = append(a.Problems, p)
		}
	}
	count := func(p problemView) int { return len(p.Links) + p.More }
	found(down, count(down), "%d down", "A database does not answer:", "%d databases do not answer:")
	found(late, nLate, "%d late", "1 lease is late:", "%d leases are late:")
	found(back, count(back), "%d regressed", "A counter went back and gives no numbers:", "%d counters went back and give no numbers:")
	found(clocks, count(clocks), "clock", "A clock is wrong:", "%d clocks are wrong:")
	found(unread, count(unread), "unread", "The counters can't be read:", "The counters of %d databases can't be read:")
	full.Text, scarce.Text, fenced.Text = "No number is free for a new process:", "Few numbers are free:", "New processes wait after a fence:"
	for _, p := range []problemView{full, scarce, fenced} {
		if count(p) > 0 {
			a.Notes = append(a.Notes, p)
		}
	}
	for _, line := range v.Lines {
		if line.Bad && line.five >= 0.5 {
			a.Notes = append(a.Notes, problemView{Text: grouped(line.five) + " requests were refused in the last 5 minutes."})
		}
	}
	a.Calm = fmt.Sprintf("All is well: %s held in %s.", numbers(held), plural(spaces, "namespace"))
	return a
}

// title returns the document's title, such as "(9 late) snow".
func (a alarmView) title() string {
	var all []string
	for _, p := range a.Problems {
		all = append(all, p.Short)
	}
	if all == nil {
		return "snow"
	}
	return "(" + strings.Join(all, ", ") + ") snow"
}

// Said returns the line for a screen reader. It is the same until something else is wrong.
func (a alarmView) Said() string {
	if a.Problems == nil {
		return "All is well."
	}
	var b strings.Builder
	for i, p := range a.Problems {
		if i > 0 {
			b.WriteString(" ")
		}
		b.WriteString(p.Text)
		for j, l := range p.Links {
			if j > 0 {
				b.WriteString(",")
			}
			b.WriteString(" " + l.Text)
		}
		b.WriteString(".")
	}
	return b.String()
}

// clockText says how far a clock is ahead of this process's, and whether that is too far.
func clockText(ahead, trip time.Duration) (text string, skewed bool) {
	give := " (give or take " + timetext.Span((trip / 2).Seconds()) + ")"
	skewed = ahead.Abs()-trip/2 > mostSkew
	switch {
	case ahead.Abs() <= max(trip/2, time.Millisecond):
		return "the same as this process's" + give, false
	case ahead < 0:
		return timetext.Span(-ahead.Seconds()) + " behind this process's" + give, skewed
	}
	return timetext.Span(ahead.Seconds()) + " ahead of this process's" + give, skewed
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return grouped(float64(n)) + " " + word + "s"
}

func numbers(n int) string {
	if n == 1 {
		return "1 number is"
	}
	return grouped(float64(n)) + " numbers are"
}
