package plan

// A Plan says what a merge does with every column of every table. [github.com/shardsnow/snow/merge.Inspect] proposes
// a plan, and people review and edit it. A merge writes nothing before each suspect of its plan is decided, see
// [Plan.Check].
//
// [Plan.WriteYAML] and [Plan.WriteJSON] write a plan, and [Read] reads it back.
type Plan struct {
	Version int    `json:"version" yaml:"version"` // 1
	Dialect string `json:"dialect" yaml:"dialect"` // MySQL, PostgreSQL or SQLite
	// names; where names of rows clash, the first source's stay
	Sources []string `json:"sources,omitempty" yaml:"sources,omitempty,flow"`

	// Databases are the names of several databases of each source whose tables are merged together: names of tables
	// begin with one of them and a dot. None means that each source is one database.
	Databases []string `json:"databases,omitempty" yaml:"databases,omitempty,flow"`

	// Types are the statements that [Plan.Schema] begins with: the extensions and enumerations of PostgreSQL.
	Types []string `json:"types,omitempty" yaml:"types,omitempty"`
	// views, routines and the like, which Schema leaves out
	Notes []string `json:"notes,omitempty" yaml:"notes,omitempty"`

	// Accepted are decisions of the plan that no person has taken, one line each. A merge does what they say, and its
	// forecasts and reports have each of them as open. People remove a line when they have looked at it.
	Accepted []string `json:"accepted,omitempty" yaml:"accepted,omitempty"`

	// Questions are the decisions that people have to make, the ones with most columns first.
	Questions []*Question `json:"questions,omitempty" yaml:"questions,omitempty"`

	Tables []*Table `json:"tables,omitempty" yaml:"tables,omitempty"`

	// After are statements that run on the target once, in their order, when the merge is verified. Databases of
	// the plan are in braces, as in {auth}.account.
	After []string `json:"after,omitempty" yaml:"after,omitempty"`
}

// A Table is a table that some or all sources have.
type Table struct {
	Name string `json:"name" yaml:"name"`

	// Sources are the sources that have the table. None means all.
	Sources []string `json:"sources,omitempty" yaml:"sources,omitempty,flow"`

	// Skip leaves the table out.
	Skip bool `json:"skip,omitempty" yaml:"skip,omitempty"`

	// PrimaryKey is the primary key of the target's table. Where it has none, equal rows are several rows: as many are
	// copied as there are. See [Table.RowKey].
	PrimaryKey []string `json:"primary_key,omitempty" yaml:"primary_key,omitempty,flow"`

	// NewIDs are the sources whose rows get a new id in the column of role key.
	// Rows of the other sources keep their ids.
	NewIDs []string `json:"new_ids,omitempty" yaml:"new_ids,omitempty,flow"`

	// IDs says what new ids are: snow, offset or dense. With offset and dense the columns keep their types.
	IDs IDs `json:"ids,omitempty" yaml:"ids,omitempty"`

	// Offsets are what IDsOffset adds to the old ids, by source. A run chooses the missing ones: the ids of
	// a source then come after all others.
	Offsets map[string]int64 `json:"offsets,omitempty" yaml:"offsets,omitempty,flow"`

	// Least and Most are the bounds of new ids that are offset or dense. None means 1, and the highest that the
	// type takes.
	Least int64 `json:"least,omitempty" yaml:"least,omitempty"`
	Most  int64 `json:"most,omitempty" yaml:"most,omitempty"`

	// Leave is how many numbers stay free above the ids that are offset or dense, for merges to come: the target
	// counts on above them.
	Leave int64 `json:"leave,omitempty" yaml:"leave,omitempty"`

	// Created is the column whose value is the time in a new id. Without one, new ids only have the order of the old
	// ones. Zone is the time zone of a column that has none itself, as time.LoadLocation takes it; none means UTC.
	Created string `json:"created,omitempty" yaml:"created,omitempty"`
	Zone    string `json:"zone,omitempty" yaml:"zone,omitempty"`

	// WithoutRows are conditions: rows of sources that meet one of them are not copied. What becomes of references
	// to them, Gone of each column says. Empty leaves out all rows, and keeps the table.
	WithoutRows []*Condition `json:"without_rows,omitempty" yaml:"without_rows,omitempty"`
	Empty       bool         `json:"empty,omitempty" yaml:"empty,omitempty"`

	// Without are columns of sources that are left out. A column of a source that is neither here nor in Columns
	// stops a run.
	Without []string `json:"without,omitempty" yaml:"without,omitempty,flow"`

	Columns []*Column `json:"columns,omitempty" yaml:"columns,omitempty"`
	// the unique keys, and the primary key where ids stay
	Unique []*Unique `json:"unique,omitempty" yaml:"unique,omitempty"`

	// Inspect fills in what follows, for [Plan.Schema] and for the order of tables. There is nothing to decide in it.
	ForeignKeys []*ForeignKey `json:"foreign_keys,omitempty" yaml:"foreign_keys,omitempty"`
	Indexes     []*Index      `json:"indexes,omitempty" yaml:"indexes,omitempty"`
	// what follows the columns in CREATE TABLE, such as STRICT
	Options string `json:"options,omitempty" yaml:"options,omitempty"`
	Comment string `json:"comment,omitempty" yaml:"comment,omitempty"`
	// triggers, checks and the like, which Schema leaves out
	Notes []string `json:"notes,omitempty" yaml:"notes,omitempty"`
}

