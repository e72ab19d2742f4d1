package gormsnow

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow/internal/analysis"
	"github.com/shardsnow/snow/internal/idcolumn"
)

// A CheckError is one finding of [Check].
type CheckError struct {
	Model   string // Go type of the model, for example "shop.Order"
	Field   string // field of the model; empty if the finding is about its table
	Column  string // "orders.id", or "orders" for the table; empty if the finding is about the model alone
	Problem string // what is wrong
	Remedy  string // what to do about it
}

// Error returns the place, the problem and the remedy.
func (e *CheckError) Error() string {
	text := "gormsnow: check: model " + e.Model
	if e.Field != "" {
		text += ", field " + e.Field
	}
	if e.Column != "" {
		text += ", column " + e.Column
	}
	text += ": " + e.Problem
	if e.Remedy != "" {
		text += ": " + e.Remedy
	}
	return text
}

// Check compares models with their live tables, and returns what would make
// inserts go wrong later, often silently. Run it when a program starts, after its
// migrations. If the tables were made for other keys, also run it once before the
// migrations:
//
//	err := gormsnow.Check(db, &Order{}, &Customer{})
//
// It finds
//   - tags that the plugin refuses, and foreign keys that can't hold an id; only
//     the first of each model
//   - a primary key that GORM infers to be AUTO_INCREMENT, or that is
//     AUTO_INCREMENT, serial, identity or AUTOINCREMENT in the table, which
//     AutoMigrate does not change
//   - a snow.ID in a composite primary key that has neither the tag snowflake nor
//     snowflake:false, and no association that fills it
//   - a column that should hold ids but is missing, is narrower than 64 bits,
//     loses digits, or is a text although the model has a number, so that it sorts
//     and compares as a text
//   - on MySQL, a key that is unsigned in its table, like gorm.Model's key,
//     although AutoMigrate will create signed foreign keys to it, or the reverse;
//     run Check before the migration to find this
//   - a many-to-many join table whose pairs are not unique, so that saving an
//     association again adds its rows again
//   - a primary key, a unique field or a unique index of the model that the table
//     does not have, except partial indexes
//   - an id in the table that is greater than any id that the generators can make
//     now, so that new rows sort before old ones or clash with them. This reads the
//     largest primary key, if that is a number, and tolerates clocks that differ by
//     a minute. Check only does this if the plugin's source has a method Layout, as
//     [snow.Generator] has. If the layout has lanes, only ids above the ids of the
//     last lane are found
//   - a string field of a shard tag whose column takes different texts as equal, by its
//     collation or type, as the defaults of MySQL and MariaDB do; and a unique key, of a
//     model with a shard tag, that has neither the field of the tag nor a key
//   - a negative primary key in the table, which a snow.ID can't read
//   - a table that does not exist, or that this user may not see.
//
// Check reads the tables of the models and of their many-to-many associations. If
// db.Table is set, or a model's table name has a schema, it is that table;
// otherwise the database finds it as it does for queries. Scopes are ignored.
//
// The error joins all findings, each a [*CheckError], with the errors of
// queries and of models that GORM can't parse, and with [ErrNoPlugin] if db has no
// plugin; its Unwrap() []error lists them. It is
// [gorm.ErrDryRunModeUnsupported] in a dry run and [errors.ErrUnsupported]
// if the dialect is not MySQL, PostgreSQL or SQLite.
//
// Check only reads: the catalogue, and the smallest and the largest key of
// each table. It works in a
// transaction, and is as safe for concurrent use as db is.
func Check(db *gorm.DB, models ...any) error {
	if db.DryRun {
		return fmt.Errorf("gormsnow: check: %w", gorm.ErrDryRunModeUnsupported)
	}
	read, ok := map[string]tableReader{"mysql": readMySQL, "postgres": readPostgres, "sqlite": readSQLite}[db.Name()]
	if !ok {
		return fmt.Errorf("gormsnow: check: %w: dialect %q", errors.ErrUnsupported, db.Name())
	}
	c := &check{
		db:     db.Session(&gorm.Session{NewDB: true}),
		read:   read,
		joins:  make(map[string]bool),
		signed: make(map[string]bool),
	}
	if expr := db.Statement.TableExpr; expr != nil {
		c.table = strings.NewReplacer("`", "", `"`, "").Replace(expr.SQL)
	}
	if !registered(db) {
		c.fail(ErrNoPlugin)
	}
	if p := pluginOf(db); p != nil {
		c.layout = p.Layout()
	}
	for _, m := range models {
		c.model(m)
	}
	return errors.Join(c.errs...)
}

