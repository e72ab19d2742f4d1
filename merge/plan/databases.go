package plan

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/internal/sqldialect"
)

// Split returns the database of a table and its name there. The database is "" unless the plan is one of several: then
// names begin with it, and the rest may have dots too.
func (p *Plan) Split(table string) (database, name string) {
	if before, after, ok := strings.Cut(table, "."); ok && slices.Contains(p.Databases, before) {
		return before, after
	}
	return "", table
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

// ownDatabases are the databases by their own names, or nil.
func (p *Plan) ownDatabases() map[string]string {
	if len(p.Databases) == 0 {
		return nil
	}
	own := map[string]string{}
	for _, name := range p.Databases {
		own[name] = name
	}
	return own
}

// escapeTable is escape for a table, whose database is a part of its own.
func (p *Plan) escapeTable(name string) string {
	if database, table := p.Split(name); database != "" {
		return escape(database) + "." + escape(table)
	}
	return escape(name)
}
