package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shardsnow/snow/cmd/snow/internal/store"
	"github.com/shardsnow/snow/cmd/snow/internal/terminal"
	"github.com/shardsnow/snow/internal/census"
	"github.com/shardsnow/snow/sqlsnow"
)

const aboutWorkers = `Show who has which worker number, since when and until when. Times are the
database's. Without --namespace, the namespaces are shown.

  held      its holder has renewed it in time
  late      its holder missed two renewals: it is gone, or can't reach the database
  cooling   nobody has it, and its last window is not over yet
  claimed   a process waits for its first window
  reserved  never leased
  free      a process can lease it now

--state shows the numbers in some of these states only, of all namespaces if there
is no --namespace. With --check, which is for monitoring, the exit status is 3 if there
are such numbers; without --state, late ones. Numbers beside each other that say the same
are one row; --json has each.`

// workersFlags are the flags of snow workers.
type workersFlags struct {
	app       *app
	namespace string
	states    []string
	check     bool
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
			if err := f.validate(); err != nil {
				return &usageError{c.CommandPath(), err}
			}
			return f.run(c.Context())
		},
	}
	namespaceFlag(c, &f.namespace)
	c.Flags().StringSliceVar(&f.states, "state", nil, "only numbers in this `STATE`, such as late; with commas, or once for each")
	c.Flags().BoolVar(&f.check, "check", false, "exit status 3 if there are numbers in a --state, or late ones without it")
	c.Flags().BoolVar(&f.all, "all", false, "show free numbers as well")
	c.Flags().BoolVar(&f.watch, "watch", false, "show them again and again, until a signal ends the command")
	c.Flags().DurationVar(&f.every, "every", 2*time.Second, "how often, for --watch")
	completeWith(c, "state", census.States()...)
	f.db.add(c)
	return c
}

func (f *workersFlags) validate() error {
	for _, state := range f.states {
		if !slices.Contains(census.States(), state) {
			return fmt.Errorf("--state: want %s", strings.Join(census.States(), ", "))
		}
	}
	switch {
	case f.every <= 0:
		return errors.New("--every: want more than 0s")
	case f.check && f.watch:
		return errors.New("want --check or --watch, not both")
	case f.check && len(f.states) == 0:
		f.states = []string{"late"}
	}
	return nil
}

func (f *workersFlags) run(ctx context.Context) error {
	db, err := f.db.openNumbers(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	if f.watch {
		return f.watchAll(ctx, db)
	}
	r, err := f.read(ctx, db)
	if err != nil {
		return explain(err)
	}
	if err := f.app.print(r); err != nil {
		return err
	}
	if found := r.found(f.states); f.check && found > 0 {
		return &refusal{fmt.Errorf("workers: %s: %s", strings.Join(f.states, ", "), count(found, "number"))}
	}
	return nil
}

// watchAll shows the numbers until ctx ends, on a terminal always in the same place.
func (f *workersFlags) watchAll(ctx context.Context, db store.Store) error {
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
		if err := f.draw(r); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

func (f *workersFlags) draw(r result) error {
	screen, ok := f.app.Out.(*os.File)
	if !ok || f.app.json || os.Getenv("TERM") == "dumb" {
		return f.app.printLine(r)
	}
	columns, rows := terminal.Size(screen)
	if columns == 0 {
		return f.app.printLine(r)
	}
	var text bytes.Buffer
	on := *f.app
	on.Out = &text
	if err := on.printLine(r); err != nil {
		return err
	}
	return terminal.Redraw(screen, text.String(), columns, rows)
}

// A workersResult is what snow workers prints.
type workersResult interface {
	result
	found(states []string) int // how many numbers are in these states
}

func (f *workersFlags) read(ctx context.Context, db store.Store) (workersResult, error) {
	if f.namespace != "" {
		return f.readWorkers(ctx, db, f.namespace)
	}
	rows, err := db.Namespaces(ctx)
	switch {
	case err != nil:
		return nil, err
	case len(f.states) == 0:
		return shownNamespacesOf(rows), nil
	case f.check && len(rows) == 0:
		return nil, fmt.Errorf("workers: %w", sqlsnow.ErrNoNamespace)
	}
	all := manyWorkers{}
	for _, n := range rows {
		one, err := f.readWorkers(ctx, db, n.Name)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

func (f *workersFlags) readWorkers(ctx context.Context, db store.Store, namespace string) (shownWorkers, error) {
	// The clock is read first, so that what was renewed since is not taken for late.
	now, err := store.Clock(ctx, db)
	if err != nil {
		return shownWorkers{}, err
	}
	rows, err := db.Workers(ctx, namespace)
	if err != nil {
		return shownWorkers{}, err
	}
	states := f.states
	if len(states) == 0 {
		states = slices.DeleteFunc(census.States(), func(s string) bool { return s == "free" && !f.all })
	}
	return countWorkers(namespace, rows, now, states), nil
}
