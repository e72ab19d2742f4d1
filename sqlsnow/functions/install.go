package functions

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/internal/dberrors"
	"github.com/shardsnow/snow/sqlsnow/internal/dbserver"
)

// Config configures [Install] and [Renumber].
type Config struct {
	// Namespace is the space of ids, which [sqlsnow.Init] made. It is required.
	Namespace string

	// Datacenter goes into every id, as in [sqlsnow.LeaseConfig].
	Datacenter uint64

	// Leases is the database that has the namespace, and LeasesDialect its dialect. Nil and zero mean the database of the functions.
	Leases        *sql.DB
	LeasesDialect sqlsnow.Dialect
}

// Install creates the functions of [Reading] and snow_next_id() in the present schema of db, and takes a worker number for
// snow_next_id with [sqlsnow.Reserve]. It returns the number. Called again, it returns the same number, and replaces only functions
// that another version of this package made. Any number of processes may call it at the same time. In MySQL and MariaDB, statements
// fail that use a function while it is being replaced.
//
// A number belongs to one schema of one database. If the database is copied or restored, the copy has the same number: call
// [Renumber] there before it makes an id. If the namespace is restored or made anew, call [sqlsnow.Fence], and then Install in each
// database that makes ids, before anything is leased.
//
// The account needs the right to create tables and functions, and for Leases that to reserve. In MySQL and MariaDB with a binary
// log, the server needs log_bin_trust_function_creators = 1 during the call. The functions have the rights of this account:
// others need only the right to execute them.
//
// Install returns a [*snow.FieldError] for the field "dialect" or "layout" that can't make ids in SQL (see the package's comment); for
// the field "server" if several servers write at a time (Galera, group replication with several primaries) or the server logs
// statements and not rows; and for the field "function" if the schema has a function of the same name that this package did not make,
// or made for another layout. It returns [sqlsnow.ErrReadOnly] on a replica, [sqlsnow.ErrNotDurable] if the database never syncs what it
// confirms, the errors of [sqlsnow.Reserve], and a [*sqlsnow.DatabaseError] for other errors of the database.
func Install(ctx context.Context, db *sql.DB, d sqlsnow.Dialect, cfg Config) (worker uint64, err error) {
	if worker, err = install(ctx, db, d, cfg, false); err != nil {
		return 0, fmt.Errorf("functions: install: %w", err)
	}
	return worker, nil
}

// Renumber does what [Install] does, with a new worker number. It is for a copy of a database, one that was restored from a
// backup, and one whose clock was wrong by hours when it made ids: call it before the first id is made there. Nobody uses the old
// number again. Its errors are those of Install.
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
	db     *sql.DB
	engine *dbserver.Engine
	server server
	cfg    Config
}

func install(ctx context.Context, db *sql.DB, d sqlsnow.Dialect, cfg Config, again bool) (uint64, error) {
	if err := dbserver.CheckName("Namespace", cfg.Namespace); err != nil {
		return 0, err
	}
	if err := checkDialect(d); err != nil {
		return 0, err
	}
	e, err := dbserver.For(d)
	if err != nil {
		return 0, err
	}
	i := installer{db, e, mysqlServer, cfg}
	if d == sqldialect.Postgres {
		i.server = postgresServer
	}
	if err := i.check(ctx); err != nil {
		return 0, err
	}
	leases, dialect := db, cmp.Or(cfg.LeasesDialect, d)
	if cfg.Leases != nil {
		leases = cfg.Leases
	}
	free, err := sqlsnow.Reservable(ctx, leases, dialect, cfg.Namespace, "ids made in SQL") // for its layout
	if none := new(sqlsnow.NoWorkerError); err != nil && !errors.As(err, &none) {
		return 0, err
	}
	if err == nil {
		if _, err := makerOf(d, free.Layout, cfg.Datacenter, free.Worker); err != nil {
			return 0, err
		}
	}
	var holder string
	if err := i.alone(ctx, func(conn *sql.Conn) (err error) {
		holder, err = i.holder(ctx, conn, again)
		return err
	}); err != nil {
		return 0, err
	}
	r, err := sqlsnow.Reserve(ctx, leases, dialect, cfg.Namespace, holder)
	if err != nil {
		return 0, err
	}
	m, err := makerOf(d, r.Layout, cfg.Datacenter, r.Worker)
	if err != nil {
		return 0, err
	}
	return r.Worker, i.alone(ctx, func(conn *sql.Conn) error { return i.create(ctx, conn, m) })
}

// holder returns for whom the number is reserved. The name is random, so no database takes the number of another one. It is stored
// before the number is taken, so a call that goes on after a crash takes the same one.
func (i installer) holder(ctx context.Context, conn *sql.Conn, again bool) (holder string, err error) {
	if _, err := conn.ExecContext(ctx, i.server.holders); err != nil {
		return "", err
	}
	const newest = "SELECT holder FROM snow_id_holders ORDER BY entry DESC LIMIT 1"
	if err := conn.QueryRowContext(ctx, newest).Scan(&holder); !again && !errors.Is(err, sql.ErrNoRows) {
		return holder, err
	}
	holder = "ids made in SQL, " + dbserver.NewUUID()
	_, err = conn.ExecContext(ctx, "INSERT INTO snow_id_holders (holder) VALUES ("+i.engine.Dialect.Placeholder(1)+")", holder)
	return holder, err
}

// create creates the functions that are missing or of another version.
func (i installer) create(ctx context.Context, conn *sql.Conn, m maker) error {
	var database, schema string
	if err := conn.QueryRowContext(ctx, i.server.schema).Scan(&database, &schema); err != nil {
		return err
	}
	found, err := pairs(ctx, conn, i.server.functions)
	if err != nil {
		return err
	}
	counters, next := m.next(schema)
	statements := counters
	for _, f := range append(m.readers(), next) {
		comment, exists := found[f.name]
		switch {
		case exists && comment == f.comment:
			continue
		case exists && !strings.HasPrefix(comment, "snow "):
			return &snow.FieldError{Field: "function", Value: f.name, Bound: "it exists, and is not of this package"}
		case exists && layoutIn(comment) != m.layout.String():
			return &snow.FieldError{Field: "function", Value: f.name, Bound: fmt.Sprintf("it exists for another layout, %q", comment)}
		}
		statements = append(statements, f.statements...)
	}
	for _, statement := range statements {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// layoutIn returns the layout in a function's comment.
func layoutIn(comment string) string {
	_, rest, _ := strings.Cut(comment, ": ")
	layout, _, _ := strings.Cut(rest, ",")
	return layout
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
func (i installer) check(ctx context.Context) error {
	info, err := i.engine.Info(ctx, i.db)
	if err != nil {
		return i.failed(err)
	}
	if err := info.Check(dbserver.LongestLoss); err != nil {
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
	return nil
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
	if err == nil || errors.As(err, new(*snow.FieldError)) || dberrors.IsVerdict(err) {
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
