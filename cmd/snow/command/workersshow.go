package command

import (
	"fmt"
	"io"
	"slices"
	"time"
	"unicode"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/census"
	"github.com/shardsnow/snow/internal/timetext"
	"github.com/shardsnow/snow/sqlsnow"
)

// A shownWorkers is the result of workers for a namespace.
type shownWorkers struct {
	Namespace string         `json:"namespace"`
	Now       time.Time      `json:"now"` // the database's clock
	Count     map[string]int `json:"count"`
	Workers   []shownWorker  `json:"workers"`
}

type shownWorker struct {
	Worker   uint64     `json:"worker"`
	State    string     `json:"state"`
	Holder   string     `json:"holder,omitempty"` // of a number that is not held, the last one
	Fence    int64      `json:"fence"`            // how often the number was leased
	Since    *time.Time `json:"since,omitempty"`
	Renewed  *time.Time `json:"renewed,omitempty"`
	Ceiling  *time.Time `json:"until,omitempty"` // the end of the window
	Leasable *time.Time `json:"leasable,omitempty"`
}

// countWorkers counts the numbers of a namespace, and shows the numbers in some states.
func countWorkers(namespace string, rows []sqlsnow.WorkerInfo, now time.Time, states []string) shownWorkers {
	s := shownWorkers{Namespace: namespace, Now: now, Count: make(map[string]int), Workers: []shownWorker{}}
	for _, state := range census.States() {
		s.Count[state] = 0
	}
	for _, w := range rows {
		state := census.StateOf(w, now)
		s.Count[state]++
		if !slices.Contains(states, state) {
			continue
		}
		shown := shownWorker{Worker: w.Worker, State: state, Holder: w.Holder, Fence: w.Fence}
		shown.Since, shown.Renewed, shown.Leasable = known(w.Claimed), known(w.Renewed), known(w.Leasable)
		if w.State == sqlsnow.Granted || state == "cooling" {
			shown.Ceiling = known(w.Ceiling)
		}
		s.Workers = append(s.Workers, shown)
	}
	return s
}

// known returns nil for a zero time, and for one that JSON can't write.
func known(t time.Time) *time.Time {
	if t.IsZero() || t.Year() < 1 || t.Year() > 9999 {
		return nil
	}
	return &t
}

func (s shownWorkers) found(states []string) (n int) {
	for _, state := range states {
		n += s.Count[state]
	}
	return n
}

func (s shownWorkers) writeText(w io.Writer) {
	fmt.Fprintf(w, "%s at %s:", printable(s.Namespace), timetext.Stamp(s.Now))
	for i, state := range census.States() {
		if i > 0 {
			fmt.Fprint(w, ",")
		}
		fmt.Fprintf(w, " %d %s", s.Count[state], state)
	}
	fmt.Fprintln(w)
	if len(s.Workers) == 0 {
		return
	}
	fmt.Fprintln(w, "worker\tstate\tholder\tleased\tsince\trenewed\twindow ends")
	for i := 0; i < len(s.Workers); {
		first, row := s.Workers[i].Worker, s.row(s.Workers[i])
		last := first
		for i++; i < len(s.Workers) && s.Workers[i].Worker == last+1 && s.row(s.Workers[i]) == row; i++ {
			last++
		}
		if first == last {
			fmt.Fprintf(w, "%d\t%s\n", first, row)
		} else {
			fmt.Fprintf(w, "%d–%d\t%s\n", first, last, row)
		}
	}
}

// row is what the text says of a number.
func (s shownWorkers) row(r shownWorker) string {
	return fmt.Sprintf("%s\t%s\t%d times\t%s\t%s\t%s", r.State, printable(r.Holder), r.Fence, when(r.Since, s.Now), when(r.Renewed, s.Now), when(r.Ceiling, s.Now))
}

// manyWorkers is the result of workers for all namespaces.
type manyWorkers []shownWorkers

func (all manyWorkers) found(states []string) (n int) {
	for _, s := range all {
		n += s.found(states)
	}
	return n
}

func (all manyWorkers) writeText(w io.Writer) {
	if len(all) == 0 {
		shownNamespaces{}.writeText(w)
	}
	for _, s := range all {
		s.writeText(w)
	}
}

func when(t *time.Time, now time.Time) string {
	if t == nil {
		return "-"
	}
	return timetext.Distance(*t, now)
}

// printable returns a text that others wrote without what could change the terminal or the table.
func printable(text string) string {
	if text == "" {
		return "-"
	}
	out := []rune(text)
	for i, r := range out {
		if !unicode.IsPrint(r) {
			out[i] = '?'
		}
	}
	return string(out)
}

// shownNamespaces is the result of workers without a namespace.
type shownNamespaces []shownNamespace

type shownNamespace struct {
	Name       string        `json:"namespace"`
	Layout     snow.Layout   `json:"layout"`
	Workers    int           `json:"workers"`
	Window     time.Duration `json:"window_ns"`
	Pinned     time.Duration `json:"pinned_window_ns"`
	LossWindow time.Duration `json:"loss_window_ns"`
}

func shownNamespacesOf(rows []sqlsnow.Namespace) shownNamespaces {
	all := shownNamespaces{}
	for _, n := range rows {
		all = append(all, shownNamespace{n.Name, n.Layout, n.Workers, n.Window, n.PinnedWindow, n.LossWindow})
	}
	return all
}

func (shownNamespaces) found([]string) int { return 0 }

func (all shownNamespaces) writeText(w io.Writer) {
	if len(all) == 0 {
		fmt.Fprintln(w, `There is no namespace. "snow init" makes one.`)
		return
	}
	fmt.Fprintln(w, "namespace\tworkers\twindow\tpinned window\tloss window\tlayout")
	for _, n := range all {
		fmt.Fprintf(w, "%s\t%d\t%v\t%v\t%v\t%s\n", printable(n.Name), n.Workers, n.Window, n.Pinned, n.LossWindow, n.Layout)
	}
}