// A Column is one column, and what its values are.
type Column struct {
	Name     string `json:"name" yaml:"name"`
	Type     string `json:"type" yaml:"type"` // as the database writes it; see [Plan.TargetType]
	Nullable bool   `json:"nullable,omitempty" yaml:"nullable,omitempty"`
	// SQL expression; MySQL: with ON UPDATE where it has that
	Default *string `json:"default,omitempty" yaml:"default,omitempty"`
	// the sources that have the column; none means all that have the table
	Sources []string `json:"sources,omitempty" yaml:"sources,omitempty,flow"`

	// where it differs from the table's or the database's
	Collation string `json:"collation,omitempty" yaml:"collation,omitempty"`
	// the expression of a column that the database computes: it is not copied
	Generated string `json:"generated,omitempty" yaml:"generated,omitempty"`
	// the sources number it: AUTO_INCREMENT, identity, serial. Schema does so where the table's IDs are numbers
	Numbered bool `json:"numbered,omitempty" yaml:"numbered,omitempty"`
	// MySQL: the rest of the definition, such as INVISIBLE or SRID 4326. SQLite: AUTOINCREMENT
	Options string `json:"options,omitempty" yaml:"options,omitempty"`
	Comment string `json:"comment,omitempty" yaml:"comment,omitempty"`

	Role Role `json:"role" yaml:"role"`

	// Refers says whose ids the values are: one Reference for RoleReference and RoleList, one for each path for
	// RoleJSON and RolePacked, one for each value of By for RolePolymorphic. For RoleName it says whose names they are.
	// Other roles ignore it, and all but RoleName need the six fields after it.
	Refers []*Reference `json:"refers,omitempty" yaml:"refers,omitempty"`

	// RolePolymorphic: the column whose value selects the Reference; NULL counts as the empty text. RolePacked: the
	// column with the other half
	By string `json:"by,omitempty" yaml:"by,omitempty"`
	// RoleList, and RolePacked of fields: what is between the ids; none means a comma
	Separator string `json:"separator,omitempty" yaml:"separator,omitempty"`
	// RolePacked: how ids are packed: bits N, high N, low N, fixed, fields, regexp EXPRESSION, php, lua or codec
	// NAME
	Format string `json:"format,omitempty" yaml:"format,omitempty"`
	// values that stand for no row, such as 0
	None []string `json:"none,omitempty" yaml:"none,omitempty,flow"`
	// what to do with the id of a row that does not exist
	Orphans Orphans `json:"orphans,omitempty" yaml:"orphans,omitempty"`
	// what to do with the id of a row that is left out; none means what Orphans says
	Gone Orphans `json:"gone,omitempty" yaml:"gone,omitempty"`

	// Combine says what value a row gets when rows of other sources are merged into it, by RuleKeep or RuleMatch.
	Combine Combine `json:"combine,omitempty" yaml:"combine,omitempty"`

	// Suspects are reasons to think that the role may be wrong. People set Decided when the role is right.
	Suspects []string `json:"suspects,omitempty" yaml:"suspects,omitempty"`
	Decided  bool     `json:"decided,omitempty" yaml:"decided,omitempty"`
}

// A Role is what the values of a column are.
type Role string

// The roles.
const (
	RolePlain Role = "plain" // copied as they are
	// the ids of the rows: all of the primary key, or of a unique key, and never NULL
	RoleKey         Role = "key"
	RoleReference   Role = "reference"   // the id of a row, in an integer or a text
	RoleJSON        Role = "json"        // ids at paths in JSON
	RoleList        Role = "list"        // ids in a delimited text, or in an array of PostgreSQL
	RolePolymorphic Role = "polymorphic" // the id of a row of the table that another column names
	RolePacked      Role = "packed"      // ids at places of a value of some format
	// the name of a row of the same source: where RuleSuffix gives the row a new name, the value becomes that
	RoleName      Role = "name"
	RoleUndecided Role = "undecided" // nobody knows yet: an error in [Plan.Check]
)

