package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/census"
	"github.com/shardsnow/snow/internal/timetext"
	"github.com/shardsnow/snow/sqlsnow"
)

const aboutWorkers = `Show who has which worker number, since when and until when. Times are the
database's. Without --namespace, the namespaces are shown.

  held      its holder has renewed it in time
  late      its holder missed two renewals: it is gone, or can't reach the database
  cooling   nobody has it, and its last window is not over yet
  claimed   a process waits for its first window
  reserved  never leased
  free      a process can lease it now`

// workersFlags are the flags of snow workers.
type workersFlags struct {
	app       *app
	namespace string
	all       bool
	watch     bool
	every     time.Duration
	db        *databaseFlags
}

func (a *app) workers() *cobra.Command {
	f := &workersFlags{app: a, db: &databaseFlags{app: a}}
	c := &cobra.Command{
		Use: "workers", Short: "Show who has which worker number", Long: aboutWorkers, Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if f.every <= 0 {
				return &usageError{c.CommandPath(), errors.New("--every: want more than 0s")}
			}
			return f.run(c.Context())
		},
	}
	namespaceFlag(c, &f.namespace)
	c.Flags().BoolVar(&f.all, "all", false, "show free numbers as well")
	c.Flags().BoolVar(&f.watch, "watch", false, "show them again and again, until a signal ends the command")
	c.Flags().DurationVar(&f.every, "every", 2*time.Second, "how often, for --watch")
	f.db.add(c)
	return c
}

func (f *workersFlags) run(ctx context.Context) error {
	db, err := f.db.open(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	if !f.watch {
		r, err := f.read(ctx, db)
		if err != nil {
			return explain(err)
		}
		return f.app.print(r)
	}
	ticker := time.NewTicker(f.every)
	defer ticker.Stop()
	for {
		r, err := f.read(ctx, db)
		if ctx.Err() != nil {
			return nil // a signal is how a watch ends
		}
		if err != nil {
			return explain(err)
		}
		if err := f.app.printLine(r); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

func (f *workersFlags) read(ctx context.Context, db *connected) (result, error) {
	if f.namespace == "" {
		return readNamespaces(ctx, db)
	}
	// The clock is read first, so that what was renewed since is not taken for late.
	now, err := sqlsnow.Clock(ctx, db.DB, db.dialect)
	if err != nil {
		return nil, err
	}
	rows, err := sqlsnow.Workers(ctx, db.DB, db.dialect, f.namespace)
	if err != nil {
		return nil, err
	}
	return countWorkers(f.namespace, rows, now, f.all), nil
}

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

func countWorkers(namespace string, rows []sqlsnow.WorkerInfo, now time.Time, free bool) shownWorkers {
	s := shownWorkers{Namespace: namespace, Now: now, Count: make(map[string]int), Workers: []shownWorker{}}
	for _, state := range census.States() {
		s.Count[state] = 0
	}
	for _, w := range rows {
		state := census.StateOf(w, now)
		s.Count[state]++
		if state == "free" && !free {
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

func (s shownWorkers) writeText(w io.Writer) {
	fmt.Fprintf(w, "%s at %s:", s.Namespace, timetext.Stamp(s.Now))
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
	for _, r := range s.Workers {
		fmt.Fprintf(w, "%d\t%s\t%s\t%d times\t%s\t%s\t%s\n", r.Worker, r.State, printable(r.Holder), r.Fence, when(r.Since, s.Now), when(r.Renewed, s.Now), when(r.Ceiling, s.Now))
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

func readNamespaces(ctx context.Context, db *connected) (result, error) {
	rows, err := sqlsnow.Namespaces(ctx, db.DB, db.dialect)
	if err != nil {
		return nil, err
	}
	all := shownNamespaces{}
	for _, n := range rows {
		all = append(all, shownNamespace{n.Name, n.Layout, n.Workers, n.Window, n.PinnedWindow, n.LossWindow})
	}
	return all, nil
}

func (all shownNamespaces) writeText(w io.Writer) {
	if len(all) == 0 {
		fmt.Fprintln(w, `There is no namespace. "snow init" makes one.`)
		return
	}
	fmt.Fprintln(w, "namespace\tworkers\twindow\tpinned window\tloss window\tlayout")
	for _, n := range all {
		fmt.Fprintf(w, "%s\t%d\t%v\t%v\t%v\t%s\n", n.Name, n.Workers, n.Window, n.Pinned, n.LossWindow, n.Layout)
	}
}
