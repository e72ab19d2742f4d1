package dryrun

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/merge/internal/catalog"
	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/preflight"
	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// reason says what of a table only the database can judge, or "".
func reason(d *dryRun, t *plan.Table, target *catalog.Table, sources map[string]*catalog.Catalog) string {
	for _, note := range target.Notes {
		// of columns, notes are about how they are stored
		if !strings.HasPrefix(note, "trigger ") && !strings.HasPrefix(note, "column ") {
			return note
		}
	}
	known := func(columns []string) bool {
		return slices.ContainsFunc(t.Unique, func(u *plan.Unique) bool { return sameNames(u.Columns, columns) }) || sameNames(t.PrimaryKey, columns)
	}
	if len(target.PrimaryKey) > 0 && !known(target.PrimaryKey) {
		return "its primary key is not that of the plan"
	}
	for _, u := range target.Unique {
		if !known(u.Columns) {
			return "the plan does not have its unique key on " + strings.Join(u.Columns, ", ")
		}
	}
	for _, source := range d.Plan.SourcesOf(t) {
		from := sources[source].TableLike(t.Name)
		for _, u := range t.Unique {
			if from != nil && !preflight.Guards(from, u.Columns) {
				return "source " + source + " may have several rows of one value in the unique key on " + strings.Join(u.Columns, ", ")
			}
		}
	}
	for _, u := range slices.Concat(t.Unique, []*plan.Unique{{Columns: t.PrimaryKey}}) {
		for _, name := range u.Columns {
			if c := t.Column(name); c != nil && (c.Role == plan.RolePacked || c.Role == plan.RoleList || c.Role == plan.RoleJSON) {
				return "the ids in column " + name + " are part of a unique key"
			}
		}
	}
	for _, is := range target.Columns {
		if is.Generated != "" {
			return "column " + is.Name + " is computed"
		}
		for _, source := range d.Plan.SourcesOf(t) {
			from := sources[source].TableLike(t.Name)
			if from == nil {
				continue
			}
			if from.Options != target.Options {
				return "its options are not those of source " + source
			}
			if was := catalog.ColumnLike(from.Table, is.Name); was != nil && !takes(d.Engine.Kind, is, was) {
				return fmt.Sprintf("column %s is %s there, and %s in source %s", is.Name, is.Type, was.Type, source)
			}
		}
	}
	return ""
}

func sameNames(a, b []string) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(name string) bool {
		return !slices.ContainsFunc(b, func(other string) bool { return strings.EqualFold(name, other) })
	})
}

// takes reports whether a room judges all values of the type that the source has.
func takes(d sqlsnow.Dialect, is, was *plan.Column) bool {
	a, b := sqltype.Of(d, is.Type), sqltype.Of(d, was.Type)
	switch {
	case is.Collation != was.Collation:
		return false
	case strings.EqualFold(is.Type, was.Type):
		// an enumeration or domain may be another one
		return d != sqlsnow.Postgres || a.Kind != sqltype.Other || builtin[sqltype.Word(is.Type)]
	}
	return a.Kind == sqltype.Integer && b.Kind == sqltype.Integer || a.Kind == sqltype.Text && b.Kind == sqltype.Text && d != sqlsnow.MySQL
}

// builtin are types of PostgreSQL that are the same in all databases.
var builtin = map[string]bool{
	"numeric": true, "decimal": true, "boolean": true, "real": true, "double": true, "uuid": true, "interval": true, "time": true, "inet": true,
}

// try calls do with a trial, or with nil if the table needs none. What the trial writes is undone.
func try(ctx context.Context, d *dryRun, t *plan.Table, do func(trier) error) error {
	target := d.before.Target.TableLike(t.Name)
	if target == nil || t.IDs.AreNumbers() && len(t.NewIDs) > 0 && d.before.Numbers[t.Name] == nil { // which is told of already
		return do(nil)
	}
	why := reason(d, t, target, d.before.Sources)
	if why == "" {
		return do(nil)
	}
	open := func(err error) error {
		if ctx.Err() != nil {
			return err
		}
		d.forecast.Open = append(d.forecast.Open, report.Open{
			Kind: report.OpenUnchecked, Table: t.Name, Reason: fmt.Sprintf("the rows could not be tried in a temporary table: %v; only the database can judge them, because of: %s", err, why),
		})
		return do(nil)
	}
	if d.throttle != nil { // a trial is one transaction of the target
		return open(errThrottled)
	}
	statements, err := trialStatements(ctx, d, t)
	if err != nil {
		return open(err)
	}
	s := d.conns.Target
	if d.Engine.Kind == sqlsnow.SQLite {
		if _, err := s.ExecContext(ctx, "PRAGMA foreign_keys = OFF"); err != nil {
			return open(err)
		}
	}
	var made, done error
	began := false
	err = s.Try(ctx, nil, func() error {
		began = true
		for _, text := range statements {
			if _, made = s.ExecContext(ctx, text); made != nil {
				return made
			}
		}
		done = do(&trial{dryRun: d})
		return errTried
	})
	if d.Engine.Kind == sqlsnow.MySQL {
		_, _ = s.ExecContext(ctx, "DROP TEMPORARY TABLE IF EXISTS "+trialTable)
	}
	if made != nil || !began {
		return open(err)
	}
	return done
}

