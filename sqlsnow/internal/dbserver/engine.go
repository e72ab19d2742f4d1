package dbserver

import (
	"context"
	"database/sql"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/shardsnow/snow/internal/sqldialect"
)

// An Engine is what one kind of database server has of its own.
type Engine struct {
	Dialect sqldialect.Dialect
	Now     string // the database's clock in microseconds since 1970 UTC; it stands still during a statement

	div      string
	greatest string
	least    string
	bound    string // the condition that binds a write to the look at its session; ends in AND unless it is empty
	guard    string // the condition under which a write is durable once it is confirmed; ends in AND unless it is empty
	from     string // what the guard reads from
	durable  string // a further condition for numbers of segments; ends in AND unless it is empty

	// insertID writes 1 so that an UPDATE gives an expression to its caller as the insert id. It is nil where UPDATE has RETURNING.
	insertID func(expression string) string

	info     string // the query, whose first column is Now
	readInfo func(row []sql.NullString) Info

	look             func(ctx context.Context, s *Session) error // at a session, see there
	waitDurable      func(ctx context.Context, s *Session) error // waits until a write is durable; nil if its confirmation says so
	checkTransaction func(ctx context.Context, s *Session) error // see Session.CheckTransaction; nil if look is enough
}

// A Queryer is what a *sql.DB, *sql.Conn and *sql.Tx have in common.
type Queryer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// A Use is what a session is needed for.
type Use int

// The uses.
const (
	ForMigration  Use = iota // making tables
	ForLease                 // rows of worker numbers
	ForLossyLease            // the same, of a namespace with a LossWindow
	ForSegments              // rows of segments, which have no LossWindow: the server's settings count as well
)

// LongestLoss is the longest LossWindow of a namespace.
const LongestLoss = 10 * time.Minute

// A Session is a connection that was looked at, on which a write commits by itself.
//
// A connection of a pool may be in a transaction that somebody left open, and what is written there may be rolled back after
// it was confirmed. So each write comes after a look at its connection, which nobody else uses in between, and is bound by
// mark to what the look has found:
//
//   - MySQL: the look sets the variable @snow to a random number, and fails where the session or the server is not fit. The
//     write finds its row only where @snow is this number. A binary log of statements has the variable's value in front of
//     the write, so replicas, and everybody who replays the log, do the same, whatever their own settings are. The insert id
//     of the write says what the server was like during the write itself: it is 0 on a server that has become read-only.
//   - PostgreSQL: the look reads now(), which is the start of the transaction. A write in the same transaction has the same.
//   - SQLite: the look begins a transaction and ends it, which fails within another one.
type Session struct {
	*sql.Conn
	engine *Engine
	use    Use
	mark   int64

	standbys string // of PostgreSQL: synchronous_standby_names
}

const (
	maxLeft  = 8  // connections in a transaction that are passed over
	maxStale = 10 // connections that turn out to be closed
)

// Info asks a server about itself. A connection to one that is read-only is closed: see release.
func (e *Engine) Info(ctx context.Context, db *sql.DB) (Info, error) {
	conn, err := connect(ctx, db)
	if err != nil {
		return Info{}, err
	}
	info, err := e.ask(ctx, conn)
	e.release(conn, err == nil && info.ReadOnly)
	return info, err
}

func (e *Engine) ask(ctx context.Context, q Queryer) (Info, error) {
	rows, err := q.QueryContext(ctx, e.info)
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
	if info.Now, err = strconv.ParseInt(values[0].String, 10, 64); err != nil {
		return Info{}, err
	}
	return info, rows.Close()
}

// A value is an expression that a statement gives to its caller, such as {returning now}.
var value = regexp.MustCompile(`\{(one|returning) ([^{}]+)\}`)

// Compile replaces the names in braces and the :names of a text:
//
//	{now}            the database's clock in microseconds since 1970 UTC; it stands still during a statement
//	{div}            the operator of integer division
//	{greatest}       the function; so is {least}
//	{bound} {guard}  conditions of an UPDATE: it commits by itself, and is durable once it is confirmed
//	{from}           what the guard reads from
//	{durable}        the condition that the server syncs what it confirms, where {bound} and {guard} don't see to it
//	{one x}          1; on a server without RETURNING, the UPDATE gives x to its caller as the insert id
//	{returning x}    RETURNING x, or nothing on a server that doesn't have it; now stands for {now}
func (e *Engine) Compile(text string) Statement {
	text = value.ReplaceAllStringFunc(text, func(match string) string {
		parts := value.FindStringSubmatch(match)
		expression := parts[2]
		if expression == "now" {
			expression = e.Now
		}
		switch {
		case parts[1] == "one" && e.insertID != nil:
			return e.insertID(expression)
		case parts[1] == "one":
			return "1"
		case e.insertID != nil:
			return ""
		}
		return "RETURNING " + expression
	})
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
	var s Statement
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, ":")
		b.WriteString(before)
		if !found {
			break
		}
		end := strings.IndexFunc(rest, func(r rune) bool { return (r < 'a' || r > 'z') && r != '_' })
		if end < 0 {
			end = len(rest)
		}
		s.names = append(s.names, rest[:end])
		b.WriteString(e.Dialect.Placeholder(len(s.names)))
		text = rest[end:]
	}
	s.Text = strings.Join(strings.Fields(b.String()), " ")
	return s
}
