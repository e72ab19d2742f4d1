package dbserver

import (
	"context"
	"database/sql"
	"strconv"
	"strings"
	"time"

	"github.com/shardsnow/snow/internal/sqldialect"
)

// An Engine is what one kind of database server has of its own.
type Engine struct {
	Dialect sqldialect.Dialect
	Now     string // SQL: the database's clock in microseconds since 1970 UTC, the same throughout a statement

	div      string
	greatest string
	least    string
	bound    string // the condition that binds a write to its session's mark; ends in AND unless it is empty
	guard    string // the condition under which a write is durable once it is confirmed; ends in AND unless it is empty
	from     string // the FROM clause that the guard needs
	durable  string // a further condition for numbers of segments; ends in AND unless it is empty

	// insertID returns SQL with the value 1, which makes an UPDATE return an expression as its insert id. It is nil
	// where UPDATE has RETURNING.
	insertID func(expression string) string

	info     string // the first columns of the query, Now first
	readInfo func(row []sql.NullString) Info
	current  string // SQL: the schema of the session; {anchor} is the table that it is looked for by
	// SQL: 1 or true if the session has another schema than when it was opened; NULL if only hasMoved can tell
	changed  string
	stored   string // SQL: how the table {table} of {schema} is stored: NULL if there is none, empty if it is durable
	placed   string // a FROM clause that names {schema} placed.name, if it is too long to be repeated
	hasMoved func(ctx context.Context, conn Queryer) (bool, error)

	schema string // that was learnt; see In
	// temporary tables of a session are looked for one by one, because the server is MariaDB; learnt like schema
	oneByOne bool

	tables []string // that Info.Check is about; the last one is the anchor
	listed []string // tables that Info.Tables may have

	checkSession func(ctx context.Context, s *Session) error // see Session
	// waits until a write is durable; nil if its confirmation says so
	waitDurable func(ctx context.Context, s *Session) error
	// see Session.CheckTransaction; nil if checkSession is enough
	checkTransaction func(ctx context.Context, s *Session) error
}

// A Queryer is a *sql.DB, a *sql.Conn or a *sql.Tx.
type Queryer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// A Use is the purpose of a session.
type Use int

// The uses.
const (
	ForMigration  Use = iota // making tables
	ForReading               // rows as they are committed now
	ForLease                 // rows of worker numbers
	ForLossyLease            // the same, of a namespace with a LossWindow
	// rows of segments, which have no LossWindow: the server's settings must be durable as well
	ForSegments
)

// A Session is a connection that was checked, and on which a write commits by itself.
//
// A connection of a pool may be in a transaction that somebody left open, and a write there may be rolled back
// after it was confirmed. So each connection is checked before a write, nobody else uses it in between, and the
// write is bound by mark to the session that was checked:
//
//   - MySQL: the check sets the variable @snow to a random number, and fails where the session or the server is not
//     fit. The write finds its row only where @snow is this number. A binary log of statements has the variable's value
//     in front of the write, so a replica, or anyone who replays the log, changes the same rows, whatever its own
//     settings are. The insert id of the write shows whether the server was writable during the write itself: it is 0
//     if the server has become read-only.
//   - PostgreSQL: the check reads now(), which is the start of the transaction. A write in the same transaction sees
//     the same now().
//   - SQLite: the check begins a transaction and ends it, which fails within another one.
//
// The statements name the schema of their tables, so it does not matter if somebody changed the session's schema. But
// on MySQL a temporary table hides a table of the same name even then. The check fails if there is one: MySQL can't
// open a temporary table twice in a statement. On MariaDB the statement that sets the mark looks at each table. As
// long as it is not known that the server is MariaDB, it counts the temporary tables in place of that.
type Session struct {
	*sql.Conn
	engine *Engine
	use    Use
	mark   int64

	standbys string // of PostgreSQL: synchronous_standby_names
}

const (
	maxLeft  = 8  // connections in a transaction that Write skips
	maxStale = 10 // closed connections that Write skips
)

