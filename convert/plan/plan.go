package plan

// A Plan says what a conversion does with each table. convert.Inspect proposes
// it, and people review and edit it. It has all that the steps depend on, so the
// steps of a plan are always the same.
type Plan struct {
	Version int    `yaml:"version"` // 1
	Dialect string `yaml:"dialect"` // MySQL or PostgreSQL
	Server  string `yaml:"server"`  // the product and version that the plan is for, such as "MariaDB 10.11.19"

	// Questions are columns that look like references and that no foreign key declares. A run refuses a plan that
	// has one without an answer.
	Questions []*Question `yaml:"questions,omitempty"`

	// Tables are all tables whose keys or references change, or whose rows the database counts. Parents come before
	// their children, as far as there is no circle.
	Tables []*Table `yaml:"tables"`

	// Guards are the other tables of the server that the database counts (MySQL). See package convert, Counters.
	// The ones of other databases are written as database.table.
	Guards []string `yaml:"guards,omitempty,flow"`

	// Before and After are what programs must do before the first snow id, and after the last old program.
	Before []string `yaml:"before,omitempty"`
	After  []string `yaml:"after,omitempty"`

	// Notes are what else uses the columns: views, routines, triggers, events.
	Notes []string `yaml:"notes,omitempty"`

	// Steps describe the steps, for people. A run makes them anew from the rest of the plan.
	Steps []*Described `yaml:"steps,omitempty"`
}

// A Question asks whether a column is a reference.
type Question struct {
	Column    string   `yaml:"column"`             // table.column
	Type      string   `yaml:"type"`               // now
	Evidence  []string `yaml:"evidence"`           // why it may be one
	Proposed  string   `yaml:"proposed,omitempty"` // the table that it may refer to
	Certainty float64  `yaml:"certainty"`
	Answer    string   `yaml:"answer"` // widen or leave; empty until somebody has decided
}

// A Method says how the columns of a table become wider.
type Method string

// The methods.
const (
	None   Method = "none"   // the columns are wide already
	Online Method = "online" // writers go on but for the moment in which names change
	Alter  Method = "alter"  // ALTER TABLE, which blocks writers until it is done
)

// A Table is a table that changes.
type Table struct {
	Name       string   `yaml:"name"`
	PrimaryKey []string `yaml:"primary_key,flow"`

	// Key is the column whose new values are snow ids; empty if only references of the table change.
	Key string `yaml:"key,omitempty"`
	// Counter is what numbers Key now: auto_increment, serial, identity, identity always, or nothing.
	Counter  string `yaml:"counter,omitempty"`
	Sequence string `yaml:"sequence,omitempty"` // PostgreSQL: its name, without the schema

	// Block is how many numbers a session takes at a time, from Count on (MySQL). What a session leaves is lost. A
	// statement with more rows than that may fail. Default: 1000, and 100 if the key is an INT, 10 for MEDIUMINT.
	Block int `yaml:"block,omitempty"`
	// Scatter lets such a statement go on with numbers further up instead: for programs that insert many rows with
	// INSERT ... SELECT or LOAD DATA, and do not count on from LAST_INSERT_ID().
	Scatter bool `yaml:"scatter,omitempty"`
	// First is the limit: counted numbers are below, snow ids are not. Default: 2^40.
	First int64 `yaml:"first,omitempty"`

	// Columns are the ones that become wider. Wide are columns of the key and of foreign keys that are BIGINT already.
	Columns []*Column `yaml:"columns,omitempty"`
	Wide    []string  `yaml:"wide,omitempty,flow"`

	Method Method `yaml:"method"`
	Why    string `yaml:"why,omitempty"` // why not Online

	// Group is the number of the tables that foreign keys connect, counted from 1. They change together. It is 0 for
	// tables without columns that become wider.
	Group int `yaml:"group,omitempty"`

	// ForeignKeys are all of this table, also ones whose columns do not change.
	ForeignKeys []*ForeignKey `yaml:"foreign_keys,omitempty"`

	// Rows and Bytes are estimates of the server. Seconds is how long the copy takes at the speed of a sample.
	Rows    int64   `yaml:"rows"`
	Bytes   int64   `yaml:"bytes"`
	Seconds float64 `yaml:"seconds,omitempty"`
}

// A Column becomes wider.
type Column struct {
	Name   string `yaml:"name"`
	Type   string `yaml:"type"`             // now, as the server writes it
	To     string `yaml:"to"`               // bigint, or bigint unsigned
	Refers string `yaml:"refers,omitempty"` // the table whose ids it has
}

// A ForeignKey is a foreign key.
type ForeignKey struct {
	Name       string   `yaml:"name"`
	Columns    []string `yaml:"columns,flow"`
	Refers     string   `yaml:"refers"`
	RefColumns []string `yaml:"ref_columns,flow"`
	OnDelete   string   `yaml:"on_delete,omitempty"` // empty: NO ACTION or RESTRICT
	OnUpdate   string   `yaml:"on_update,omitempty"`
}

// A Described step is a step for people.
type Described struct {
	Name       string   `yaml:"name"`
	Title      string   `yaml:"title"`
	Statements []string `yaml:"statements,omitempty"`
	Blocks     string   `yaml:"blocks,omitempty"` // whom it blocks, and for how long
	Gate       string   `yaml:"gate,omitempty"`   // what programs must do before it
	Back       string   `yaml:"back"`             // until when it can be taken back
}
