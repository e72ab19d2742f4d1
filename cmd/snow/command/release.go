package command

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/shardsnow/snow/cmd/snow/internal/store"
	"github.com/shardsnow/snow/internal/census"
	"github.com/shardsnow/snow/internal/timetext"
	"github.com/shardsnow/snow/sqlsnow"
)

const aboutRelease = `Tell whether another process can lease a worker number, and wait until one can.

A process that ends gives back its number by itself. One that was killed can't, and its
number becomes free when its window is over. Nothing can make that sooner: a process
that does not answer may still run behind a broken network, and owns the ids of its window. So
this command writes nothing. That goes for a claimed number as well: a database that lost
history may have forgotten a window that it granted.

Exit status 0 if a process can lease the number now, 3 if not; then it tells when. With --wait it
waits for that time, and stops if the holder renews its window, which shows that it is alive.`

// longestPause bounds the time between two looks at a number.
const longestPause = time.Second

func (a *app) release() *cobra.Command {
	flags := &databaseFlags{app: a}
	var namespace string
	var worker uint64
	var wait bool
	c := &cobra.Command{
		Use: "release", Short: "Wait until the number of a dead process is free", Long: aboutRelease, Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := needNamespace(c, namespace); err != nil {
				return err
			}
			if !c.Flags().Changed("worker") {
				return &usageError{c.CommandPath(), errors.New("--worker is missing")}
			}
			db, err := flags.openNumbers(c.Context())
			if err != nil {
				return err
			}
			defer db.Close()
			d := done{Dialect: db.Product(), Namespace: namespace}
			if d.Done, err = waitForNumber(c.Context(), db, namespace, worker, wait); err != nil {
				return err
			}
			return a.print(d)
		},
	}
	namespaceFlag(c, &namespace)
	c.Flags().Uint64Var(&worker, "worker", 0, "`NUMBER` of the process that is gone")
	c.Flags().BoolVar(&wait, "wait", false, "wait until a process can lease the number")
	flags.add(c)
	return c
}

// waitForNumber returns what to tell when a number is free, and a refusal if it is not or, with wait, never will be.
func waitForNumber(ctx context.Context, db store.Store, namespace string, worker uint64, wait bool) (string, error) {
	var first *sqlsnow.WorkerInfo
	for {
		now, err := store.Clock(ctx, db)
		if err != nil {
			return "", explain(err)
		}
		w, err := readNumber(ctx, db, namespace, worker)
		if err != nil {
			return "", err
		}
		if first == nil {
			first = &w
		}
		state := census.StateOf(w, now)
		switch {
		case w.Fence != first.Fence:
			return "", &refusal{fmt.Errorf("release: worker %d was leased again, by %s at %s", worker, printable(w.Holder), timetext.Stamp(w.Claimed))}
		case state == "free":
			return fmt.Sprintf("worker %d is free: a process can lease it now", worker), nil
		case state == "reserved":
			return "", &refusal{fmt.Errorf("release: worker %d is reserved for %s, and is never leased", worker, printable(w.Holder))}
		case w.Renewed.After(first.Renewed) && w.State == sqlsnow.Granted:
			return "", &refusal{fmt.Errorf("release: worker %d: its holder %s is alive: it renewed its window at %s", worker, printable(w.Holder), timetext.Stamp(w.Renewed))}
		case !wait:
			return "", &remediedError{
				&refusal{fmt.Errorf("release: worker %d is %s, of %s: another process can lease it from %s on, %s",
					worker, state, printable(w.Holder), timetext.Stamp(w.Leasable), timetext.Distance(w.Leasable, now))},
				"End the process, if it lives, so that it gives back the number; or wait for that time: --wait does.",
			}
		}
		timer := time.NewTimer(min(longestPause, max(w.Leasable.Sub(now), time.Millisecond)))
		select {
		case <-ctx.Done():
			timer.Stop()
			return "", ctx.Err()
		case <-timer.C:
		}
	}
}

func readNumber(ctx context.Context, db store.Store, namespace string, worker uint64) (sqlsnow.WorkerInfo, error) {
	all, err := db.Workers(ctx, namespace)
	if err != nil {
		return sqlsnow.WorkerInfo{}, explain(err)
	}
	for _, w := range all {
		if w.Worker == worker {
			return w, nil
		}
	}
	return sqlsnow.WorkerInfo{}, &usageError{"snow release", fmt.Errorf("--worker: the namespace %s has no number %d", namespace, worker)}
}
