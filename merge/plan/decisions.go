package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"
)

// DecisionsVersion is the version of files of decisions. Files of version 1 are complete plans.
const DecisionsVersion = 2

// Decisions are the short form of a plan: what people decide, and what is open. All the rest of a plan follows from the
// schemas of the sources, so that [Decisions.Complete] makes the plan of both. [Shorten] finds the decisions in a plan.
//
// Columns are named as table.column and tables by their names; with Databases as database.table.column and
// database.table. A star stands for any characters within a name, and a backslash makes a star, dot, comma,
// parenthesis or backslash one of the name's own. Where the full name of a column and a pattern disagree, the full
// name decides. Two entries that name a column alike and disagree are an error.
//
// The same language without sources and schema is a template, see [Decisions.Apply].
type Decisions struct {
	Version int      `yaml:"version"` // DecisionsVersion
	Dialect string   `yaml:"dialect"` // MySQL, PostgreSQL or SQLite
	Sources []string `yaml:"sources,omitempty,flow"`

	Databases []string `yaml:"databases,omitempty,flow"` // see Plan.Databases

	Questions []*Asked `yaml:"questions,omitempty"`
	Accepted  []string `yaml:"accepted,omitempty"` // see Plan.Accepted

	// the sources whose rows get new ids, in all tables that have a key
	NewIDs  []string `yaml:"new_ids,omitempty,flow"`
	KeepIDs []Name   `yaml:"keep_ids,omitempty,flow"` // tables whose rows keep their ids

	IDs     IDs              `yaml:"ids,omitempty"`          // what new ids are, in all tables: snow, offset or dense
	Offsets map[string]int64 `yaml:"offsets,omitempty,flow"` // what is added to the old ids of each source, with offset
	// how many numbers stay free for merges to come, with offset and dense
	Leave int64 `yaml:"leave,omitempty"`

	Created []Name `yaml:"created,omitempty,flow"` // the columns whose value is the time in a new id; one of a table
	Zone    string `yaml:"zone,omitempty"`         // the time zone of values that have none. Default: UTC
	Skip    []Name `yaml:"skip,omitempty,flow"`    // tables that are left out

	References []*Meaning `yaml:"references,omitempty"`
	Keys       []Name     `yaml:"keys,omitempty,flow"`  // columns of role key
	Plain      []Name     `yaml:"plain,omitempty,flow"` // columns of role plain

	// Along are tables whose rows take the rows with them that refer to them: where a row is left out, each reference to
	// it has gone: drop, and in lists and JSON gone: null, unless the plan says something else of its column
	Along []*Along `yaml:"along,omitempty"`

	Unique []*Clash `yaml:"unique,omitempty"`

	After []string `yaml:"after,omitempty"` // see Plan.After

	// Types replaces the statements that Schema begins with.
	Types []string `yaml:"types,omitempty"`

	// Tables changes single fields of what follows from all of the above and from the schemas.
	Tables tableChanges `yaml:"tables,omitempty"`

	// Schema are the tables that the decisions were made for, as table=digest of its definition.
	Schema []Name `yaml:"schema,omitempty,flow"`
}

// A Meaning says whose ids the values of some columns are: one of To, List, JSON, By and Format; or, by Name, whose
// names.
type Meaning struct {
	To        string `yaml:"to,omitempty"`        // RoleReference: the table that has the rows
	List      string `yaml:"list,omitempty"`      // RoleList: the same
	Separator string `yaml:"separator,omitempty"` // of a list or of fields; none means a comma
	JSON      pairs  `yaml:"json,omitempty"`      // RoleJSON: path: table
	// RolePolymorphic: the column beside them whose value selects the table. With Format high or low, the column
	// with the other half
	By string `yaml:"by,omitempty"`
	// with By, value: table, or plain where the values are no ids; where they have several, list, json or format as
	// here. AnyKind stands for all values that are not there
	Kinds kinds `yaml:"kinds,omitempty"`
	// RolePacked: how ids are packed in the values: bits N, high N, low N, fixed, fields, regexp EXPRESSION, php,
	// lua or codec NAME
	Format string `yaml:"format,omitempty"`
	// with Format, place: table; with bits, plain where the values are no ids
	IDs pairs `yaml:"ids,omitempty"`
	// RoleName: the column with the names, as table.column. Values follow where a row is renamed
	Name    string  `yaml:"name,omitempty"`
	None    values  `yaml:"none,omitempty,flow"` // values that stand for no row
	Orphans Orphans `yaml:"orphans,omitempty"`   // what to do with the id of a row that does not exist
	// what to do with the id of a row that is left out; none means what Orphans says
	Gone     Orphans `yaml:"gone,omitempty"`
	Proposed bool    `yaml:"proposed,omitempty"` // Inspect found it, and nobody has confirmed it
	Columns  []Name  `yaml:"columns,omitempty,flow"`
}

// An Along is a table whose rows take others with them, see Decisions.Along.
type Along struct {
	Table  string `yaml:"table"`
	Except []Name `yaml:"except,omitempty,flow"` // columns of which that is not so
}

// A Clash says what to do where rows clash in some unique keys.
type Clash struct {
	Rule   Rule     `yaml:"rule"`
	Rename string   `yaml:"rename,omitempty"`
	Suffix string   `yaml:"suffix,omitempty"`
	Prefer []string `yaml:"prefer,omitempty,flow"`

	Template string            `yaml:"template,omitempty"` // see Unique, and so with those that follow
	Pattern  string            `yaml:"pattern,omitempty"`
	Winner   []string          `yaml:"winner,omitempty"`
	Both     bool              `yaml:"both,omitempty"`
	Set      map[string]string `yaml:"set,omitempty"`
	Least    int64             `yaml:"least,omitempty"`
	Most     int64             `yaml:"most,omitempty"`

	Proposed bool   `yaml:"proposed,omitempty"` // Inspect found it, and nobody has confirmed it
	Keys     []Name `yaml:"keys,flow"`          // as table(column, column), or table.column
}

