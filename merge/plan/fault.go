package plan

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/internal/sqldialect"
)

// An Error says what is wrong with a plan.
type Error struct {
	Table  string // empty for the plan as a whole
	Column string // empty for the table as a whole
	Reason string
	Line   int // of the file of decisions; 0 if it is not about a line
}

func (e *Error) Error() string {
	switch {
	case e.Line > 0:
		return "plan: line " + strconv.Itoa(e.Line) + ": " + e.Reason
	case e.Table == "":
		return "plan: " + e.Reason
	case e.Column == "":
		return "plan: table " + strconv.Quote(e.Table) + ": " + e.Reason
	}
	return "plan: column " + strconv.Quote(e.Table+"."+e.Column) + ": " + e.Reason
}

// A checker collects the errors of a plan.
type checker struct {
	plan    *Plan
	dialect sqldialect.Dialect
	errs    []error
}

func (c *checker) fault(table, column, format string, args ...any) {
	c.errs = append(c.errs, &Error{Table: table, Column: column, Reason: fmt.Sprintf(format, args...)})
}

func (c *checker) faultIf(is bool, table, column, format string, args ...any) {
	if is {
		c.fault(table, column, format, args...)
	}
}

// sources complains of names in field that are not sources of the table.
func (c *checker) sources(t *Table, column, field string, names []string) {
	for i, name := range names {
		switch {
		case !slices.Contains(c.plan.Sources, name):
			c.fault(t.Name, column, "%s names %q, which is no source", field, name)
		case !t.In(name):
			c.fault(t.Name, column, "%s names %q, which does not have the table", field, name)
		case slices.Contains(names[:i], name):
			c.fault(t.Name, column, "%s names %q twice", field, name)
		}
	}
}

func (c *checker) undecided(t *Table, column string, suspects []string, decided bool) {
	switch {
	case decided || len(suspects) == 0:
	case len(suspects) == 1:
		c.fault(t.Name, column, "not decided: %s", suspects[0])
	default:
		c.fault(t.Name, column, "not decided: %s (and %d more)", suspects[0], len(suspects)-1)
	}
}

// columns complains of names in field that are not columns of the table.
func (c *checker) columns(t *Table, field string, names []string) {
	for i, name := range names {
		if t.Column(name) == nil {
			c.fault(t.Name, "", "%s names %q, which is no column", field, name)
		} else if slices.Contains(names[:i], name) {
			c.fault(t.Name, "", "%s names %q twice", field, name)
		}
	}
}

const longestSource = 40

// CheckSources returns what is wrong with the names of the sources, or nil.
func (p *Plan) CheckSources() error {
	if len(p.Sources) == 0 {
		return errors.New("no sources")
	}
	for i, name := range p.Sources {
		bad := func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._-", r)
		}
		if name == "" || len(name) > longestSource || strings.ContainsFunc(name, bad) {
			return fmt.Errorf("source name %q: want 1 to %d letters, digits, dots, underscores or hyphens of ASCII", name, longestSource)
		}
		if slices.ContainsFunc(p.Sources[:i], func(other string) bool { return strings.EqualFold(other, name) }) {
			return fmt.Errorf("source name %q is there twice", name)
		}
	}
	return nil
}

// checkNil refuses empty entries of lists, so that no other code meets them.
func checkNil(p *Plan) error {
	if slices.Contains(p.Tables, nil) {
		return errors.New("an entry of tables is empty")
	}
	if slices.Contains(p.Questions, nil) {
		return errors.New("an entry of questions is empty")
	}
	for _, q := range p.Questions {
		if err := q.checkNil(); err != nil {
			return err
		}
	}
	for _, t := range p.Tables {
		field := ""
		switch {
		case slices.Contains(t.Columns, nil):
			field = "columns"
		case slices.Contains(t.Unique, nil):
			field = "unique"
		case slices.Contains(t.WithoutRows, nil):
			field = "without_rows"
		case slices.Contains(t.ForeignKeys, nil):
			field = "foreign_keys"
		case slices.Contains(t.Indexes, nil):
			field = "indexes"
		case slices.ContainsFunc(t.Columns, func(c *Column) bool { return slices.Contains(c.Refers, nil) }):
			field = "refers"
		default:
			continue
		}
		return fmt.Errorf("table %q: an entry of %s is empty", t.Name, field)
	}
	return nil
}

// dialectOf returns the dialect of a name, or 0.
func dialectOf(name string) sqldialect.Dialect {
	for _, d := range []sqldialect.Dialect{sqldialect.MySQL, sqldialect.Postgres, sqldialect.SQLite} {
		if d.String() == name {
			return d
		}
	}
	return 0
}

// checkNil refuses empty entries.
func (q *Question) checkNil() error {
	if slices.Contains(q.Candidates, nil) {
		return fmt.Errorf("question %q: an entry of candidates is empty", q.Name)
	}
	return nil
}

// A columnChecker collects the errors of a column.
type columnChecker struct {
	*checker
	table  *Table
	column *Column
}

func (c *columnChecker) fault(format string, args ...any) { c.faultIf(true, format, args...) }

func (c *columnChecker) faultIf(is bool, format string, args ...any) {
	c.checker.faultIf(is, c.table.Name, c.column.Name, format, args...)
}
