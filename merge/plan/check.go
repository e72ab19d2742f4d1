package plan

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/merge/internal/sqltype"
)

// Check returns what is wrong with the plan as a join of [*Error], or nil: suspects and columns that are not
// decided, names that do not exist, roles that do not fit the types or the foreign keys, impossible rules of unique
// keys. It asks no database: a run finds out whether the sources are as the plan says.
func (p *Plan) Check() error {
	c := &checker{plan: p, dialect: dialectOf(p.Dialect)}
	c.faultIf(p.Version != 1, "", "", "version %d: want 1", p.Version)
	c.faultIf(c.dialect == 0, "", "", "dialect %q: want MySQL, PostgreSQL or SQLite", p.Dialect)
	if err := p.CheckSources(); err != nil {
		c.fault("", "", "%v", err)
	}
	if err := checkNil(p); err != nil {
		c.fault("", "", "%v", err)
		return errors.Join(c.errs...)
	}
	c.questions()
	c.databases()
	for i, text := range p.After {
		c.faultIf(strings.TrimSpace(text) == "", "", "", "after: statement %d is empty", i+1)
	}
	for i, t := range p.Tables {
		switch {
		case t.Name == "":
			c.fault("", "", "a table has no name")
		case p.Table(t.Name) != p.Tables[i]:
			c.fault(t.Name, "", "it is there twice")
		case !t.Skip:
			c.table(t)
			if _, err := p.Precedence(t); err != nil {
				c.errs = append(c.errs, err)
			}
		}
	}
	if _, err := p.MintOrder(); err != nil {
		c.errs = append(c.errs, err)
	}
	return errors.Join(c.errs...)
}

func (c *checker) table(t *Table) {
	c.sources(t, "", "sources", t.Sources)
	c.sources(t, "", "new_ids", t.NewIDs)
	c.numbers(t)
	c.columns(t, "primary_key", t.PrimaryKey)
	if _, ok := t.RowID(); !ok && c.dialect == sqldialect.SQLite && len(t.RowKey()) == 0 {
		c.fault(t.Name, "", "no primary key, and its columns hide the rowid of SQLite: name columns that tell its rows apart, or skip it")
	}
	for _, name := range t.PrimaryKey {
		if column := t.Column(name); column != nil && len(column.Sources) > 0 {
			c.fault(t.Name, name, "is in the primary key, so all the sources of the table must have it")
		}
	}
	c.faultIf(len(t.NewIDs) > 0 && t.Key() == nil, t.Name, "", "new_ids names sources, but no column is a key")
	for i, column := range t.Columns {
		switch {
		case column.Name == "":
			c.fault(t.Name, "", "a column has no name")
		case t.Column(column.Name) != t.Columns[i]:
			c.fault(t.Name, column.Name, "it is there twice")
		default:
			(&columnChecker{c, t, column}).check()
		}
	}
	c.created(t)
	c.losing(t)
	for _, u := range t.Unique {
		c.unique(t, u)
	}
	for _, k := range t.ForeignKeys {
		c.foreignKey(t, k)
	}
	for _, i := range t.Indexes {
		c.faultIf(i.Statement == "" && len(i.Columns) == 0, t.Name, "", "index %q has neither columns nor a statement", i.Name)
	}
}

