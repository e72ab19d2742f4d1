package sqlsnow

import (
	"context"
	"database/sql"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/sqldialect"
)

// A Dialect is the SQL that a database speaks. Its String method returns
// "MySQL", "PostgreSQL" or "SQLite".
type Dialect = sqldialect.Dialect

// The dialects.
const (
	MySQL    = sqldialect.MySQL    // also MariaDB, Galera and TiDB
	Postgres = sqldialect.Postgres // PostgreSQL; CockroachDB does not take the tables' collation
	SQLite   = sqldialect.SQLite   // 3.37 or later; never on a network file system
)

// An engine is what differs between the dialects. The statements, which use its
// expressions, are in statements.go.
type engine struct {
	dialect  Dialect
	now      string // the database's clock in microseconds since 1970 UTC, the same all through a statement
	div      string // the operator of integer division
	greatest string
	least    string
	bound    string                                      // what binds a write to the look at its session; ends in AND where there is something
	guard    string                                      // what must hold for a write to be durable once it is confirmed; ends in AND where there is something
	from     string                                      // what the guard reads from
	one      string                                      // 1, in an UPDATE that tells its caller now
	oneNext  string                                      // 1, in an UPDATE that tells its caller next_id
	told     string                                      // what an UPDATE ends in, to tell now
	facts    string                                      // see the facts type
	durable  string                                      // what else must hold for numbers of a segment; ends in AND where there is something
	look     func(ctx context.Context, s *session) error // at a session, see there
	settle   func(ctx context.Context, s *session) error // waits until what was written is durable; nil where that is what its confirmation says
	apart    func(ctx context.Context, s *session) error // see session.apart; nil where look will do
	segments string                                      // counts the table of segments, where its absence has no code
	facing   func(facts []sql.NullString) facts

	statements map[ask]statement
	take       statement // of a segment
}

// newEngine compiles the statements, which all leases share.
func newEngine(e engine) *engine {
	e.statements = map[ask]statement{}
	for ask, text := range map[ask]string{
		askFree: selectFree, askCensus: selectCensus, askRow: selectRow, askTake: updateTake, askClaim: updateClaim, askGrant: updateGrant,
		askRenew: updateRenew, askReassert: updateReassert, askConfirm: updateConfirm, askRelease: updateRelease, askAbandon: updateAbandon,
	} {
		e.statements[ask] = e.compile(text)
	}
	e.take = e.compile(updateSegment)
	return &e
}

func engineOf(d Dialect) (*engine, error) {
	switch d {
	case MySQL:
		return mysqlEngine(), nil
	case Postgres:
		return postgresEngine(), nil
	case SQLite:
		return sqliteEngine(), nil
	}
	return nil, &snow.FieldError{Field: "dialect", Value: strconv.Itoa(int(d)), Bound: "want MySQL, Postgres or SQLite"}
}

// A statement is SQL whose parameters have names.
type statement struct {
	text  string
	names []string
}

// compile replaces the expressions in braces and the :names of a text.
func (e *engine) compile(text string) statement {
	tick := "((" + e.now + ") * 1000 - :epoch) " + e.div + " :tick"
	taken := ""
	if e.told != "" {
		taken = "RETURNING next_id, residue, space_uuid"
	}
	text = strings.NewReplacer(
		"{taken}", taken,
		"{one}", e.one,
		"{one next}", e.oneNext,
		"{durable}", e.durable,
		"{eligible}", eligible,
		"{bound}", e.bound,
		"{guard}", e.guard,
		"{from}", e.from,
		"{told}", e.told,
	).Replace(text)
	text = strings.NewReplacer(
		"{now}", e.now,
		"{tick}", "("+tick+")",
		"{div}", e.div,
		"{greatest}", e.greatest,
		"{least}", e.least,
	).Replace(text)
	var s statement
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
		b.WriteString(e.dialect.Placeholder(len(s.names)))
		text = rest[end:]
	}
	s.text = strings.Join(strings.Fields(b.String()), " ")
	return s
}

// arguments returns the values of the statement's parameters in their order.
func (s statement) arguments(values map[string]any) []any {
	args := make([]any, len(s.names))
	for i, name := range s.names {
		args[i] = values[name]
	}
	return args
}

// mostTries is how often something is tried again that other statements were in the way of.
const mostTries = 30

// pause waits for a random time below most.
func pause(ctx context.Context, most time.Duration) error {
	timer := time.NewTimer(rand.N(most))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// queryer is what a *sql.DB, *sql.Conn and *sql.Tx have in common.
type queryer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}