// A Reference says whose ids values are.
type Reference struct {
	// that has the rows; RolePolymorphic, and RolePacked of bits: none means that the values are no ids, and are
	// copied as they are
	Table string `json:"table,omitempty" yaml:"table,omitempty"`
	// RoleJSON: such as $.items[*].id, $.owner, $[*], or $.by.*~ for names of members. RolePacked: the place in the
	// format. RoleName: the column of Table that has the names
	Path string `json:"path,omitempty" yaml:"path,omitempty"`
	// RolePolymorphic: the value of the column By; AnyKind stands for all that no other reference has
	Value string `json:"value,omitempty" yaml:"value,omitempty"`
	// RolePolymorphic: how ids are in values of this kind, where they are not one id alone: list, list and a
	// separator, json, or a format of RolePacked. Then Path says where, and several references have the same Value
	Format string `json:"format,omitempty" yaml:"format,omitempty"`
}

// AnyKind is the value of a [Reference] for all values of the column By that no other one has.
const AnyKind = "*"

// The formats of a [Reference] of RolePolymorphic, besides the ones of RolePacked. What is between the ids of a list
// follows a space; nothing means a comma.
const (
	formatList = "list"
	formatJSON = "json"
)

// Orphans says what becomes of a reference to a row that does not exist. A value that is no id (an integer of 64 bits
// without a plus sign or leading zeros) is an error in any case, unless it is in None.
type Orphans string

// The ways to treat orphans.
const (
	OrphansFail Orphans = "" // an error
	// it becomes NULL, or null in JSON; it is left out of lists and of arrays and names in JSON, but not of arrays
	// of PostgreSQL. In a column that can't be NULL it becomes the first value of None, and in RolePacked the first
	// number there
	OrphansNull Orphans = "null"
	// the row is not copied: it is left out, as rows of which a condition is true are. So are rows that refer to it
	// by a reference whose Gone, or Orphans, is OrphansDrop
	OrphansDrop Orphans = "drop"
)

// A Unique is a unique key, and says what to do where two rows clash: where they have equal values in it. They may
// be rows of two sources, or of a source and the target.
type Unique struct {
	Name    string   `json:"name,omitempty" yaml:"name,omitempty"` // for Schema; the primary key has none
	Columns []string `json:"columns,omitempty" yaml:"columns,omitempty,flow"`
	Rule    Rule     `json:"rule" yaml:"rule,omitempty"`

	// Rename is the column that RuleSuffix or RuleRenumber changes; none means the only plain text, or the only
	// plain integer, among Columns. Suffix is what RuleSuffix appends; none means an underscore and the name of the
	// source.
	Rename string `json:"rename,omitempty" yaml:"rename,omitempty"`
	Suffix string `json:"suffix,omitempty" yaml:"suffix,omitempty"`

	// Least and Most are the bounds of the numbers that RuleRenumber gives. Without them it begins with 0, and ends
	// with the highest that the type takes.
	Least int64 `json:"least,omitempty" yaml:"least,omitempty"`
	Most  int64 `json:"most,omitempty" yaml:"most,omitempty"`

	// Template makes the new name in place of Suffix, of {name}, {source} and the number {n}, such as {name}[{n}].
	// The name is cut so that all of it fits. Pattern is a regular expression that all of a new name must match.
	Template string `json:"template,omitempty" yaml:"template,omitempty"`
	Pattern  string `json:"pattern,omitempty" yaml:"pattern,omitempty"`

	// Winner are SQL expressions over a row, for RuleSuffix: of rows of sources that clash, the one with the
	// greatest value in the first of them keeps its name, among equal ones that with the greatest in the next, and
	// then the first by Prefer. NULL is below numbers, and those are below texts. Both renames all rows of sources
	// that clash.
	Winner []string `json:"winner,omitempty" yaml:"winner,omitempty"`
	Both   bool     `json:"both,omitempty" yaml:"both,omitempty"`

	// Set are columns that rows get another value in when they are renamed, with SQL expressions over the row of
	// the source, such as at_login | 1.
	Set map[string]string `json:"set,omitempty" yaml:"set,omitempty"`

	// Prefer are the sources in the order of their precedence, where it differs
	// from that of the plan. Rows of the target come first in any case.
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
	// the first row stays; the other one is not copied, and references to it become references to the first
	RuleKeep  Rule = "keep"
	RuleMatch Rule = "match" // as keep, for dictionaries: a difference in another plain column is an error

	// RuleRenumber gives rows of later sources the lowest numbers that are free, in the order of their old ones.
	// Where one row of a source clashes, so it is for all of its rows that are equal in the other columns of the
	// key, such as the slots of an account.
	RuleRenumber Rule = "renumber"
)

