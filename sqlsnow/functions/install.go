package functions

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/dberrors"
	"github.com/shardsnow/snow/internal/dbserver"
	"github.com/shardsnow/snow/internal/names"
	"github.com/shardsnow/snow/internal/protocol"
	"github.com/shardsnow/snow/internal/retry"
	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/sqlsnow"
)

// Config configures [Install] and [Renumber].
type Config struct {
	// Namespace is the space of ids, which [sqlsnow.Init] made. It is required.
	Namespace string

	// Datacenter goes into every id, as in [sqlsnow.LeaseConfig].
	Datacenter uint64

	// Move lets Install and Renumber take the number from another namespace than the one that the functions have a
	// number of: one with another name, or one with the same name that was made anew. Rows that have ids already
	// keep them. In a namespace that was made anew, Install takes the number that the functions have, if nobody got
	// it since; in one of another name, a new one.
	Move bool

	// Leases is the database that has the namespace, and LeasesDialect its dialect. Nil and zero mean the database
	// of the functions.
	Leases        *sql.DB
	LeasesDialect sqlsnow.Dialect
}

// Install creates the functions of [Reading] and snow_next_id() in the present schema of db, and takes a worker
// number for snow_next_id with [sqlsnow.Reserve]. It returns the number. Called again, it returns the same number,
// and replaces only functions that another version of this package made, or whose definer was dropped. Any number
// of processes may call it at the same time. Before it takes a number it tries whether it may create functions.
//
// In PostgreSQL and MariaDB no call fails while functions are replaced; in MariaDB calls wait until transactions
// that use the function have ended. MySQL can't replace a function: between DROP and CREATE calls fail, for some
// milliseconds.
//
// A number belongs to one schema of one database, which remembers it in the table snow_id_holders. If the namespace
// is restored from a backup, and has forgotten the number, Install takes the same one again with [sqlsnow.Reclaim].
// If the database is copied or restored, the copy has the same number: call [Renumber] there before it makes an id.
// docs/sql.md has both procedures. If the table is missing, Install takes a new number.
//
// The account needs the right to create tables and functions, and for Leases that to reserve. In MySQL and MariaDB
// with a binary log, the server needs log_bin_trust_function_creators = 1 during the call. The functions have the
// rights of this account: others need only the right to execute them.
//
// Install returns a [*snow.FieldError] for the field "dialect" or "layout" that can't make ids in SQL (see the
// package's comment); for the field "server" if several servers write at a time (Galera, group replication with
// several primaries) or the server logs statements and not rows; for the field "function" if the schema has a
// function of the same name that this package did not make, or made for another layout; and for the field
// "Namespace" if the functions have a number of another one and Move is not set. It returns a [*sqlsnow.HeldError]
// if somebody else got the number from a namespace that had forgotten it: then ids may exist twice, and only
// [Renumber] helps. It returns [sqlsnow.ErrReadOnly] on a replica, [sqlsnow.ErrNotDurable] if the database never
// syncs what it confirms, the errors of [sqlsnow.Reserve], and a [*sqlsnow.DatabaseError] for other errors of the
// database.
func Install(ctx context.Context, db *sql.DB, d sqlsnow.Dialect, cfg Config) (worker uint64, err error) {
	if worker, err = install(ctx, db, d, cfg, false); err != nil {
		return 0, fmt.Errorf("functions: install: %w", err)
	}
	return worker, nil
}

// Renumber does what [Install] does, with a new worker number. It is for a copy of a database, one that was
// restored from a backup, and one whose clock was wrong by hours when it made ids: call it before the first id is
// made there. Nobody uses the old number again. It returns the errors of Install. If it fails after it took the
// number, Install goes on with it.
func Renumber(ctx context.Context, db *sql.DB, d sqlsnow.Dialect, cfg Config) (worker uint64, err error) {
	if worker, err = install(ctx, db, d, cfg, true); err != nil {
		return 0, fmt.Errorf("functions: renumber: %w", err)
	}
	return worker, nil
}

// A server is how Install speaks with a kind of server.
type server struct {
	holders   string   // the statement that makes the table for whom the number is reserved
	schema    string   // a query: database, and schema if that is something else
	functions string   // a query: names and comments
	settings  string   // a query: names and values; empty if there is nothing to check
	begin     []string // the statements that let one process at a time install
	end       string
}

// An installer installs the functions in one schema.
type installer struct {
	db      *sql.DB
	engine  *dbserver.Engine
	server  server
	cfg     Config
	replace bool // the server is MariaDB, which replaces functions
	orphan  bool // the account that created snow_next_id was dropped
}

