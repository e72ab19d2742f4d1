package plan

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// An Error says what is undecided or contradictory in a plan.
type Error struct {
	Table  string // empty for the plan as a whole
	Column string // empty for the table as a whole
	Reason string

	// Undecided says that it is a question without an answer, and nothing that is wrong.
	Undecided bool
}

func (e *Error) Error() string {
	switch {
	case e.Table == "":
		return "plan: " + e.Reason
	case e.Column == "":
		return "plan: table " + strconv.Quote(e.Table) + ": " + e.Reason
	}
	return "plan: column " + strconv.Quote(e.Table+"."+e.Column) + ": " + e.Reason
}

// Check returns an error if a run can't follow the plan: a question has no answer, or parts of the plan contradict one
// another. The error is one or several [*Error], joined. It asks no database.
func (p *Plan) Check() error {
	c := &checker{plan: p}
	c.faultIf(p.Version != Version, "", "", "version %d: want %d", p.Version, Version)
	c.faultIf(p.Dialect != "MySQL" && p.Dialect != "PostgreSQL", "", "", "dialect %q: want MySQL or PostgreSQL", p.Dialect)
	c.faultIf(len(p.Tables) == 0, "", "", "no tables")
	c.faultIf(p.checkNil() != nil, "", "", "an entry of a list is empty")
	if len(c.errs) > 0 {
		return errors.Join(c.errs...)
	}
	c.questions()
	names := map[string]bool{}
	for _, t := range p.Tables {
		c.faultIf(t.Name == "", "", "", "a table has no name")
		c.faultIf(names[t.Name], t.Name, "", "is there twice")
		names[t.Name] = true
		c.table(t)
		for _, k := range t.ForeignKeys {
			c.foreignKey(t, k)
		}
	}
	c.groups()
	return errors.Join(c.errs...)
}

type checker struct {
	plan *Plan
	errs []error
}

func (c *checker) faultIf(is bool, table, column, format string, args ...any) {
	if is {
		c.errs = append(c.errs, &Error{Table: table, Column: column, Reason: fmt.Sprintf(format, args...)})
	}
}

func (c *checker) questions() {
	for i, q := range c.plan.Questions {
		t, column := c.plan.split(q.Column)
		if t == nil || column == "" {
			c.faultIf(true, "", "", "question %q: want table.column, with a table of the plan", q.Column)
			continue
		}
		twice := slices.ContainsFunc(c.plan.Questions[:i], func(other *Question) bool { return other.Column == q.Column })
		c.faultIf(twice, t.Name, column, "there are two questions about it")
		switch q.Answer {
		case "":
			c.errs = append(c.errs, &Error{Table: t.Name, Column: column, Reason: "not decided: answer widen or leave", Undecided: true})
		case Widen:
			c.faultIf(Wide(q.Type) == "" && t.Column(column) == nil, t.Name, column, "%q can't be widened: it is no integer of less than 64 bits", q.Type)
			c.faultIf(Wide(q.Type) != "" && t.Column(column) == nil, t.Name, column, "the answer is widen, but the table's columns lack it: call Resolve")
		case Leave:
			c.faultIf(t.Column(column) != nil, t.Name, column, "the answer is leave, but it is among the table's columns")
		default:
			c.faultIf(true, t.Name, column, "answer %q: want widen or leave", q.Answer)
		}
	}
}

var (
	methods  = []Method{None, Online, Alter}
	counters = map[string][]string{
		"MySQL":      {"", "auto_increment"},
		"PostgreSQL": {"", "serial", "identity", "identity always"},
	}
	actions = []string{"", "CASCADE", "SET NULL", "SET DEFAULT", "NO ACTION", "RESTRICT"}
)

