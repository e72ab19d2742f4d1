package merge

import (
	"errors"
	"strings"

	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// An engine is what differs between the dialects. Its functions write SQL.
type engine struct {
	dialect   sqlsnow.Dialect
	quotation string             // around names
	number    func(n int) string // placeholders, counted from 1
	now       string             // the database's clock in microseconds since 1970 UTC
	maxParams int                // of one statement
	writers   int                // that can work at the same time, at most

	rowValues  bool // (a, b) > (?, ?) finds its range
	valuesInIn bool // (a, b) IN takes VALUES

	// read is the expression that selects a column so that its value is the same
	// whatever the driver's settings are; see carrier.
	read func(column string, c *plan.Column) string

	carrier func(c *plan.Column) carrier

	// held reads the fence of the lease so that nobody can change it before the
	// transaction ends.
	held  string
	begin string // a transaction that writes

	source, target []string // statements that a session begins with
	unchecked      string   // turns foreign keys off in a session
	settings       []string // pragmas to set back afterwards; none means that a session ends with its connection

	// absent reports whether there is no such table or column.
	absent func(code string) bool

	// busy reports whether another try may succeed.
	busy func(code string) bool

	ifMissing string            // in CREATE INDEX
	types     map[string]string // of the ledger's columns
}

// A carrier is the Go type in which the values of a column are carried. NULL is
// nil in all of them.
type carrier uint8

const (
	carryText    carrier = iota // string
	carryInteger                // int64; string where that does not fit
	carryFloat                  // float64
	carryBytes                  // []byte
	carryNative                 // int64, float64, string or []byte: SQLite's values have types of their own
)

func engineOf(d sqlsnow.Dialect) (*engine, error) {
	switch d {
	case sqlsnow.MySQL:
		return mysqlEngine(), nil
	case sqlsnow.Postgres:
		return postgresEngine(), nil
	case sqlsnow.SQLite:
		return sqliteEngine(), nil
	}
	return nil, &plan.Error{Reason: "unknown dialect " + d.String()}
}

// quote returns a name as SQL.
func (e *engine) quote(name string) string {
	return e.quotation + strings.ReplaceAll(name, e.quotation, e.quotation+e.quotation) + e.quotation
}

// quoteAll returns names as SQL, with commas.
func (e *engine) quoteAll(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = e.quote(name)
	}
	return strings.Join(quoted, ", ")
}

// selectList returns the expressions that read columns, with commas.
func (e *engine) selectList(columns []*plan.Column) string {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = e.read(e.quote(c.Name), c)
	}
	return strings.Join(list, ", ")
}

// places returns n placeholders, the first of which is numbered first, in
// parentheses.
func (e *engine) places(first, n int) string {
	var b strings.Builder
	b.WriteByte('(')
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(e.number(first + i))
	}
	b.WriteByte(')')
	return b.String()
}

// manyPlaces returns n rows of placeholders in parentheses, with commas.
func (e *engine) manyPlaces(n, width int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(e.places(1+i*width, width))
	}
	return b.String()
}

// sql returns a text whose {now} and {types} are replaced, and whose question
// marks are placeholders.
func (e *engine) sql(text string) string {
	text = strings.ReplaceAll(text, "{now}", e.now)
	for name, typ := range e.types {
		text = strings.ReplaceAll(text, "{"+name+"}", typ)
	}
	if e.number(1) == "?" {
		return text
	}
	var b strings.Builder
	for n := 1; ; n++ {
		before, after, found := strings.Cut(text, "?")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteString(e.number(n))
		text = after
	}
}

// failed makes an error of a driver a [*sqlsnow.DatabaseError].
func (e *engine) failed(op string, err error) error {
	if err == nil || errors.As(err, new(*report.OvertakenError)) || errors.As(err, new(*plan.Error)) || errors.As(err, new(*sqlsnow.DatabaseError)) {
		return err
	}
	return &sqlsnow.DatabaseError{Op: op, Code: sqldialect.Code(err), Err: err}
}

// isBusy reports whether err is one of another transaction in the way.
func (e *engine) isBusy(err error) bool { return e.busy(sqldialect.Code(err)) }