// An Asked is a question in a file: a [Question], the suspects of similar columns, or the suspects of unique keys.
type Asked struct {
	Name    string `yaml:"name,omitempty"`
	Text    string `yaml:"text,omitempty"` // none asks whose ids the columns have
	Columns []Name `yaml:"columns,omitempty,flow"`
	Unique  doubts `yaml:"unique,omitempty"` // unique keys instead of columns, and what is doubtful about each

	// Proposed is what the columns are until the question is answered, and what the answer yes confirms: a table,
	// plain, key, undecided, or several parts as in an answer. None means the best candidate, and each that there
	// is no proposal. Of unique keys it is the rule.
	Proposed Answer `yaml:"proposed,omitempty"`

	// None are values for no row, whatever table is the answer. Columns of a primary or unique key have none by it:
	// an entry of references says it of them.
	None values `yaml:"none,omitempty,flow"`

	Candidates []*Candidate `yaml:"candidates,omitempty,flow"`
	Evidence   []string     `yaml:"evidence,omitempty"`
	Follows    []string     `yaml:"follows,omitempty,flow"`
	Suspects   []string     `yaml:"suspects,omitempty"`

	Answer Answer `yaml:"answer"`
}

// An Answer is what people write beside a question.
type Answer struct {
	Text    string   // a table, AnswerPlain, AnswerKey, AnswerEach or AnswerYes; for a unique key a [Rule] or AnswerYes
	Meaning *Meaning // instead of Text: several tables, or what else there is to say; of a unique key it is nil
	Fields  *Fields  // instead of both: what is to be changed
	line    int
}

// A Name is a name or pattern of a table, column or unique key, and the line of the file that has it.
type Name struct {
	Text string
	Line int // from 1 on; 0 outside of files
}

// doubts is the form of a []Doubt in a file: unique keys by their names, and what is doubtful about each.
type doubts []Doubt

// A Doubt is what is doubtful about a unique key.
type Doubt struct {
	Key      Name
	Suspects []string
}

// pairs is the form of a []Pair in a file: texts by texts, in their order.
type pairs []Pair

// A Pair is a text by a text: a table by a path, by a value, or by a place in a format.
type Pair struct{ Key, Value string }

// values is the form of a []string in a file: values of any type, as texts.
type values []string

// tableChanges is the form of a []TableChange in a file: a mapping by the names of tables.
type tableChanges []TableChange

// A TableChange changes single fields of one table and its columns, see [Table] and [Column]; columns is a mapping by
// their names.
type TableChange struct {
	Table  Name
	fields *yaml.Node // a mapping
}

// displayWidth is what MariaDB and older versions of MySQL write behind an integer type, and newer versions do not.
var displayWidth = regexp.MustCompile(`\b((?:tiny|small|medium|big)?int(?:eger)?) ?\(\d+\)`)

// digestOf returns eight characters that change, but for an accident of one in four billion, if a table of a plan
// without decisions does, in anything that a decision may depend on: its columns, their types, its keys, the
// sources that have it.
func digestOf(t *Table) string {
	h := sha256.New()
	write := func(values ...any) { _, _ = fmt.Fprintf(h, "%q\n", values) }
	write(t.Name, t.Sources, t.PrimaryKey)
	for _, c := range t.Columns {
		typ := displayWidth.ReplaceAllString(strings.ToLower(c.Type), "$1")
		write(c.Name, typ, fmt.Sprint(c.Nullable), c.Generated, c.Sources)
	}
	for _, u := range t.Unique {
		write("unique", u.Columns)
	}
	for _, k := range t.ForeignKeys {
		write("foreign", k.Columns, k.Table, k.Refers)
	}
	return hex.EncodeToString(h.Sum(nil))[:8]
}

// IsZero reports whether nobody has answered.
func (a Answer) IsZero() bool { return a.Text == "" && a.Meaning == nil && a.Fields == nil }

// kinds is the form of a []Kind in a file: a mapping by values.
type kinds []Kind

// A Kind says what the values of a column are where the column By has some value: AnyKind stands for all that no other
// kind has.
type Kind struct {
	Value string
	// a table, plain, or how several ids are in the value: list, json or format
	Is Answer
}

// addKind adds a reference to the last kind, if it has the same value, or a new one.
func (k kinds) addKind(r *Reference) kinds {
	table := r.Table
	if table == "" {
		table = AnswerPlain
	}
	if r.Format == "" {
		return append(k, Kind{Value: r.Value, Is: Answer{Text: table}})
	}
	one := (&Column{}).kind(r)
	m := &Meaning{Separator: one.Separator}
	if last := len(k) - 1; last >= 0 && k[last].Value == r.Value && k[last].Is.Meaning != nil {
		m, k = k[last].Is.Meaning, k[:last]
	}
	switch one.Role {
	case RoleList:
		m.List = r.Table
	case RoleJSON:
		m.JSON = append(m.JSON, Pair{r.Path, table})
	default:
		m.Format, m.IDs = one.Format, append(m.IDs, Pair{r.Path, table})
	}
	return append(k, Kind{Value: r.Value, Is: Answer{Meaning: m}})
}

// hasTwice reports whether two kinds have one value.
func (k kinds) hasTwice() bool {
	seen := map[string]bool{}
	for _, one := range k {
		seen[one.Value] = true
	}
	return len(seen) < len(k)
}
