package command

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/shardsnow/snow/cmd/snow/internal/database"
	"github.com/shardsnow/snow/cmd/snow/internal/store"
	"github.com/shardsnow/snow/internal/timetext"
)

const aboutFence = `Make it safe to lease worker numbers after the database was restored from a
backup or lost history. Run it after the restore, before any process that makes
ids can reach the database.

Processes that hold a number go on. New ones must wait until the longest window
is over that could have been granted before.`

func (a *app) fence() *cobra.Command {
	flags := &databaseFlags{app: a, access: database.Existing}
	confirm := &confirmation{app: a}
	var namespace string
	c := &cobra.Command{
		Use: "fence", Short: "Make a restored database safe", Long: aboutFence, Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := needNamespace(c, namespace); err != nil {
				return err
			}
			db, err := flags.openNumbers(c.Context())
			if err != nil {
				return err
			}
			defer db.Close()
			all, err := db.Namespaces(c.Context(), namespace)
			if err != nil {
				return explain(err)
			}
			window := all[0].FencedFor()
			d := done{Dialect: db.Product(), Namespace: namespace, DryRun: confirm.dryRun}
			if confirm.dryRun {
				d.Done = fmt.Sprintf("nothing was changed; %d worker numbers would be fenced, and new processes would wait for up to %v", all[0].Workers, window)
				return a.print(d)
			}
			question := fmt.Sprintf("%s, namespace %s: after this, no process can lease one of %d worker numbers for up to %v. Fence it?",
				d.Dialect, namespace, all[0].Workers, window)
			if err := confirm.ask(c.Context(), question); err != nil {
				return err
			}
			if err := db.Fence(c.Context(), namespace); err != nil {
				return explain(err)
			}
			until, err := lastLeasable(c, db, namespace)
			if err != nil {
				return fmt.Errorf("the namespace is fenced, but: %w", explain(err))
			}
			d.Done = fmt.Sprintf("fenced; new processes wait until %s in the database's time", timetext.Stamp(until))
			return a.print(d)
		},
	}
	namespaceFlag(c, &namespace)
	confirm.add(c)
	flags.add(c)
	return c
}

// lastLeasable returns when all numbers can be leased, if nobody renews them.
func lastLeasable(c *cobra.Command, db store.Store, namespace string) (last time.Time, err error) {
	all, err := db.Workers(c.Context(), namespace)
	for _, w := range all {
		if w.Leasable.After(last) {
			last = w.Leasable
		}
	}
	return last, err
}