func (c *checker) table(t *Table) {
	c.faultIf(!slices.Contains(methods, t.Method), t.Name, "", "method %q: want none, online or alter", t.Method)
	c.faultIf(t.Method == None && len(t.Columns) > 0, t.Name, "", "method none, but columns are to become wider")
	c.faultIf(t.Method != None && len(t.Columns) == 0, t.Name, "", "method %s, but no column becomes wider", t.Method)
	c.faultIf(t.Method == Online && len(t.PrimaryKey) == 0, t.Name, "", "method online needs a primary key")
	c.faultIf(!slices.Contains(counters[c.plan.Dialect], t.Counter), t.Name, "", "counter %q: want one of %q", t.Counter, counters[c.plan.Dialect])
	c.faultIf(c.plan.Dialect == "PostgreSQL" && t.Counter != "" && t.Sequence == "", t.Name, "", "counter %q without a sequence", t.Counter)
	c.faultIf(t.Block < 0 || t.First < 0, t.Name, "", "block %d and first %d: want no negative numbers", t.Block, t.First)
	for i, column := range t.Columns {
		c.faultIf(column.Name == "", t.Name, "", "a column has no name")
		c.faultIf(slices.ContainsFunc(t.Columns[:i], func(other *Column) bool { return other.Name == column.Name }), t.Name, column.Name, "is there twice")
		to := Wide(column.Type)
		c.faultIf(to == "", t.Name, column.Name, "%q can't be widened: it is no integer of less than 64 bits", column.Type)
		c.faultIf(to != "" && column.To != to, t.Name, column.Name, "to %q: want %q, because signs stay", column.To, to)
	}
}

// foreignKey checks that both ends have one width in the end.
func (c *checker) foreignKey(t *Table, k *ForeignKey) {
	if len(k.Columns) == 0 || len(k.Columns) != len(k.RefColumns) {
		c.faultIf(true, t.Name, "", "foreign key %q has %d columns and refers to %d", k.Name, len(k.Columns), len(k.RefColumns))
		return
	}
	c.faultIf(!slices.Contains(actions, k.OnDelete), t.Name, "", "foreign key %q: on_delete %q", k.Name, k.OnDelete)
	c.faultIf(!slices.Contains(actions, k.OnUpdate), t.Name, "", "foreign key %q: on_update %q", k.Name, k.OnUpdate)
	parent := c.plan.Table(k.Refers)
	if parent == nil {
		return
	}
	for i, name := range k.Columns {
		own, other := t.Column(name), parent.Column(k.RefColumns[i])
		switch {
		case own == nil && other != nil:
			c.faultIf(!slices.Contains(t.Wide, name), t.Name, name, "stays narrow, but refers to %s.%s, which becomes %s", parent.Name, other.Name, other.To)
		case own != nil && other == nil:
			c.faultIf(c.plan.Dialect == "MySQL" && !slices.Contains(parent.Wide, k.RefColumns[i]), t.Name, name, "becomes %s, but refers to %s.%s, which stays narrow", own.To, parent.Name, k.RefColumns[i])
		case own != nil:
			c.faultIf(own.To != other.To, t.Name, name, "becomes %s, but refers to %s.%s, which becomes %s", own.To, parent.Name, other.Name, other.To)
		}
	}
	c.faultIf(c.plan.Dialect == "MySQL" && t.Group != parent.Group && len(t.Columns) > 0 && len(parent.Columns) > 0, t.Name, "", "is in group %d, but refers to %s in group %d", t.Group, parent.Name, parent.Group)
}

func (c *checker) groups() {
	first := map[int]*Table{}
	for _, t := range c.plan.Tables {
		if len(t.Columns) == 0 {
			continue
		}
		c.faultIf(t.Group < 1, t.Name, "", "group %d: want 1 or more", t.Group)
		other, known := first[t.Group]
		if !known {
			first[t.Group] = t
			continue
		}
		c.faultIf(c.plan.Dialect == "MySQL" && other.Method != t.Method, t.Name, "", "method %s, but %s of the same group has method %s", t.Method, other.Name, other.Method)
	}
}
