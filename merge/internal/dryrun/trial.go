package phases

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/merge/internal/catalog"
	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// trialTable is the temporary table of a trial.
const trialTable = "snow_merge_trial"

// A trial inserts the rows of a table into a temporary table that is as the target's: so the database itself says
// which it refuses, and which it stores as other values. It is held only for tables that have something which this
// process can't judge, see [trial.reason]. Where ids are new, rows have other ids than a run gives them.
type trial struct {
	*dryRun
	table *plan.Table
}

// reason says what of a table only the database can judge, or "".
func (d *dryRun) reason(t *plan.Table, target *catalog.Table, sources map[string]*catalog.Catalog) string {
	for _, note := range target.Notes {
		if !strings.HasPrefix(note, "trigger ") && !strings.HasPrefix(note, "column ") { // of columns, notes are about how they are stored
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
			if from != nil && !guards(from, u.Columns) {
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
			if was := catalog.ColumnLike(from.Table, is.Name); was != nil && !d.takes(is, was) {
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

// takes reports whether misfit judges all values of the type that the source has.
func (d *dryRun) takes(is, was *plan.Column) bool {
	a, b := sqltype.Of(d.Engine.Kind, is.Type), sqltype.Of(d.Engine.Kind, was.Type)
	switch {
	case is.Collation != was.Collation:
		return false
	case strings.EqualFold(is.Type, was.Type):
		return d.Engine.Kind != sqlsnow.Postgres || a.Kind != sqltype.Other || builtin[sqltype.Word(is.Type)] // an enumeration or domain may be another one
	}
	return a.Kind == sqltype.Integer && b.Kind == sqltype.Integer || a.Kind == sqltype.Text && b.Kind == sqltype.Text && d.Engine.Kind != sqlsnow.MySQL
}

// builtin are types of PostgreSQL that are the same in all databases.
var builtin = map[string]bool{
	"numeric": true, "decimal": true, "boolean": true, "real": true, "double": true, "uuid": true, "interval": true, "time": true, "inet": true,
}

// try calls do with a trial, or with nil if the table needs none. What the trial writes is undone.
func (d *dryRun) try(ctx context.Context, t *plan.Table, p *preflight, do func(*trial) error) error {
	target := p.target.TableLike(t.Name)
	if target == nil {
		return do(nil)
	}
	reason := d.reason(t, target, p.sources)
	if reason == "" {
		return do(nil)
	}
	open := func(err error) error {
		if ctx.Err() != nil {
			return err
		}
		d.forecast.Open = append(d.forecast.Open, report.Open{
			Kind: report.OpenUnchecked, Table: t.Name, Reason: fmt.Sprintf("the rows could not be tried in a temporary table: %v; only the database can judge them, because of: %s", err, reason),
		})
		return do(nil)
	}
	if d.throttle != nil { // a trial is one transaction of the target
		return open(errThrottled)
	}
	statements, err := d.trialStatements(ctx, t)
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
		done = do(&trial{d, t})
		return errUndone
	})
	if d.Engine.Kind == sqlsnow.MySQL {
		_, _ = s.ExecContext(ctx, "DROP TEMPORARY TABLE IF EXISTS "+trialTable)
	}
	if made != nil || !began {
		return open(err)
	}
	return done
}

var errThrottled = errors.New("with a throttle that would be a long transaction")

// Names and the rest of statements of SQLite.
var (
	tableStatement = regexp.MustCompile("(?is)^CREATE\\s+TABLE\\s+(?:\"(?:[^\"]|\"\")*\"|`(?:[^`]|``)*`|\\[[^\\]]*\\]|[^\\s(]+)\\s*(\\(.*)$")
	indexStatement = regexp.MustCompile("(?is)^CREATE\\s+UNIQUE\\s+INDEX\\s+.*?\\sON\\s+(?:\"(?:[^\"]|\"\")*\"|`(?:[^`]|``)*`|\\[[^\\]]*\\]|[^\\s(]+)\\s*(\\(.*)$")
)

// trialStatements make a temporary table like one of the target, with its rows.
func (d *dryRun) trialStatements(ctx context.Context, t *plan.Table) (statements []string, err error) {
	e, name := d.Engine, d.conns.Target.Engine.Table(t.Name)
	switch e.Kind {
	case sqlsnow.MySQL:
		statements = []string{"CREATE TEMPORARY TABLE " + trialTable + " LIKE " + name}
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

// rows tries rows of one source, as they would be copied.
func (x *trial) rows(ctx context.Context, f *tableForecast, rows [][]any, verdicts []rekey.Verdict) (err error) {
	if f.of.Content != nil && f.copies == nil {
		if f.copies, err = x.newCopiesTrial(ctx, f); err != nil {
			return err
		}
	}
	var were, are [][]any // in the source, and as they would be copied
	for i, values := range rows {
		if verdicts[i].Merged || verdicts[i].Failed != nil || f.unfit[i] {
			continue
		}
		were, are = append(were, values), append(are, x.standIn(f, values, verdicts[i], f.made[i]))
	}
	insert := chunk.NewInserter(x.conns.Target, trialTable, f.of.Columns)
	defer insert.Close()
	hasher := chunk.NewHasher(f.of.Columns, x.Blobs())
	for begin := 0; begin < len(are); begin += chunk.MostInserted {
		end := min(begin+chunk.MostInserted, len(are))
		refused, err := x.write(ctx, insert, are[begin:end])
		if err != nil {
			return err
		}
		for _, i := range slices.Sorted(maps.Keys(refused)) {
			x.tell(f, f.of.Describe(were[begin+i]), "", x.Engine.Failed("insert", refused[i]))
		}
		if f.copies != nil {
			f.copies.add(are[begin:end], refused)
		} else if err := x.compare(ctx, f, hasher, are[begin:end], were[begin:end], refused); err != nil {
			return err
		}
	}
	return nil
}

// tell tells of a row that the database refuses or changes.
func (x *trial) tell(f *tableForecast, row, column string, err error) {
	f.forecast.AddMisfit(f.of.Table.Name, f.of.Source, column, "row "+row+": "+err.Error())
	f.forecast.AddProblem(&report.RowError{Source: f.of.Source, Table: f.of.Table.Name, Row: row, Err: err})
}

// write inserts rows, and returns those that the database refuses.
func (x *trial) write(ctx context.Context, insert *chunk.Inserter, rows [][]any) (refused map[int]error, err error) {
	s := x.conns.Target
	within := func(rows [][]any) (cause, err error) {
		if _, err := s.ExecContext(ctx, "SAVEPOINT "+trialTable); err != nil {
			return nil, err
		}
		if cause = insert.Write(ctx, rows); cause != nil {
			if _, err := s.ExecContext(ctx, "ROLLBACK TO SAVEPOINT "+trialTable); err != nil {
				return cause, err
			}
		}
		_, err = s.ExecContext(ctx, "RELEASE SAVEPOINT "+trialTable)
		return cause, err
	}
	if cause, err := within(rows); cause == nil || err != nil {
		return nil, err
	}
	refused = map[int]error{}
	for i := range rows {
		cause, err := within(rows[i : i+1])
		if err != nil {
			return nil, err
		}
		if cause != nil {
			refused[i] = cause
		}
	}
	return refused, nil
}

// compare looks for values that the database has stored otherwise.
func (x *trial) compare(ctx context.Context, f *tableForecast, hasher *chunk.Hasher, rows, were [][]any, refused map[int]error) error {
	var want chunk.Sum
	var by [][]any
	at := map[string]int{}
	for i, row := range rows {
		if refused[i] != nil {
			continue
		}
		want.Add(hasher.Row(row))
		key := f.of.RowKey(row)
		at[sqlvalue.FormatKey(key)] = i
		for n, v := range key {
			key[n] = chunk.FitValue(x.Engine, v, f.of.Columns[f.of.Primary[n]])
		}
		by = append(by, key)
	}
	stored, err := chunk.ReadKeys(ctx, x.Engine, x.conns.Target, trialTable, f.of.Columns, chunk.ColumnsOf(f.of.Table, f.of.Table.RowKey()), by)
	if err != nil {
		return x.Engine.Failed("read the trial of table "+strconv.Quote(f.of.Table.Name), err)
	}
	var got chunk.Sum
	for _, row := range stored {
		got.Add(hasher.Row(row))
	}
	if got == want {
		return nil
	}
	told := false
	for _, row := range stored {
		i, ok := at[sqlvalue.FormatKey(f.of.RowKey(row))]
		if !ok {
			continue
		}
		for n, c := range f.of.Columns {
			if !hasher.Equal(n, rows[i][n], row[n]) {
				told = true
				x.tell(f, f.of.Describe(were[i]), c.Name, rekey.ColumnError(c.Name, fmt.Errorf("the target stores %s as %s", sqlvalue.Sample(rows[i][n]), sqlvalue.Sample(row[n]))))
			}
		}
	}
	if !told {
		x.tell(f, f.of.Describe(were[0]), "", errors.New("the target stores the key of this row, or of one of those after it, as another value"))
	}
	return nil
}

// standIn returns a row as it would be copied, with ids that stand for the new ones: of as many digits, and equal
// where those are. An id that is a number is the one that the row will have.
func (x *trial) standIn(f *tableForecast, values []any, v rekey.Verdict, number int64) []any {
	row := slices.Clone(values[:len(f.of.Columns)])
	for _, r := range v.Renames {
		row[f.of.Position(r.Column.Name)] = rekey.Stored(x.Engine, r.Column, r.After)
	}
	source := int64(slices.Index(x.Plan.Sources, f.of.Source))
	stand := func(of *ledger.SourceTable, id int64) int64 {
		if n := x.before.numbers[of.Table.Name]; n != nil && of.Ids.IDs.AreNumbers() {
			return n.standIn(of.Source, id)
		}
		return 1<<62 | source&0xff<<54 | id&(1<<54-1)
	}
	switch id, ok := f.id(values); {
	case number != 0:
		row[f.of.Key] = number
	case ok && f.of.Rekeys:
		row[f.of.Key] = stand(f.of, id)
	}
	for _, column := range f.columns {
		v, lost, err := column.Edit(&rekey.Row{Key: f.of.RowKey(values), Old: values}, func(ref int, text string) (string, bool) {
			parent := column.Parents[ref]
			if parent == nil || f.gone[gone{column.At, ref, text}] {
				return "", false
			}
			if id, ok := sqlvalue.ParseID(text); ok && parent.Rekeys {
				return strconv.FormatInt(stand(parent, id), 10), true
			}
			return text, true
		})
		if err == nil && (!lost || column.Column.BecomesNull()) {
			row[column.At] = v
		}
	}
	return row
}