func (c *checker) unique(t *Table, u *Unique) {
	name := fmt.Sprintf("unique key %q", u.Columns)
	if len(u.Columns) == 0 {
		c.fault(t.Name, "", "a unique key has no columns")
		return
	}
	c.columns(t, name, u.Columns)
	c.undecided(t, u.Columns[0], u.Suspects, u.Decided)
	c.sources(t, "", name+": prefer", u.Prefer)
	switch u.Rule {
	case RuleKeep, RuleMatch:
		if t.LosesRows() && len(t.RowKey()) == 0 {
			column := ""
			if drops := first(t.Columns, (*Column).DropsRows); drops != nil {
				column = drops.Name
			}
			c.fault(t.Name, column, "%s: rule %s: rows are left out, and nothing tells which in a table without a primary key, so rows could be merged into those: name columns that are unique as primary_key, or choose fail or suffix", name, u.Rule)
		}
		fallthrough
	case RuleFail:
		c.faultIf(u.renames(), t.Name, "", "%s: template, pattern, winner, both and set are for rule suffix", name)
		c.faultIf(u.Least != 0 || u.Most != 0, t.Name, "", "%s: least and most are for rule renumber", name)
		return
	case RuleRenumber:
		c.renumbering(t, u, name)
		return
	case RuleSuffix:
		c.faultIf(u.Least != 0 || u.Most != 0, t.Name, "", "%s: least and most are for rule renumber", name)
	default:
		c.fault(t.Name, "", "%s: rule %q: want fail, suffix, keep, match or renumber", name, u.Rule)
		return
	}
	c.renaming(t, u, name)
	column := t.RenameColumn(u, c.dialect)
	switch {
	case column == nil:
		c.fault(t.Name, "", "%s: rename: want one of its columns that is a text", name)
	case column.Role != RolePlain || column.Generated != "" || !slices.Contains(u.Columns, column.Name) ||
		c.dialect != sqldialect.SQLite && sqltype.Of(c.dialect, column.Type).Kind != sqltype.Text:
		c.fault(t.Name, column.Name, "%s: can't be renamed: it is no plain text of the key", name)
	default:
		if tied := c.plan.Tied(t, column.Name); len(tied) > 0 {
			c.fault(t.Name, column.Name, "%s: can't be renamed: foreign keys tie %s to it, whose values would not follow: choose keep, match or fail", name, several(tied))
		}
	}
}

func (c *checker) foreignKey(t *Table, k *ForeignKey) {
	name := fmt.Sprintf("foreign key %q", k.Columns)
	c.columns(t, name, k.Columns)
	parent := c.plan.Table(k.Table)
	switch {
	case len(k.Columns) == 0 || len(k.Columns) != len(k.Refers):
		c.fault(t.Name, "", "%s has %d columns that refer to %d", name, len(k.Columns), len(k.Refers))
		return
	case parent == nil:
		c.fault(t.Name, "", "%s refers to table %q, which does not exist", name, k.Table)
		return
	case parent.Skip:
		return
	}
	c.columns(parent, name+" of "+strconv.Quote(t.Name), k.Refers)
	for i, column := range k.Columns {
		if t.Column(column) == nil || parent.Column(k.Refers[i]) == nil || t.Column(column).Role == RoleUndecided {
			continue
		}
		got, want := t.IDsOf(column), parent.IDsOf(k.Refers[i])
		switch {
		case got == want:
		case want == "":
			c.fault(t.Name, column, "is a reference to %q, but its foreign key is to %q, which holds no ids", got, k.Table+"."+k.Refers[i])
		default:
			c.fault(t.Name, column, "its foreign key is to %q, so it must be a reference to table %q", k.Table+"."+k.Refers[i], want)
		}
	}
}

// numbers complains of fields that are not for the table's IDs, or out of their bounds.
func (c *checker) numbers(t *Table) {
	c.faultIf(t.IDs != "" && t.IDs != IDsSnow && !t.IDs.AreNumbers(), t.Name, "", "ids %q: want snow, offset or dense", t.IDs)
	c.faultIf(!t.IDs.AreNumbers() && (t.Least != 0 || t.Most != 0 || t.Leave != 0), t.Name, "", "least, most and leave are for ids that are offset or dense")
	c.faultIf(t.IDs != IDsOffset && len(t.Offsets) > 0, t.Name, "", "offsets are for ids that are offset")
	c.faultIf(t.Least < 0 || t.Most < 0 || t.Leave < 0, t.Name, "", "least, most and leave: want numbers from 0 on")
	c.faultIf(t.Most > 0 && t.Least > t.Most, t.Name, "", "least is %d, and most %d", t.Least, t.Most)
	for _, source := range slices.Sorted(maps.Keys(t.Offsets)) {
		c.sources(t, "", "offsets", []string{source})
		c.faultIf(t.Offsets[source] < 0, t.Name, "", "the offset of %q is %d: want a number from 0 on", source, t.Offsets[source])
	}
}

