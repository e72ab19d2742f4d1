package plan

import (
	"fmt"
	"slices"
)

// A Plan says what to do with every column of every table. [github.com/shardsnow/snow/merge.Inspect] proposes
// one, people review and edit it, and nothing is written before each of its
// suspects has a decision: see [Plan.Check].
//
// It is written with [Plan.WriteYAML] or [Plan.WriteJSON] and read back with
// [ReadPlan].
type Plan struct {
	Version int      `json:"version" yaml:"version"`                          // 1
	Dialect string   `json:"dialect" yaml:"dialect"`                          // what [sqlsnow.Dialect] prints
	Sources []string `json:"sources,omitempty" yaml:"sources,omitempty,flow"` // names, in the order of their precedence: the first one's rows keep their names

	// Types are statements that [Plan.Schema] begins with: PostgreSQL's enumerations.
	Types []string `json:"types,omitempty" yaml:"types,omitempty"`
	Notes []string `json:"notes,omitempty" yaml:"notes,omitempty"` // views, routines and the like, which Schema does not carry over

	Tables []*Table `json:"tables,omitempty" yaml:"tables,omitempty"`
}

// A Table is a table that some or all sources have under one name.
type Table struct {
	Name string `json:"name" yaml:"name"`

	// Sources are those that have the table; none means all of them.
	Sources []string `json:"sources,omitempty" yaml:"sources,omitempty,flow"`

	// Skip leaves the table out.
	Skip bool `json:"skip,omitempty" yaml:"skip,omitempty"`

	// PrimaryKey is what rows are told apart by: at least one column.
	PrimaryKey []string `json:"primary_key,omitempty" yaml:"primary_key,omitempty,flow"`

	// Mint are the sources whose rows get a new id in the column of Role key.
	// Rows of the others keep the id that they have.
	Mint []string `json:"mint,omitempty" yaml:"mint,omitempty,flow"`

	// Created is the column that dates minted ids; none means that they are
	// dated by the order of the old ones alone. Zone is the time zone of a
	// column that has none itself, as time.LoadLocation takes it; none means UTC.
	Created string `json:"created,omitempty" yaml:"created,omitempty"`
	Zone    string `json:"zone,omitempty" yaml:"zone,omitempty"`

	// Without are columns that are left out: sources have them, and the plan does
	// not. A column that is in neither is an error of the run.
	Without []string `json:"without,omitempty" yaml:"without,omitempty,flow"`

	Columns []*Column `json:"columns,omitempty" yaml:"columns,omitempty"`
	Unique  []*Unique `json:"unique,omitempty" yaml:"unique,omitempty"` // the unique keys, with the primary key where it is not minted

	// What follows is found by Inspect, for [Plan.Schema] and for the order of
	// tables; decisions have no part in it.
	ForeignKeys []*ForeignKey `json:"foreign_keys,omitempty" yaml:"foreign_keys,omitempty"`
	Indexes     []*Index      `json:"indexes,omitempty" yaml:"indexes,omitempty"`
	Options     string        `json:"options,omitempty" yaml:"options,omitempty"` // what follows the columns in CREATE TABLE, such as STRICT
	Notes       []string      `json:"notes,omitempty" yaml:"notes,omitempty"`     // triggers, checks and the like, which Schema does not carry over
}

