package catalog

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/merge/plan"
)

// Read reads the schema that a session is in, or several: databases are their names there, by those that the plan
// has, which the names of tables then begin with. Its errors are those of the driver, or a [*plan.Error] for a
// database that the server does not have.
func Read(ctx context.Context, d sqldialect.Dialect, q Querier, databases map[string]string) (*Catalog, error) {
	all := &Catalog{Databases: slices.Sorted(maps.Keys(databases))}
	names := all.Databases
	if len(names) == 0 {
		names, databases = []string{""}, nil
	}
	var joins []definition
	for _, name := range names {
		r := &reader{Catalog: &Catalog{}, q: q, dialect: d, databases: databases, database: name}
		r.read(ctx)
		if r.err != nil {
			return nil, r.err
		}
		r.qualify()
		all.Tables, all.Types, all.Notes = append(all.Tables, r.Tables...), append(all.Types, r.Types...), append(all.Notes, r.Notes...)
		joins = append(joins, r.joins...)
	}
	for _, t := range all.Tables {
		for _, k := range t.ForeignKeys {
			all.spell(t, k)
		}
	}
	for _, join := range joins {
		all.findJoins(join, databases)
	}
	return all, nil
}

// read reads one database.
func (r *reader) read(ctx context.Context) {
	r.exists(ctx)
	switch r.dialect {
	case sqldialect.MySQL:
		r.readMySQL(ctx)
	case sqldialect.Postgres:
		r.readPostgres(ctx)
	case sqldialect.SQLite:
		r.readSQLite(ctx)
	}
}

// exists sets an error if the server does not have the database of a name.
func (r *reader) exists(ctx context.Context) {
	if r.databases == nil {
		return
	}
	found, text := false, "SELECT 1 FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = {schema}"
	if r.dialect == sqldialect.Postgres {
		text = "SELECT 1 FROM pg_namespace WHERE oid = to_regnamespace({schema})"
	}
	r.each(ctx, text, func(row) { found = true })
	if !found && r.err == nil {
		r.err = &plan.Error{Reason: fmt.Sprintf(
			"database %q is not there, or the account must not see it: all databases of a source are on one server (on PostgreSQL schemas of one database), so copy those that are elsewhere to it",
			r.databases[r.database],
		)}
	}
}