// A ForeignKey is a foreign key that the schema declares.
type ForeignKey struct {
	Name     string   `json:"name,omitempty" yaml:"name,omitempty"`
	Columns  []string `json:"columns,omitempty" yaml:"columns,omitempty,flow"`
	Table    string   `json:"table" yaml:"table"`
	Refers   []string `json:"refers,omitempty" yaml:"refers,omitempty,flow"`
	OnDelete string   `json:"on_delete,omitempty" yaml:"on_delete,omitempty"`
	OnUpdate string   `json:"on_update,omitempty" yaml:"on_update,omitempty"`
}

// An Index is an index that is no unique key: because it is not unique, or because it needs a Statement, being on
// expressions, on some rows or on the first characters, or of a special kind. A merge finds clashes in a unique index
// of the latter sort only when the database refuses a row.
type Index struct {
	Name      string   `json:"name" yaml:"name"`
	Columns   []string `json:"columns,omitempty" yaml:"columns,omitempty,flow"`
	Statement string   `json:"statement,omitempty" yaml:"statement,omitempty"`
}

// A Condition says which rows of a table do not go along.
type Condition struct {
	// Where is a condition in the SQL of the sources, such as level < 10 AND last_login < '2020-01-01'. It is
	// evaluated once, in the source, before anything is decided on rows. Databases of the plan are in braces, as in
	// {auth}.account.
	Where string `json:"where" yaml:"where"`

	// Except is another one: rows for which it is true, or neither true nor false, stay.
	Except string `json:"except,omitempty" yaml:"except,omitempty"`

	// whose rows; none means all sources that have the table
	Sources []string `json:"sources,omitempty" yaml:"sources,omitempty,flow"`
}

// Combine says what value a row gets in a column when rows of other sources are merged into it. NULL counts as no
// value.
type Combine string

// The ways to combine values.
const (
	CombineKeep  Combine = ""      // its own, even if that is NULL
	CombineSum   Combine = "sum"   // the sum of all; it is an error if that does not fit
	CombineMax   Combine = "max"   // the greatest: numbers are compared as numbers, all else as texts
	CombineMin   Combine = "min"   // the least
	CombineFirst Combine = "first" // the first that is not NULL, by the precedence of sources
	CombineLast  Combine = "last"  // the last that is not NULL
)

// IDs says what the new ids of rows are.
type IDs string

// The kinds of new ids. Default: IDsSnow. IDsOffset and IDsDense are numbers like the ones that the database
// counts up: columns keep their types and defaults, and the target numbers rows as the sources did.
const (
	IDsSnow   IDs = "snow"   // of 64 bits, with the time of the row and a worker number that nobody else has
	IDsOffset IDs = "offset" // the old id and a number, which is the same for all rows of a table of a source
	IDsDense  IDs = "dense"  // the next numbers that are free, in the order of the old ids
)

// A Question is one decision about all columns of one meaning, such as "guid" in 34 tables. [Plan.Check] refuses a plan
// while one of its questions has no answer, unless each of its columns is decided by itself, see [Column].Decided.
type Question struct {
	Name string `json:"name" yaml:"name"` // unique in the plan, such as "guid", "sender"
	// what is asked; none means whether the columns have ids of the best candidate
	Text string `json:"text,omitempty" yaml:"text,omitempty"`

	// Columns are the columns that the answer is about, as "table.column", in the order of the plan. A column is in one
	// question at most.
	Columns []string `json:"columns" yaml:"columns"`

	// best first; none where nothing speaks for any. One of less than 0.5 is not proposed, see [Question.Best]
	Candidates []*Candidate `json:"candidates,omitempty" yaml:"candidates,omitempty"`
	// names, values found and not found, ranges, types, indexes, joins
	Evidence []string `json:"evidence,omitempty" yaml:"evidence,omitempty"`
	// what the rest of the plan follows from the best candidate
	Follows []string `json:"follows,omitempty" yaml:"follows,omitempty"`

	// Answer is the name of the table whose ids the values are, AnswerPlain or AnswerKey. Empty means not decided.
	Answer string `json:"answer" yaml:"answer"`
}

// Answers that name no table.
const (
	AnswerPlain = "plain" // the values are no ids, and are copied as they are
	AnswerKey   = "key"   // the values are the ids of the rows of the column's own table
	AnswerEach  = "each"  // the columns mean different things: the roles that the columns have in the plan
	AnswerYes   = "yes"   // in a file of decisions: as it is proposed
	// in a file of decisions, of the key of a table that is the same on several sources: all rows are copied, with new ids
	AnswerBoth = "both"
)

// A Candidate is a possible answer.
type Candidate struct {
	Answer    string  `json:"answer" yaml:"answer"`       // see Question.Answer
	Certainty float64 `json:"certainty" yaml:"certainty"` // from 0 to 1
}