// A Column is one column, and what its values are.
type Column struct {
	Name     string   `json:"name" yaml:"name"`
	Type     string   `json:"type" yaml:"type"` // in the target, as the database writes it
	Nullable bool     `json:"nullable,omitempty" yaml:"nullable,omitempty"`
	Default  *string  `json:"default,omitempty" yaml:"default,omitempty"`      // SQL expression; MySQL: with ON UPDATE where it has that
	Sources  []string `json:"sources,omitempty" yaml:"sources,omitempty,flow"` // those that have the column; none means all of the table's

	Collation string `json:"collation,omitempty" yaml:"collation,omitempty"` // where it is not the table's or the database's
	Generated string `json:"generated,omitempty" yaml:"generated,omitempty"` // the expression of a column that the database computes: it is not copied

	Role Role `json:"role" yaml:"role"`

	// Refers (with what follows it, ignored in other roles) says whose ids the values are: one Reference for RoleReference and
	// RoleList, one for each path for RoleJSON, one for each value of By for
	// RolePolymorphic.
	Refers []*Reference `json:"refers,omitempty" yaml:"refers,omitempty"`

	By        string   `json:"by,omitempty" yaml:"by,omitempty"`               // RolePolymorphic: the column that says which Reference it is; its NULL counts as the empty text
	Separator string   `json:"separator,omitempty" yaml:"separator,omitempty"` // RoleList: between the ids; none means a comma
	None      []string `json:"none,omitempty" yaml:"none,omitempty,flow"`      // values that stand for no row, such as 0
	Orphans   Orphans  `json:"orphans,omitempty" yaml:"orphans,omitempty"`     // what to do with an id of no row

	// Suspects are reasons to think that the Role is another one. They must be
	// settled by people: by setting Decided, whatever Role they decide on.
	Suspects []string `json:"suspects,omitempty" yaml:"suspects,omitempty"`
	Decided  bool     `json:"decided,omitempty" yaml:"decided,omitempty"`
}

// A Role is what the values of a column are.
type Role string

// The roles.
const (
	RolePlain       Role = "plain"       // copied as they are
	RoleKey         Role = "key"         // the ids of the table's rows: the only column of the primary key
	RoleReference   Role = "reference"   // the id of a row, in an integer or a text
	RoleJSON        Role = "json"        // ids at paths in JSON
	RoleList        Role = "list"        // ids in a delimited text, or in an array of PostgreSQL
	RolePolymorphic Role = "polymorphic" // the id of a row of the table that another column names
	RoleUndecided   Role = "undecided"   // an error in [Plan.Check]
)

// A Reference says whose ids values are.
type Reference struct {
	Table string `json:"table,omitempty" yaml:"table,omitempty"` // whose column of Role key they are values of; RolePolymorphic: none means of no table, so they are copied as they are
	Path  string `json:"path,omitempty" yaml:"path,omitempty"`   // RoleJSON: such as $.items[*].id, $.owner, $[*]
	Value string `json:"value,omitempty" yaml:"value,omitempty"` // RolePolymorphic: the value of the column By
}

// Orphans say what becomes of a reference to a row that does not exist. What
// is no id (an integer of 64 bits, without a plus sign or leading zeros) and not
// in None is an error whatever they say.
type Orphans string

// The ways to treat orphans.
const (
	OrphansFail Orphans = ""     // an error
	OrphansNull Orphans = "null" // NULL, or left out of a list or of JSON's arrays and null elsewhere; an array of PostgreSQL has NULL in its place
	OrphansDrop Orphans = "drop" // the row is not copied, nor what refers to it by references that drop
)

// A Unique is a unique key, and what to do where rows of several sources, or
// rows that the target has already, have equal values in it.
type Unique struct {
	Name    string   `json:"name,omitempty" yaml:"name,omitempty"` // for Schema; the primary key has none
	Columns []string `json:"columns,omitempty" yaml:"columns,omitempty,flow"`
	Rule    Rule     `json:"rule" yaml:"rule"`

	// Rename is the column that RuleSuffix changes; none means the only text
	// among Columns. Suffix is what it appends; none means an underscore and
	// the name of the source.
	Rename string `json:"rename,omitempty" yaml:"rename,omitempty"`
	Suffix string `json:"suffix,omitempty" yaml:"suffix,omitempty"`

	// Prefer are sources in the order of their precedence, where that is
	// another one than the plan's. Rows of the target come first in any case.
	Prefer []string `json:"prefer,omitempty" yaml:"prefer,omitempty,flow"`

	Suspects []string `json:"suspects,omitempty" yaml:"suspects,omitempty"` // clashes that Inspect found
	Decided  bool     `json:"decided,omitempty" yaml:"decided,omitempty"`
}