// A check is one run of Check.
type check struct {
	db     *gorm.DB
	read   tableReader
	table  string // if set, the table of all models
	layout snow.Layout
	joins  map[string]bool // join tables that were checked
	signed map[string]bool // foreign keys whose sign was checked
	errs   []error
}

func (c *check) fail(err error) { c.errs = append(c.errs, fmt.Errorf("gormsnow: check: %w", err)) }

func (c *check) find(e CheckError) { c.errs = append(c.errs, &e) }

func (c *check) model(value any) {
	stmt := &gorm.Statement{DB: c.db}
	if err := stmt.Parse(value); err != nil {
		c.fail(fmt.Errorf("model %T: %w", value, err))
		return
	}
	s := stmt.Schema
	var refused *FieldError
	known := c.analyse(s)
	if err := known.err; errors.As(err, &refused) {
		problem, remedy, ok := strings.Cut(refused.Reason, ": ")
		if !ok {
			remedy = "correct the tag or the field"
		}
		c.find(CheckError{Model: refused.Model, Field: refused.Field, Problem: problem, Remedy: remedy})
	} else if err != nil {
		c.fail(err)
	}
	for _, f := range s.PrimaryFields {
		if f.AutoIncrement && (refused == nil || refused.Field != f.Name) {
			c.find(CheckError{
				Model: s.ModelType.String(), Field: f.Name, Problem: "GORM makes it AUTO_INCREMENT, so each database counts for itself",
				Remedy: "make it a snow.ID, or add autoIncrement:false and snowflake to the gorm tag",
			})
		}
	}
	for _, f := range known.Given {
		if known.Missing[f] == analysis.MissingMember {
			c.find(CheckError{
				Model: s.ModelType.String(), Field: f.Name, Problem: "it is a member of the primary key, and the plugin does not fill it",
				Remedy: "add snowflake to the gorm tag, or snowflake:false if the program sets it",
			})
		}
	}
	c.signs(s)
	table := s.Table
	if c.table != "" {
		table = c.table
	}
	live, ok := c.live(s, table)
	if ok {
		c.columns(s, live)
		c.uniques(s, live)
		c.bounds(s, live)
		c.shards(s, known, live)
	}
	for _, rel := range s.Relationships.Many2Many {
		if j := rel.JoinTable; j != nil && !c.joins[j.Table] {
			c.joins[j.Table] = true
			c.join(s, rel)
		}
	}
}

// analyse returns the plugin's model of s. It needs no plugin in db.
func (c *check) analyse(s *schema.Schema) *model {
	if p := pluginOf(c.db); p != nil {
		return p.model(s)
	}
	return analyse(s)
}

// live reads a table of s. If it can't, it adds a finding or an error.
func (c *check) live(s *schema.Schema, name string) (*liveTable, bool) {
	live := newLiveTable(name)
	if err := c.read(c.db, live); err != nil {
		c.fail(fmt.Errorf("model %s: read the columns and indexes of %s: %w", s.ModelType, name, err))
		return nil, false
	}
	if len(live.columns) == 0 {
		c.find(CheckError{
			Model: s.ModelType.String(), Column: name, Problem: "the table does not exist, or this user may not see it",
			Remedy: "migrate before the check, or grant the user a privilege on it",
		})
		return nil, false
	}
	return live, true
}

// columns checks the columns that hold ids in the table of s.
func (c *check) columns(s *schema.Schema, live *liveTable) {
	refers := make(map[*schema.Field]bool)
	for _, rel := range s.Relationships.BelongsTo {
		for _, ref := range rel.References {
			refers[ref.ForeignKey] = ref.PrimaryKey != nil && analysis.IsKey(ref.PrimaryKey)
		}
	}
	for _, f := range s.Fields {
		if f.DBName == "" || s.FieldsByDBName[f.DBName] != f {
			continue
		}
		if analysis.IsKey(f) || refers[f] {
			c.column(s, f.Name, f, live)
		} else if column := live.columns[f.DBName]; f.PrimaryKey && column.Auto != "" {
			c.automatic(s, f.Name, column, live)
		}
	}
}