// errTried ends the transaction of a trial.
var errTried = errors.New("it was only tried")

var errThrottled = errors.New("with a throttle that would be a long transaction")

// Names and the rest of statements of SQLite.
var (
	tableStatement = regexp.MustCompile("(?is)^CREATE\\s+TABLE\\s+(?:\"(?:[^\"]|\"\")*\"|`(?:[^`]|``)*`|\\[[^\\]]*\\]|[^\\s(]+)\\s*(\\(.*)$")
	indexStatement = regexp.MustCompile("(?is)^CREATE\\s+UNIQUE\\s+INDEX\\s+.*?\\sON\\s+(?:\"(?:[^\"]|\"\")*\"|`(?:[^`]|``)*`|\\[[^\\]]*\\]|[^\\s(]+)\\s*(\\(.*)$")
)

// trialStatements make a temporary table like one of the target, with its rows.
func trialStatements(ctx context.Context, d *dryRun, t *plan.Table) (statements []string, err error) {
	e, name := d.Engine, d.conns.Target.Engine.Table(t.Name)
	switch e.Kind {
	case sqlsnow.MySQL:
		statement, err := mysqlTrial(ctx, d.conns.Target, name)
		if err != nil {
			return nil, err
		}
		statements = []string{statement}
	case sqlsnow.Postgres:
		statements = []string{"CREATE TEMPORARY TABLE " + trialTable + " (LIKE " + name + " INCLUDING ALL)"}
	default:
		text := "SELECT sql FROM sqlite_schema WHERE lower(tbl_name) = lower(?1) AND sql IS NOT NULL AND type IN ('table', 'index') ORDER BY type = 'index', name"
		rows, err := chunk.ReadAll(ctx, e, d.conns.Target, text, []*plan.Column{{Name: "sql", Type: "text"}}, []any{t.Name})
		if err != nil {
			return nil, err
		}
		for i, row := range rows {
			text := fmt.Sprint(row[0])
			if m := tableStatement.FindStringSubmatch(text); m != nil {
				statements = append(statements, "CREATE TEMPORARY TABLE "+trialTable+" "+m[1])
			} else if m := indexStatement.FindStringSubmatch(text); m != nil {
				statements = append(statements, "CREATE UNIQUE INDEX temp.snow_merge_trial_"+strconv.Itoa(i)+" ON "+trialTable+" "+m[1])
			} else if i == 0 {
				return nil, fmt.Errorf("a statement that is not understood: %s", sqlvalue.Sample(text))
			}
		}
	}
	var names []string
	for _, c := range t.Columns {
		if c.Generated == "" {
			names = append(names, c.Name)
		}
	}
	list := e.QuoteAll(names)
	return append(statements, "INSERT INTO "+trialTable+" ("+list+") SELECT "+list+" FROM "+name), nil
}

// What a temporary table of MySQL can't have, and no row depends on: full texts, foreign keys, partitions,
// versions.
var (
	permanentLine  = regexp.MustCompile("(?m)^  (?:FULLTEXT KEY|CONSTRAINT `(?:[^`]|``)+` FOREIGN KEY) .*\n")
	permanentRest  = regexp.MustCompile(`(?s)\n(?:/\*!\d+ )? ?PARTITION BY .*$`)
	permanentWords = regexp.MustCompile(` (?:WITH SYSTEM VERSIONING|(?:DATA|INDEX) DIRECTORY='[^']*')`)
	trialHead      = regexp.MustCompile("^CREATE TABLE `(?:[^`]|``)+` ")
)

// mysqlTrial returns the statement that makes a temporary table like one of MySQL.
func mysqlTrial(ctx context.Context, s *chunk.Session, table string) (string, error) {
	var name, text string
	if err := s.QueryRowContext(ctx, "SHOW CREATE TABLE "+table).Scan(&name, &text); err != nil {
		return "", err
	}
	end := strings.LastIndex(text, "\n) ")
	if end < 0 {
		end = len(text)
	}
	body, options := permanentLine.ReplaceAllString(text[:end]+"\n", ""), permanentWords.ReplaceAllString(permanentRest.ReplaceAllString(text[end:], ""), "")
	if body+strings.TrimPrefix(options, "\n") == text {
		return "CREATE TEMPORARY TABLE " + trialTable + " LIKE " + table, nil
	}
	body = strings.TrimSuffix(strings.TrimSuffix(body, "\n"), ",")
	return trialHead.ReplaceAllString(body, "CREATE TEMPORARY TABLE "+trialTable+" ") + options, nil
}
