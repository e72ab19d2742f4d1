package command

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/shardsnow/snow/cmd/snow/internal/database"
)

const aboutServe = `Give ids to programs in any language, over HTTP:

  curl -X POST http://127.0.0.1:8017/v1/ids?count=3
  curl http://127.0.0.1:8017/v1/ids/175928847299117063
  curl http://127.0.0.1:8017/openapi.json
  snow serve --page, and a browser at http://127.0.0.1:8017/page/

The ids are of a worker number that is leased from a namespace, or dense numbers of
a tag of segments, from one database or, with --more-dsn, from several: if one fails, the others go on. Any number of instances may run beside each other.

It listens on the loopback interface, unless told otherwise; others need a token
then. A token is a line of a file or of an environment variable, of 16 or more characters. Connections are encrypted with
--tls-cert and --tls-key, or by a proxy in front.

SIGTERM ends it: /readyz answers 503 for the time of --drain, requests under way
are answered, and the worker number is given back. A second one skips the waiting, and a third one ends it at once.
SIGHUP reads tokens and certificates again. /readyz also answers 503 when ids will end within 30 s, or within a tenth of
the window of the lease if that is less.`

// serveFlags are the flags of snow serve.
type serveFlags struct {
	app        *app
	listen     string
	namespace  string
	tag        string
	more       []string
	datacenter uint64
	worker     uint64
	oneLane    bool
	token      string
	noToken    bool
	maxIDs     int
	rate       float64
	wait       time.Duration
	drain      time.Duration
	page       bool
	hosts      []string
	metrics    bool
	tlsCert    string
	tlsKey     string
	accessLog  bool
	db         *databaseFlags

	draining atomic.Bool
}

func (a *app) serve() *cobra.Command {
	f := &serveFlags{app: a, db: &databaseFlags{app: a, access: database.Existing}}
	c := &cobra.Command{
		Use: "serve", Short: "Give ids over HTTP", Long: aboutServe, Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	flags := c.Flags()
	flags.StringVar(&f.listen, "listen", "127.0.0.1:8017", "`HOST:PORT`, with port 0 for a free one; unix:PATH for a Unix socket; systemd for the socket of a unit")
	flags.StringVar(&f.namespace, "namespace", "", "`NAME` of the namespace that leases the worker number")
	flags.StringVar(&f.tag, "segments", "", "`TAG` of dense numbers, instead of --namespace")
	flags.Uint64Var(&f.datacenter, "datacenter", 0, "`N` of the ids, for --namespace")
	flags.Uint64Var(&f.worker, "worker", 0, "this worker number and no other, for --namespace")
	flags.BoolVar(&f.oneLane, "one-lane", false, "give ids that ascend also where the layout has lanes; fewer a second, for --namespace")
	flags.StringVar(&f.token, "token", "", "env:NAME or @`FILE`, with a bearer token in each line, of which a request needs one")
	flags.BoolVar(&f.noToken, "no-token", false, "let everybody who reaches the address ask for ids")
	flags.IntVar(&f.maxIDs, "max-ids", 10_000, "`N` ids in a request at most")
	flags.Float64Var(&f.rate, "rate", 0, "`N` ids a second at most, for all clients together; 0 for no bound")
	flags.DurationVar(&f.wait, "wait", 5*time.Second, "how long a request may wait for ids")
	flags.DurationVar(&f.drain, "drain", 0, "how long to answer requests after a signal, while /readyz says no")
	flags.BoolVar(&f.metrics, "metrics", false, "serve metrics for Prometheus at /metrics, of the ids, the requests and the process; needs a token, as ids do")
	flags.StringVar(&f.tlsCert, "tls-cert", "", "`FILE` with the certificate chain, as PEM; connections are encrypted then")
	flags.StringVar(&f.tlsKey, "tls-key", "", "`FILE` with the key of the certificate, as PEM")
	flags.BoolVar(&f.accessLog, "access-log", false, "log each request")
	flags.BoolVar(&f.page, "page", false, "show the worker numbers and the counters of the database at /page/; a token is the password")
	flags.StringArrayVar(&f.hosts, "host", nil, "`NAME` that requests may use besides localhost and addresses, such as that of a proxy; once for each; without it any name may be used, except on loopback")
	flags.StringArrayVar(&f.more, "more-dsn", nil, "`DSN` of another database of --segments, once for each; all of them, in the same order everywhere when the tag is new")
	f.db.add(c)
	return c
}

// check returns the tokens, or what is wrong with the flags.
func (f *serveFlags) check(c *cobra.Command) ([]string, error) {
	switch {
	case (f.namespace == "") == (f.tag == ""):
		return nil, errors.New("want either --namespace or --segments")
	case f.tag != "" && (c.Flags().Changed("worker") || c.Flags().Changed("datacenter") || f.oneLane):
		return nil, errors.New("--worker, --datacenter and --one-lane are for --namespace")
	case f.tag == "" && f.more != nil:
		return nil, errors.New("--more-dsn is for --segments")
	case f.token != "" && f.noToken:
		return nil, errors.New("want --token or --no-token, not both")
	case f.drain < 0:
		return nil, errors.New("--drain: want 0s or more")
	case f.wait <= 0 || f.maxIDs <= 0:
		return nil, errors.New("--wait and --max-ids: want more than 0")
	case (f.tlsCert == "") != (f.tlsKey == ""):
		return nil, errors.New("--tls-cert and --tls-key: want both or none")
	case f.db.timeout <= 0:
		return nil, errors.New("--timeout: want more than 0s")
	}
	if f.token != "" {
		return database.Secrets("--token", f.token)
	}
	if f.listen == "systemd" || strings.HasPrefix(f.listen, "unix:") {
		return nil, nil
	}
	address, err := net.ResolveTCPAddr("tcp", f.listen)
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	return nil, f.checkOpen(address)
}

// checkOpen returns an error if other machines reach an address without a token, and --no-token does not allow it.
func (f *serveFlags) checkOpen(address net.Addr) error {
	if f.token != "" || f.noToken || isPrivate(address) {
		return nil
	}
	return errors.New("--listen: other machines reach this address: want --token, or --no-token")
}