func (c *check) column(s *schema.Schema, field string, f *schema.Field, live *liveTable) {
	column, ok := live.columns[f.DBName]
	if !ok && (f.IgnoreMigration || !f.Creatable && !f.Updatable) {
		return // computed by queries
	}
	if !ok {
		c.find(CheckError{
			Model: s.ModelType.String(), Field: field, Column: live.name + "." + f.DBName,
			Problem: "the table has no such column", Remedy: "migrate before the check",
		})
		return
	}
	if column.Auto != "" {
		c.automatic(s, field, column, live)
	}
	if problem, remedy := column.Refuse(want(f.IndirectFieldType)); problem != "" {
		c.find(CheckError{s.ModelType.String(), field, live.name + "." + f.DBName, problem, remedy})
	}
}

func (c *check) automatic(s *schema.Schema, field string, column idcolumn.Column, live *liveTable) {
	c.find(CheckError{
		Model: s.ModelType.String(), Field: field, Column: live.name + "." + column.Name,
		Problem: "the table makes up its own numbers where an id is missing: it is " + column.Auto,
		Remedy:  column.Cure,
	})
}

// uniques checks that the table has the unique keys that the model declares.
func (c *check) uniques(s *schema.Schema, live *liveTable) {
	for _, u := range analysis.UniqueKeys(s) {
		if u.Where == "" && !live.distinct(u.Columns) {
			c.find(CheckError{
				Model: s.ModelType.String(), Column: live.name + "." + strings.Join(u.Columns, ","),
				Problem: "the model says that it is unique, but no primary key or unique index of the table is within it",
				Remedy:  "create a unique index",
			})
		}
	}
}

// join checks the join table of a many-to-many association of s.
func (c *check) join(s *schema.Schema, rel *schema.Relationship) {
	live, ok := c.live(s, rel.JoinTable.Table)
	if !ok {
		return
	}
	var pair []string
	for _, ref := range rel.References {
		if ref.ForeignKey.Schema != rel.JoinTable {
			continue
		}
		pair = append(pair, ref.ForeignKey.DBName)
		if ref.PrimaryKey != nil && analysis.IsKey(ref.PrimaryKey) {
			c.column(s, rel.Name, ref.ForeignKey, live)
		}
	}
	if !live.distinct(pair) {
		c.find(CheckError{
			Model: s.ModelType.String(), Field: rel.Name, Column: live.name + "." + strings.Join(pair, ","),
			Problem: "nothing makes the pairs of the join table unique, so saving the association again adds its rows again",
			Remedy:  "create a unique index on these columns",
		})
	}
}

// bounds looks for negative ids in the table, and compares the largest id with the
// ids that are made now.
func (c *check) bounds(s *schema.Schema, live *liveTable) {
	key := s.PrioritizedPrimaryField
	if key == nil || !analysis.IsKey(key) || key.IndirectFieldType.Kind() == reflect.String {
		return
	}
	column, ok := live.columns[key.DBName]
	if !ok || column.Kind != idcolumn.Integer {
		return
	}
	least, most, err := live.bounds(c.db, column)
	if err != nil {
		c.fail(fmt.Errorf("model %s: read the smallest and the largest %s.%s: %w", s.ModelType, live.name, key.DBName, err))
		return
	}
	find := func(problem, remedy string) {
		if problem != "" {
			c.find(CheckError{s.ModelType.String(), key.Name, live.name + "." + column.Name, problem, remedy})
		}
	}
	find(idcolumn.Negative(least), idcolumn.NegativeRemedy)
	if c.layout != (snow.Layout{}) {
		find(idcolumn.Ahead(most, c.layout, time.Now()), idcolumn.AheadRemedy)
	}
}

// distinct reports whether no two rows have the same values in columns.
func (t *liveTable) distinct(columns []string) bool {
	return slices.ContainsFunc(t.unique, func(index []string) bool {
		return !slices.ContainsFunc(index, func(column string) bool { return !slices.Contains(columns, column) })
	})
}