// A Rule says what becomes of rows that clash in a unique key.
type Rule string

// The rules.
const (
	RuleFail   Rule = "fail"   // an error
	RuleSuffix Rule = "suffix" // the later one is renamed
	RuleKeep   Rule = "keep"   // the first one stays; the other one is not copied, and what refers to it refers to the first one
	RuleMatch  Rule = "match"  // the same as keep, for dictionaries: the rows are one thing, and a difference in another plain column is an error
)

// A ForeignKey is a declared one.
type ForeignKey struct {
	Name     string   `json:"name,omitempty" yaml:"name,omitempty"`
	Columns  []string `json:"columns,omitempty" yaml:"columns,omitempty,flow"`
	Table    string   `json:"table" yaml:"table"`
	Refers   []string `json:"refers,omitempty" yaml:"refers,omitempty,flow"`
	OnDelete string   `json:"on_delete,omitempty" yaml:"on_delete,omitempty"`
	OnUpdate string   `json:"on_update,omitempty" yaml:"on_update,omitempty"`
}

// An Index is one that is not unique, or that columns alone do not describe: on
// expressions, on some rows, on the first characters, of another kind. For the
// latter there is the statement that makes it. A clash in a unique one is found
// only when the database refuses the row.
type Index struct {
	Name      string   `json:"name" yaml:"name"`
	Columns   []string `json:"columns,omitempty" yaml:"columns,omitempty,flow"`
	Statement string   `json:"statement,omitempty" yaml:"statement,omitempty"`
}

// Table returns the table of a name, or nil.
func (p *Plan) Table(name string) *Table {
	for _, t := range p.Tables {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// Column returns the column of a name, or nil.
func (t *Table) Column(name string) *Column {
	for _, c := range t.Columns {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// Key returns the column of Role key, or nil.
func (t *Table) Key() *Column {
	for _, c := range t.Columns {
		if c.Role == RoleKey {
			return c
		}
	}
	return nil
}

// In reports whether the source has the table.
func (t *Table) In(source string) bool {
	return len(t.Sources) == 0 || slices.Contains(t.Sources, source)
}

// In reports whether the source has the column, if it has the table.
func (c *Column) In(source string) bool {
	return len(c.Sources) == 0 || slices.Contains(c.Sources, source)
}

// Mints reports whether rows of the source get new ids.
func (t *Table) Mints(source string) bool { return slices.Contains(t.Mint, source) }

// IdsOf returns the name of the table whose ids a column holds, or "".
func (t *Table) IdsOf(column string) string {
	c := t.Column(column)
	switch {
	case c == nil:
	case c.Role == RoleKey:
		return t.Name
	case c.Role == RoleReference && len(c.Refers) == 1:
		return c.Refers[0].Table
	}
	return ""
}

// Merges reports whether rows of the table may come to stand for others.
func (t *Table) Merges() bool {
	return slices.ContainsFunc(t.Unique, func(u *Unique) bool { return u.Rule == RuleKeep || u.Rule == RuleMatch })
}

// SourcesOf returns the sources that have the table, in the plan's order.
func (p *Plan) SourcesOf(t *Table) []string {
	return slices.DeleteFunc(slices.Clone(p.Sources), func(s string) bool { return !t.In(s) })
}

// HoldsReferences reports whether the column holds ids of other rows.
func (c *Column) HoldsReferences() bool {
	return c.Role == RoleReference || c.Role == RoleJSON || c.Role == RoleList || c.Role == RolePolymorphic
}

// DropsRows reports whether rows are left out where the column refers to no row.
func (c *Column) DropsRows() bool { return c.HoldsReferences() && c.Orphans == OrphansDrop }

// AddNote appends a note, unless the table has it.
func (t *Table) AddNote(format string, args ...any) {
	if note := fmt.Sprintf(format, args...); !slices.Contains(t.Notes, note) {
		t.Notes = append(t.Notes, note)
	}
}
