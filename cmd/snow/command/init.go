package command

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/cmd/snow/internal/database"
	"github.com/shardsnow/snow/sqlsnow"
)

const aboutInit = `Make a namespace: one space of ids, with a row for each worker number. If it
exists with the same constants, nothing changes; with others, it is an error.

Tables that share keys need the same namespace. Its layout never changes.`

func (a *app) init() *cobra.Command {
	flags := &databaseFlags{app: a, access: database.Existing}
	layout := layoutFlag{presets()[0]}
	var ns sqlsnow.Namespace
	c := &cobra.Command{
		Use: "init", Short: "Make a namespace", Long: aboutInit, Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := needNamespace(c, ns.Name); err != nil {
				return err
			}
			ns.Layout = layout.layout
			db, err := flags.openNumbers(c.Context())
			if err != nil {
				return err
			}
			defer db.Close()
			err = db.Init(c.Context(), ns)
			var field *snow.FieldError
			switch {
			case errors.As(err, &field):
				return &usageError{c.CommandPath(), err}
			case errors.Is(err, sqlsnow.ErrNamespaceMismatch):
				return &remediedError{err, `"snow workers" without --namespace lists what exists.`}
			case err != nil:
				return explain(err)
			}
			all, err := db.Namespaces(c.Context(), ns.Name)
			if err != nil {
				return explain(err)
			}
			return a.print(done{
				Dialect: db.Product(), Namespace: ns.Name,
				Done: fmt.Sprintf("it is there, with %d worker numbers and layout %s", all[0].Workers, all[0].Layout),
			})
		},
	}
	f := c.Flags()
	namespaceFlag(c, &ns.Name)
	f.Var(&layout, "layout", "a preset or a layout")
	f.IntVar(&ns.Workers, "workers", 0, "`N` worker numbers; needed for layouts with more than 1024; 0 for all that the layout has")
	f.DurationVar(&ns.Window, "window", 0, "how long ids can be made without the database; 0 for 10m")
	f.DurationVar(&ns.PinnedWindow, "pinned-window", 0, "the same for processes that ask for a certain number; 0 for 30s")
	f.DurationVar(&ns.LossWindow, "loss-window", 0, "how much confirmed history a failover of the database may lose")
	flags.add(c)
	return c
}
