package schema

import "slices"

// A Schema is what one database has.
type Schema struct {
	Product string // MySQL, MariaDB or PostgreSQL
	Version string // such as 10.11.19

	Tables  []*Table
	Objects []Object // views, routines, triggers and events whose text the account may read

	// Elsewhere are tables of other databases of the server that it numbers, as database.table. MySQL only.
	Elsewhere []string

	// Refusals are settings and rights because of which a conversion is not possible, with the remedy.
	Refusals []string
	Notes    []string

	// KeysInSQL says that MySQL carries out the actions of foreign keys in SQL.
	KeysInSQL bool
	// OnlineLacks are rights that only method online needs on MySQL and MariaDB, and that the account lacks: the ON
	// part of GRANT by the right.
	OnlineLacks map[string]string
}

// A Table is a table, and not a view.
type Table struct {
	Name    string
	Engine  string // MySQL
	Columns []Column

	Counted  []Counter
	Triggers []string // its own
	// Partition is how rows are distributed over partitions; empty if there are none.
	Partition string
	// Outside are foreign keys to and from tables of other databases, for people.
	Outside []Outside
	// Versioned says that MariaDB keeps old versions of rows.
	Versioned bool
	Heirs     []string // PostgreSQL: tables that inherit from it, and are no partitions
	Elder     string   // PostgreSQL: a table that it inherits from

	Rows, Bytes int64
}

// A Column is what a plan says of a column besides merge's.
type Column struct {
	Name, Type string
	Domain     string // PostgreSQL: the domain that the column is of
	Generated  string // the expression; empty if the column is not generated
}

// A Counter numbers the rows of a table.
type Counter struct {
	Column   string
	Kind     string // auto_increment, serial, identity or identity always
	Sequence string // PostgreSQL: its name, without the schema
	Next     int64  // about the next number; 0 if unknown
	Owned    bool   // PostgreSQL: the sequence belongs to the column
	id       string // PostgreSQL: the sequence's
	Hidden   bool   // MySQL: SELECT * and INSERT do not see the column, as the primary key that a server makes
}

// Outside is a foreign key that leaves the database, or comes from another one.
type Outside struct {
	Name    string
	Columns []string // of the table of this database
	Other   string   // database.table
	Inward  bool     // the other table refers to this one
}

// An Object is something with SQL of its own.
type Object struct {
	Kind  string // view, materialized view, procedure, function, trigger or event
	Name  string
	Table string // of a trigger
	Text  string // empty if the account may not read it
}

// Table returns the table of a name, or nil.
func (s *Schema) Table(name string) *Table {
	for _, t := range s.Tables {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// Column returns the column of a name, or nil. So it does for no table.
func (t *Table) Column(name string) *Column {
	if t == nil {
		return nil
	}
	for i := range t.Columns {
		if t.Columns[i].Name == name {
			return &t.Columns[i]
		}
	}
	return nil
}

// Owns reports whether the sequence that numbers a column belongs to it.
func (t *Table) Owns(column string) bool {
	return slices.ContainsFunc(t.Counted, func(c Counter) bool { return c.Column == column && c.Owned })
}
