package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/shardsnow/snow/cmd/snow/internal/database"
	"github.com/shardsnow/snow/cmd/snow/internal/service"
	"github.com/shardsnow/snow/cmd/snow/internal/store"
)

const aboutServe = `Give ids to programs in any language, over HTTP:

  curl -X POST http://127.0.0.1:8017/v1/ids?count=3
  curl http://127.0.0.1:8017/v1/ids/175928847299117063
  curl http://127.0.0.1:8017/openapi.json
  snow serve --page, and a browser at http://127.0.0.1:8017/page/

The ids are of a worker number that is leased from a namespace, or dense numbers of
a tag of segments, from one database or, with --more-dsn, from several: if one fails, the others go on. Any number of instances may run beside each other.
With --route one service has several sources, each below a path of its own.

It listens on the loopback interface, unless told otherwise; others need a token
then. A token is a line of a file or of an environment variable, of 16 or more characters. Connections are encrypted with
--tls-cert and --tls-key, or by a proxy in front.

SIGTERM ends it: /readyz answers 503 for the time of --drain, requests under way
are answered, and the worker number is given back. A second one skips the waiting, and a third one ends it at once.
SIGHUP reads tokens and certificates again. /readyz also answers 503 when ids will end within 30 s, or within a tenth of
the window of the lease if that is less.`

// serveFlags are the flags of snow serve.
type serveFlags struct {
	service.Config
	more   []string
	worker uint64
	db     *databaseFlags
}

func (a *app) serve() *cobra.Command {
	f := &serveFlags{db: &databaseFlags{app: a, access: database.Existing}}
	c := &cobra.Command{
		Use: "serve", Short: "Give ids over HTTP", Long: aboutServe, Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.runService(c, f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.Listen, "listen", "127.0.0.1:8017", "`HOST:PORT`, with port 0 for a free one; unix:PATH for a Unix socket; systemd for the socket of a unit")
	flags.StringVar(&f.Namespace, "namespace", "", "`NAME` of the namespace that leases the worker number")
	flags.StringVar(&f.Tag, "segments", "", "`TAG` of dense numbers, instead of --namespace")
	flags.Uint64Var(&f.Datacenter, "datacenter", 0, "`N` of the ids, for --namespace")
	flags.Uint64Var(&f.worker, "worker", 0, "this worker number and no other, for --namespace")
	flags.BoolVar(&f.OneLane, "one-lane", false, "give ids that ascend also where the layout has lanes; fewer a second, for --namespace")
	flags.StringVar(&f.Token, "token", "", "env:NAME or @`FILE`, with a bearer token in each line; a request needs one of them")
	flags.BoolVar(&f.NoToken, "no-token", false, "let everybody who reaches the address ask for ids")
	flags.IntVar(&f.MaxIDs, "max-ids", 10_000, "`N` ids in a request at most")
	flags.Float64Var(&f.Rate, "rate", 0, "`N` ids a second at most, for all clients together; 0 for no bound")
	flags.DurationVar(&f.Wait, "wait", 5*time.Second, "how long a request may wait for ids")
	flags.DurationVar(&f.Drain, "drain", 0, "how long to answer requests after a signal, while /readyz says no")
	flags.BoolVar(&f.Metrics, "metrics", false, "serve metrics for Prometheus at /metrics, of the ids, the requests and the process; needs a token, as ids do")
	flags.StringVar(&f.TLSCert, "tls-cert", "", "`FILE` with the certificate chain, as PEM; connections are encrypted then")
	flags.StringVar(&f.TLSKey, "tls-key", "", "`FILE` with the key of the certificate, as PEM")
	flags.BoolVar(&f.AccessLog, "access-log", false, "log each request")
	flags.BoolVar(&f.Page, "page", false, "show the worker numbers and the counters of the database at /page/; a token is the password")
	flags.StringArrayVar(&f.Hosts, "host", nil, "`NAME` that requests may use besides localhost and addresses, such as a proxy's; once for each; without it any name may be used, except on loopback")
	flags.StringArrayVar(&f.Routes, "route", nil, "`NAME=namespace:NAMESPACE` or NAME=segments:TAG, another source of ids below /NAME/; once for each. With ,token=@FILE ,max-ids=N and ,rate=N it has its own")
	flags.StringArrayVar(&f.more, "more-dsn", nil, "`DSN` of another database of --segments, once for each; all of them, in the same order everywhere when the tag is new")
	f.db.add(c)
	return c
}

// runService serves with the flags, and says where.
func (a *app) runService(c *cobra.Command, f *serveFlags) error {
	if c.Flags().Changed("worker") {
		f.Worker = &f.worker
	}
	if f.Tag == "" && f.more != nil {
		return &usageError{c.CommandPath(), errors.New("--more-dsn is for --segments")}
	}
	f.Timeout, f.Open = f.db.timeout, f.open
	f.Logger = slog.New(slog.NewTextHandler(a.Err, nil))
	if a.json {
		f.Logger = slog.New(slog.NewJSONHandler(a.Err, nil))
	}
	f.Listening = func(url string) error { return a.printLine(listening{URL: url, page: f.Page}) }
	err := service.Run(c.Context(), f.Config)
	if usage := new(service.UsageError); errors.As(err, &usage) {
		return &usageError{c.CommandPath(), err}
	}
	return explain(err)
}

// open opens the database, or the databases of --segments. Some of them may not answer now: segments go on with the
// others.
func (f *serveFlags) open(ctx context.Context) (all []service.Database, err error) {
	var dbs []*store.Database
	if len(f.more) == 0 {
		numbers, err := f.db.openNumbers(ctx)
		if err != nil {
			return nil, err
		}
		db, ok := numbers.(*store.Database)
		if !ok {
			return []service.Database{{Numbers: numbers, Name: numbers.Product(), Host: numbers.Host()}}, nil
		}
		dbs = []*store.Database{db}
	} else if dbs, err = f.db.connect(f.more); err != nil {
		return nil, err
	}
	for _, db := range dbs {
		all = append(all, service.Database{DB: db.DB, Dialect: db.Dialect, Numbers: db})
	}
	return all, nil
}

// listening is what snow serve prints when it answers requests.
type listening struct {
	URL  string `json:"url"`
	page bool
}

func (l listening) writeText(w io.Writer) {
	fmt.Fprintf(w, "listening on %s\n", l.URL)
	if l.page {
		fmt.Fprintf(w, "the page is %s/page/\n", l.URL)
	}
}