// In returns an engine for the server that info is about. Its statements name the schema of their tables, so that no
// setting of a session sends them elsewhere.
func (e *Engine) In(info Info) *Engine {
	placed := *e
	placed.schema, placed.oneByOne = info.Schema, info.oneByOne
	return &placed
}

// Schema returns the schema that the engine's statements name, or "".
func (e *Engine) Schema() string { return e.schema }

// Info asks a server about itself. A connection to one that is read-only is closed: see release. As long as the
// engine has no schema, Info skips connections whose schema was changed, as Write skips connections in a
// transaction.
func (e *Engine) Info(ctx context.Context, db *sql.DB) (info Info, err error) {
	err = e.on(ctx, db, func(conn *sql.Conn) (begun bool, err error) {
		if info, err = e.Ask(ctx, conn); err != nil {
			return false, err
		}
		if e.schema == "" {
			err = e.checkSchema(ctx, conn, &info)
		}
		if err == nil && info.stopped {
			err = errStopped
		}
		if err == nil && info.ReadOnly && e.Dialect != sqldialect.SQLite {
			Discard(conn)
		}
		return false, err
	})
	return info, err
}

// Ask is Info on one connection, whatever its schema is.
func (e *Engine) Ask(ctx context.Context, q Queryer) (Info, error) {
	asked := time.Now()
	rows, err := q.QueryContext(ctx, e.question())
	if err != nil {
		return Info{}, err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return Info{}, err
	}
	values := make([]sql.NullString, len(names))
	targets := make([]any, len(names))
	for i := range values {
		targets[i] = &values[i]
	}
	if !rows.Next() {
		return Info{}, rows.Err()
	}
	if err := rows.Scan(targets...); err != nil {
		return Info{}, err
	}
	info := e.readInfo(values)
	info.Asked, info.Answered = asked, time.Now()
	if info.Now, err = strconv.ParseInt(values[0].String, 10, 64); err != nil {
		return Info{}, err
	}
	e.readTables(&info, values[len(values)-len(e.listed)-2:])
	return info, rows.Close()
}

// Compile replaces the names in braces and the :names of a text, and puts the engine's schema before the names of
// tables:
//
//	{now}            the database's clock in microseconds since 1970 UTC, the same throughout a statement
//	{div}            the operator of integer division
//	{greatest}       the function GREATEST; likewise {least}
//	{bound} {guard}  conditions of an UPDATE: it commits by itself, and is durable once it is confirmed
//	{from}           the FROM clause that the guard needs
//	{durable}        the condition that the server syncs what it confirms, where {bound} and {guard} don't check that
//	{one x}          1; on a server without RETURNING, the UPDATE returns x as its insert id
//	{returning x}    RETURNING x, or nothing on a server that doesn't have it; now stands for {now}
func (e *Engine) Compile(text string) Statement {
	text = e.returned(text)
	text = strings.NewReplacer(
		"{durable}", e.durable,
		"{bound}", e.bound,
		"{guard}", e.guard,
		"{from}", e.from,
		"{now}", e.Now,
		"{div}", e.div,
		"{greatest}", e.greatest,
		"{least}", e.least,
	).Replace(text)
	s := parse(text, e.Dialect.Placeholder)
	s.plain = e.Dialect == sqldialect.MySQL
	s.Text = e.Qualify(s.Text)
	return s
}

// returned replaces the expressions that a statement returns, such as {returning now}.
func (e *Engine) returned(text string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "{")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		name, after, _ := strings.Cut(rest, "}")
		kind, expression, ok := strings.Cut(name, " ")
		if !ok || kind != "one" && kind != "returning" {
			b.WriteByte('{')
			text = rest
			continue
		}
		if expression == "now" {
			expression = e.Now
		}
		switch {
		case kind == "one" && e.insertID != nil:
			b.WriteString(e.insertID(expression))
		case kind == "one":
			b.WriteByte('1')
		case e.insertID == nil:
			b.WriteString("RETURNING " + expression)
		}
		text = after
	}
}
