package dialect

import (
	"errors"
	"strings"

	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// A Dialect is what a merge needs to know of the SQL of a database, besides what sqldialect has. It must not be
// changed.
type Dialect struct {
	Kind      sqldialect.Dialect
	Now       string // the database's clock in microseconds since 1970 UTC
	MaxParams int    // of one statement
	Writers   int    // that can work at the same time, at most

	RowValues  bool // (a, b) > (?, ?) finds its range
	ValuesInIn bool // (a, b) IN takes VALUES

	// read returns the expression that selects a column so that its value is the same whatever the driver's
	// settings are; Carrier returns the Go type of that value.
	read    func(column string, c *plan.Column) string
	Carrier func(c *plan.Column) Carrier

	// content returns the expression that is equal for rows whose values are, byte by byte, and for no others. It
	// is nil where rows have an id of their own.
	content func(columns []*plan.Column) string

	// Held reads the fence of the lease so that nobody can change it before the transaction ends.
	Held  string
	Begin string // a transaction that writes

	Source, Target []string // statements that a session begins with
	// they begin a transaction: a session is always within one, and leaves no setting behind in a pooler
	Within    bool
	Unchecked string // turns foreign keys off in a session
	// returns the statements, with ; between them, that set the settings of a session back; empty where there is
	// nothing to set back
	Saved string

	IfMissing string            // in CREATE INDEX
	types     map[string]string // of the ledger's columns

	databases map[string]string // see In
}

// A Carrier is the Go type that carries the values of a column. NULL is nil in all of them.
type Carrier uint8

// The carriers.
const (
	CarryText    Carrier = iota // string
	CarryInteger                // int64; string where that does not fit, or there is a fraction
	CarryFloat                  // float64
	CarryBytes                  // []byte
	CarryNative                 // int64, float64, string or []byte: SQLite's values have types of their own
)

// isID reports whether each value of a column is the id of a row: so a decimal is an integer there.
func isID(c *plan.Column) bool {
	return c.Role == plan.RoleKey || c.Role == plan.RoleReference || c.Role == plan.RolePolymorphic
}

// Of returns the Dialect of d, or a [*plan.Error].
func Of(d sqlsnow.Dialect) (*Dialect, error) {
	switch d {
	case sqlsnow.MySQL:
		return mysql(), nil
	case sqlsnow.Postgres:
		return postgres(), nil
	case sqlsnow.SQLite:
		return sqlite(), nil
	}
	return nil, &plan.Error{Reason: "unknown dialect " + d.String()}
}

// Quote returns a name as SQL.
func (d *Dialect) Quote(name string) string { return d.Kind.Quote(name) }

// Placeholder returns the placeholder of the n-th parameter, counted from 1.
func (d *Dialect) Placeholder(n int) string { return d.Kind.Placeholder(n) }

// QuoteAll returns names as SQL, with commas.
func (d *Dialect) QuoteAll(names []string) string { return d.Kind.QuoteAll(names) }

// SelectList returns the expressions that read columns, with commas.
func (d *Dialect) SelectList(columns []*plan.Column) string {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = d.read(d.Quote(c.Name), c)
	}
	return strings.Join(list, ", ")
}

// Content returns the expression that tells rows of a table without a primary key apart: equal rows have the same
// value, a text, and others have another. Where unique, no two rows have the same, an integer. columns are all that
// are copied.
func (d *Dialect) Content(t *plan.Table, columns []*plan.Column) (expression string, unique bool) {
	if d.content != nil {
		return d.content(columns), false
	}
	name, _ := t.RowID()
	return name, true
}

// Placeholders returns n placeholders in parentheses. The number of the first one is first.
func (d *Dialect) Placeholders(first, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(", ")
		b.WriteString(d.Placeholder(first + i))
	}
	return "(" + strings.TrimPrefix(b.String(), ", ") + ")"
}

// PlaceholderRows returns n rows of placeholders in parentheses, with commas.
func (d *Dialect) PlaceholderRows(n, width int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(", ")
		b.WriteString(d.Placeholders(1+i*width, width))
	}
	return strings.TrimPrefix(b.String(), ", ")
}

// SQL returns text with {now} and {types} replaced, and with placeholders for question marks.
func (d *Dialect) SQL(text string) string {
	text = strings.ReplaceAll(text, "{now}", d.Now)
	for name, typ := range d.types {
		text = strings.ReplaceAll(text, "{"+name+"}", typ)
	}
	if d.Placeholder(1) == "?" {
		return text
	}
	var b strings.Builder
	for n := 1; ; n++ {
		before, after, found := strings.Cut(text, "?")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteString(d.Placeholder(n))
		text = after
	}
}

// Failed makes an error of a driver a [*sqlsnow.DatabaseError]. Errors that have a type already stay as they are.
func (d *Dialect) Failed(op string, err error) error {
	if err == nil || errors.As(err, new(*report.OvertakenError)) || errors.As(err, new(*plan.Error)) || errors.As(err, new(*sqlsnow.DatabaseError)) {
		return err
	}
	return &sqlsnow.DatabaseError{Op: op, Code: sqldialect.Code(err), Err: err}
}

// IsBusy reports whether err is one of another transaction in the way.
func (d *Dialect) IsBusy(err error) bool { return d.Kind.Classify(err) == sqldialect.Busy }

// LacksCharacter reports whether err is one of a text that a database of PostgreSQL has no characters for.
func (d *Dialect) LacksCharacter(err error) bool {
	return err != nil && d.Kind == sqldialect.Postgres && sqldialect.Code(err) == "22P05"
}

// IsMissing reports whether err is one of a table or column that does not exist.
func (d *Dialect) IsMissing(err error) bool {
	class := d.Kind.Classify(err)
	return class == sqldialect.NoTable || class == sqldialect.NoColumn || d.Kind == sqldialect.SQLite && sqldialect.Code(err) == "1"
}

// OfSource returns err as a [*report.SourceError], or nil if it is nil.
func OfSource(name string, err error) error {
	if err == nil {
		return nil
	}
	return &report.SourceError{Source: name, Err: err}
}
