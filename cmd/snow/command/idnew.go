package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/cmd/snow/internal/database"
	"github.com/shardsnow/snow/sqlsnow"
)

const aboutNew = `Make ids.

With --namespace and --dsn, a worker number is leased for the time of the command.
With --worker, the number is yours: nobody else, and no other run of this command
at the same time, may use it with the same layout.`

// mostNew is how many ids one command makes.
const mostNew = 1_000_000

type newIDs struct {
	app        *app
	n          int
	format     string
	layout     layoutFlag
	datacenter uint64
	worker     uint64
	namespace  string
	db         *databaseFlags
}

func (a *app) idNew() *cobra.Command {
	n := &newIDs{app: a, db: &databaseFlags{app: a, access: database.Existing}, layout: layoutFlag{presets()[0]}}
	c := &cobra.Command{
		Use: "new", Short: "Make ids", Long: aboutNew, Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return n.run(c) },
	}
	f := c.Flags()
	f.IntVar(&n.n, "count", 1, "`N` ids, at most a million")
	f.StringVar(&n.format, "format", "decimal", "`FORM`: decimal, base32 or hex")
	f.Var(&n.layout, "layout", "a preset or a layout, for --worker")
	f.Uint64Var(&n.worker, "worker", 0, "`N`, a worker number of your own")
	f.Uint64Var(&n.datacenter, "datacenter", 0, "`N` of the ids")
	f.StringVar(&n.namespace, "namespace", "", "`NAME` of a namespace that leases the number; without it and --worker, "+namespaceVariable)
	n.db.add(c)
	return c
}

func (n *newIDs) run(c *cobra.Command) error {
	own, leased := c.Flags().Changed("worker"), n.namespace != ""
	wrong := ""
	switch {
	case own == leased:
		wrong = "want either --namespace, to lease a worker number, or --worker with a number of your own"
	case leased && c.Flags().Changed("layout"):
		wrong = "--layout is for --worker; a namespace has its own"
	case n.n < 1 || n.n > mostNew:
		wrong = fmt.Sprintf("--count: want 1 to %d", mostNew)
	case n.format != "decimal" && n.format != "base32" && n.format != "hex":
		wrong = "--format: want decimal, base32 or hex"
	}
	if wrong != "" {
		return &usageError{c.CommandPath(), errors.New(wrong)}
	}
	ids := madeIDs{ids: make([]snow.ID, n.n), format: n.format}
	fill := n.fillLeased
	if own {
		fill = n.fillOwn
	}
	if err := fill(c.Context(), ids.ids); err != nil {
		return fmt.Errorf("id new: %w", err)
	}
	return n.app.print(ids)
}

func (n *newIDs) fillOwn(ctx context.Context, ids []snow.ID) error {
	w, err := snow.FixedParts(n.layout.layout, snow.Parts{Datacenter: n.datacenter, Worker: n.worker})
	if err != nil {
		return err
	}
	return fill(ctx, w, ids)
}

func (n *newIDs) fillLeased(ctx context.Context, ids []snow.ID) (err error) {
	db, err := n.db.openNumbers(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.Namespaces(ctx, n.namespace); err != nil { // Acquire would wait for a cluster without a majority
		return explain(err)
	}
	lease, err := db.Acquire(ctx, sqlsnow.LeaseConfig{
		Namespace: n.namespace, Datacenter: n.datacenter, Logger: quiet(),
	})
	if err != nil {
		return explain(err)
	}
	err = fill(ctx, lease, ids)
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), n.db.timeout)
	defer cancel()
	return errors.Join(err, lease.Close(closing))
}

func fill(ctx context.Context, w snow.Worker, ids []snow.ID) error {
	g, err := snow.NewGenerator(w, snow.Config{})
	if err != nil {
		return err
	}
	return g.Fill(ctx, ids)
}

// madeIDs is the result of id new.
type madeIDs struct {
	ids    []snow.ID
	format string
}

func (m madeIDs) text(id snow.ID) string {
	switch m.format {
	case "base32":
		return id.Base32()
	case "hex":
		return "0x" + strconv.FormatInt(int64(id), 16)
	}
	return id.String()
}

// MarshalJSON returns an array of texts.
func (m madeIDs) MarshalJSON() ([]byte, error) {
	b := []byte{'['}
	for i, id := range m.ids {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendQuote(b, m.text(id))
	}
	return append(b, ']'), nil
}

func (m madeIDs) writeText(w io.Writer) {
	for _, id := range m.ids {
		fmt.Fprintln(w, m.text(id))
	}
}
