package command

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/cmd/snow/internal/layoutfit"
)

const aboutFit = `Find the layout with the fewest bits for the years, workers and ids a second that
you need. If there is none, the answer says how far each of them must give way,
and the exit status is 3.

Bits to spare belong to the part that is most likely to grow. A layout never
changes once ids are made with it.`

func (a *app) layoutFit() *cobra.Command {
	w := layoutfit.Wishes{}
	var epoch string
	c := &cobra.Command{
		Use: "fit", Short: "Find a layout for years, workers and ids a second", Long: aboutFit, Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var err error
			if w.Epoch, err = parseTime(epoch, a.now()); err != nil {
				return &usageError{c.CommandPath(), fmt.Errorf("--epoch %w", err)}
			}
			l, err := layoutfit.Fit(w, a.now())
			var field *snow.FieldError
			switch {
			case errors.As(err, &field):
				return &usageError{c.CommandPath(), fmt.Errorf("--%w", field)}
			case err != nil:
				return &refusal{fmt.Errorf("layout fit: %w", err)}
			}
			named, err := layoutOf(l.String()) // a preset, if it is one
			if err != nil {
				return fmt.Errorf("layout fit: %w", err)
			}
			return a.print(shownLayouts{describe(named, a.now())})
		},
	}
	f := c.Flags()
	f.Float64Var(&w.Years, "years", 50, "how many `YEARS` from now on")
	f.Uint64Var(&w.Workers, "workers", 1024, "`N` worker numbers in each datacenter")
	f.Float64Var(&w.PerSecond, "rate", 100_000, "`N` ids a second of one worker, in the long run")
	f.Uint64Var(&w.Datacenters, "datacenters", 1, "`N` datacenters")
	f.Uint64Var(&w.Shards, "shards", 1, "`N` logical shards")
	f.DurationVar(&w.Tick, "tick", time.Millisecond, "how fine the time of an id is")
	f.Uint8Var(&w.Bits, "bits", 63, "`N` bits of an id; 53 for numbers of JavaScript")
	f.StringVar(&epoch, "epoch", "2024-01-01", "the `TIME` of tick 0, not in the future")
	return c
}