func install(ctx context.Context, db *sql.DB, d sqlsnow.Dialect, cfg Config, again bool) (uint64, error) {
	if err := names.Check("Namespace", cfg.Namespace); err != nil {
		return 0, err
	}
	if err := checkDialect(d); err != nil {
		return 0, err
	}
	e, err := dbserver.For(d)
	if err != nil {
		return 0, err
	}
	i := installer{db: db, engine: e, server: mysqlServer, cfg: cfg}
	if d == sqldialect.Postgres {
		i.server = postgresServer
	}
	if err := i.check(ctx); err != nil {
		return 0, err
	}
	i.cfg.Leases, i.cfg.LeasesDialect = cmp.Or(cfg.Leases, db), cmp.Or(cfg.LeasesDialect, d)
	// for its layout
	free, none := sqlsnow.Reservable(ctx, i.cfg.Leases, i.cfg.LeasesDialect, cfg.Namespace, "ids made in SQL")
	if none != nil && !errors.As(none, new(*sqlsnow.NoWorkerError)) {
		return 0, none
	}
	for tries := 0; ; tries++ { // until no other process begins to renumber meanwhile
		var own entry
		if err := i.alone(ctx, func(conn *sql.Conn) (err error) {
			own, err = i.prepare(ctx, conn, free, none, again)
			return err
		}); err != nil {
			return 0, err
		}
		r, err := i.reserve(ctx, own)
		if err != nil {
			return 0, err
		}
		m, err := makerOf(d, r.Layout, cfg.Datacenter, r.Worker)
		if err != nil {
			return 0, err
		}
		if err := i.alone(ctx, func(conn *sql.Conn) error {
			if err := i.record(ctx, conn, own, r); err != nil {
				return err
			}
			return i.create(ctx, conn, m)
		}); !errors.Is(err, errRenumbered) || tries == retry.MaxTries {
			return r.Worker, err
		}
		again = false
	}
}

// alone calls do with a connection, while no other process installs in the schema.
func (i installer) alone(ctx context.Context, do func(*sql.Conn) error) error {
	conn, err := i.db.Conn(ctx)
	if err != nil {
		return i.failed(err)
	}
	defer conn.Close()
	for _, statement := range i.server.begin {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			dbserver.Discard(conn)
			return i.failed(err)
		}
	}
	if err = do(conn); err == nil {
		_, err = conn.ExecContext(ctx, i.server.end)
	}
	if err != nil {
		dbserver.Discard(conn) // the server ends its transaction and its lock
	}
	return i.failed(err)
}

// check returns an error unless the server can make unique ids.
func (i *installer) check(ctx context.Context) error {
	info, err := i.engine.Info(ctx, i.db)
	if err != nil {
		return i.failed(err)
	}
	if err := info.Check(protocol.LongestLoss); err != nil {
		return err
	}
	if i.server.settings == "" {
		return nil
	}
	conn, err := i.db.Conn(ctx)
	if err != nil {
		return i.failed(err)
	}
	defer conn.Close()
	settings, err := pairs(ctx, conn, i.server.settings)
	if err != nil {
		return i.failed(err)
	}
	i.replace = strings.Contains(settings["version"], "MariaDB")
	for _, refused := range []struct {
		bad            bool
		setting, bound string
	}{
		{settings["wsrep_on"] == "ON", "wsrep_on", "several nodes of a Galera cluster may write"},
		{settings["group_replication_group_name"] != "" && settings["group_replication_single_primary_mode"] == "OFF", "group_replication_single_primary_mode", "several members of the group may write"},
		{settings["log_bin"] == "ON" && settings["binlog_format"] == "STATEMENT", "binlog_format", "replicas would make other ids: want ROW or MIXED"},
	} {
		if refused.bad {
			return &snow.FieldError{Field: "server", Value: refused.setting + " = " + settings[refused.setting], Bound: refused.bound}
		}
	}
	defer dbserver.Discard(conn)
	i.orphan, err = orphaned(ctx, conn)
	return i.failed(err)
}

// pairs returns what a query of two texts returns.
func pairs(ctx context.Context, conn *sql.Conn, query string) (map[string]string, error) {
	rows, err := conn.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := make(map[string]string)
	for rows.Next() {
		var name, value string
		if err := rows.Scan(&name, &value); err != nil {
			return nil, err
		}
		all[name] = value
	}
	return all, rows.Err()
}

// failed returns the error that users see for an error of the database.
func (i installer) failed(err error) error {
	if err == nil || errors.As(err, new(*snow.FieldError)) || errors.As(err, new(*sqlsnow.NoWorkerError)) || errors.Is(err, errRenumbered) || dberrors.IsVerdict(err) {
		return err
	}
	code := sqldialect.Code(err)
	if i.engine.Dialect == sqldialect.MySQL && (code == "1418" || code == "1419") {
		err = fmt.Errorf("the server needs log_bin_trust_function_creators = 1 while functions are created: %w", err)
	}
	return i.engine.Explain(&sqlsnow.DatabaseError{
		Op: "install functions", Code: code, Err: err,
		InTransaction: i.engine.IsInTransaction(err), BadReply: errors.Is(err, dberrors.ErrBadReply),
	})
}