// questions complains of questions that have no answer, or one that can't be.
func (c *checker) questions() {
	for i, q := range c.plan.Questions {
		name := "question " + strconv.Quote(q.Name)
		c.faultIf(slices.ContainsFunc(c.plan.Questions[:i], func(other *Question) bool { return other.Name == q.Name }), "", "", "%s is there twice", name)
		switch {
		case q.Answer == "" && isDecided(c.plan, q):
		case q.Answer == "":
			c.fault("", "", "%s is not decided: %s", name, q)
		case q.Answer != AnswerPlain && q.Answer != AnswerKey && q.Answer != AnswerEach && c.plan.Table(q.Answer) == nil:
			c.fault("", "", "%s: the answer %q is no table", name, q.Answer)
		default:
			c.answered(q)
		}
	}
}

// answered complains of columns of a question that nobody has decided and that are not what the answer says.
func (c *checker) answered(q *Question) {
	for _, t := range c.plan.Tables {
		for _, column := range t.Columns {
			if !t.Skip && !column.Decided && slices.Contains(q.Columns, t.Name+"."+column.Name) && !column.says(q.Answer) && !column.says(rowsOf(c.plan, q.Answer)) {
				c.fault(t.Name, column.Name, "question %q has the answer %s, and the role is %s: a complete plan does what the roles say", q.Name, q.Answer, column.Role)
			}
		}
	}
}

// databaseName is what names of databases are in a plan, so that none has a dot.
var databaseName = regexp.MustCompile("^[A-Za-z0-9_-]+$")

const ofSQLite = "a database of SQLite is a file; put the tables into one, or merge one file after the other"

// databases complains of databases that can't be, and of tables that are in none.
func (c *checker) databases() {
	p := c.plan
	c.faultIf(len(p.Databases) > 0 && c.dialect == sqldialect.SQLite, "", "", "several databases: %s", ofSQLite)
	for i, name := range p.Databases {
		c.faultIf(!databaseName.MatchString(name), "", "", "database %q: want letters, digits, underscores or hyphens of ASCII", name)
		c.faultIf(slices.Contains(p.Databases[:i], name), "", "", "database %q is there twice", name)
	}
	for _, t := range p.Tables {
		if database, name := p.Split(t.Name); len(p.Databases) > 0 && (database == "" || name == "") {
			c.fault(t.Name, "", "its name does not begin with one of the databases %q and a dot", p.Databases)
		}
	}
}

// CheckDatabases returns an [*Error] if a source or the target, as where says, does not have the databases of the plan:
// databases are their names there, by their names in the plan.
func (p *Plan) CheckDatabases(where string, databases map[string]string) error {
	fault := func(reason string) error { return &Error{Reason: where + ": " + reason} }
	if len(databases) > 0 && p.Dialect == sqldialect.SQLite.String() {
		return fault("several databases: " + ofSQLite)
	}
	if names := slices.Sorted(maps.Keys(databases)); !slices.Equal(names, slices.Sorted(slices.Values(p.Databases))) {
		return fault("its databases are " + strings.Join(names, ", ") + ", and those of the plan are " + strings.Join(p.Databases, ", "))
	}
	seen := map[string]string{}
	for _, name := range p.Databases {
		switch is := databases[name]; {
		case is == "":
			return fault("database " + strconv.Quote(name) + " has no name there")
		case seen[is] != "":
			return fault("databases " + strconv.Quote(seen[is]) + " and " + strconv.Quote(name) + " are both " + strconv.Quote(is))
		case is != name && p.Dialect == sqldialect.Postgres.String():
			return fault("database " + strconv.Quote(name) + " is schema " + strconv.Quote(is) + ": types, defaults and indexes name schemas of PostgreSQL, so they must be called alike everywhere; rename it in a copy")
		default:
			seen[is] = name
		}
	}
	return nil
}
