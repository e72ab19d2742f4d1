package questions

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/merge/plan"
)

// The sizes of samples.
const (
	mostTables = 3   // parts that have a sample
	mostRows   = 2   // rows of a source
	readRows   = 60  // rows that these are chosen from
	clashRows  = 400 // rows of a source that are looked for in the first one
	mostOthers = 2   // tables whose rows values are looked up in

	mostCandidates = 5 // the same, where nobody knows the table
)

// patience is how long a source may take to answer for one sample. All samples of a question have twice that.
const patience = 3 * time.Second

// A Source is a database that samples are read from. It is only read.
type Source struct {
	Name      string // as in the plan
	DB        *sql.DB
	Databases map[string]string // see merge.Source
}

// Sources are the databases of a plan. Their zero value has none, and no samples.
type Sources struct {
	Dialect sqldialect.Dialect
	All     []Source
}

// A Sample is rows of a table in one source.
type Sample struct {
	Source, Table string
	Columns       []string
	Asked         []bool // which of the columns are asked about
	Rows          [][]string
	Found         []string // how many of the values that were read are ids of which table
	Why           string   // why there are no rows
}

// Samples reads some rows for a question: for columns some that have different values, with the rows that these would
// be the ids of; for unique keys such that clash. What can't be read is said in the sample, and is no error.
func (of Sources) Samples(ctx context.Context, s *Questionnaire, q *Question) (all []Sample) {
	if s.plan == nil || len(of.All) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 2*patience)
	defer cancel()
	for _, p := range telling(q.Parts, mostTables) {
		if q.OfKeys && len(of.All) > 1 {
			all = append(all, of.clashes(ctx, s.plan, p)...)
			continue
		}
		for _, source := range of.All {
			if p.table.In(source.Name) {
				all = append(all, reader{of.Dialect, source, s.plan}.sample(ctx, p, ownersOf(s.plan, q, p)))
			}
		}
	}
	return all
}

// ownersOf returns the tables whose rows the values of a part may be the ids of.
func ownersOf(of *plan.Plan, q *Question, p *Part) (owners []*plan.Table) {
	most := mostOthers
	add := func(name string) {
		if t := of.Table(name); t != nil && t.Key() != nil && len(owners) < most && !slices.Contains(owners, t) {
			owners = append(owners, t)
		}
	}
	if c := p.table.Column(p.columns[0]); c != nil && len(p.columns) == 1 && (c.Role == plan.RoleReference || c.Role == plan.RoleList) && len(c.Refers) > 0 {
		add(c.Refers[0].Table)
	}
	for _, c := range q.choices {
		add(c.Answer)
	}
	if len(q.asked.Suspects) > 0 && q.isUndecided() {
		most = mostCandidates
		tables, _ := q.couldBe()
		for _, name := range tables {
			add(name)
		}
	}
	return owners
}

// A reader reads one source for one sample.
type reader struct {
	sqldialect.Dialect
	Source
	plan *plan.Plan
}

// name returns a table as SQL.
func (r reader) name(t *plan.Table) string {
	database, name := r.plan.Split(t.Name)
	if database == "" {
		return r.Quote(t.Name)
	}
	return r.Quote(r.Databases[database]) + "." + r.Quote(name)
}

// read returns rows as texts.
func (r reader) read(ctx context.Context, query string, args ...any) (found [][]string, err error) {
	rows, err := r.DB.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		values, to := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			to[i] = &values[i]
		}
		if err := rows.Scan(to...); err != nil {
			return nil, err
		}
		texts := make([]string, len(values))
		for i, v := range values {
			texts[i] = valueText(v)
		}
		found = append(found, texts)
	}
	return found, rows.Err()
}

// sample reads rows of a part's table in one source.
func (r reader) sample(ctx context.Context, p *Part, owners []*plan.Table) Sample {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	columns := shown(p, r.Source.Name)
	out := Sample{Source: r.Source.Name, Table: p.table.Name, Columns: columns}
	for _, name := range columns {
		out.Asked = append(out.Asked, slices.Contains(p.columns, name))
	}
	if !slices.Contains(columns, p.columns[0]) {
		out.Why = "this source does not have the column"
		return out
	}
	query := fmt.Sprintf("SELECT %s FROM %s WHERE %s IS NOT NULL LIMIT %d", r.QuoteAll(columns), r.name(p.table), r.Quote(p.columns[0]), readRows)
	rows, err := r.read(ctx, query)
	switch {
	case err != nil:
		out.Why = "no sample: " + unreadable(ctx, err)
		return out
	case len(rows) == 0:
		out.Why = "no row has a value"
		return out
	}
	at := slices.Index(columns, p.columns[0])
	owners = slices.DeleteFunc(owners, func(owner *plan.Table) bool { return !owner.In(r.Source.Name) })
	var found []map[string]string
	for _, owner := range owners {
		found = append(found, r.lookUp(ctx, rows, at, owner))
	}
	out.Rows = choose(rows, at, func(value string) bool { return len(found) == 0 || found[0] == nil || found[0][value] != "" })
	for i, owner := range owners {
		out.add(owner, rows, at, found[i])
	}
	out.Found = append(out.Found, rowsApart(p, columns, rows)...)
	return out
}

// unreadable says why a source gave no rows. Its own words may have more in them than is to be shown.
func unreadable(ctx context.Context, err error) string {
	if ctx.Err() != nil {
		return "the source takes too long"
	}
	if code := sqldialect.Code(err); code != "" {
		return "the source answers with error " + code
	}
	return "the source does not answer"
}

// shown returns the columns of a sample: the primary key, what is asked about, what selects its tables, a name.
func shown(p *Part, source string) (columns []string) {
	add := func(name string) {
		if c := p.table.Column(name); c != nil && c.In(source) && !slices.Contains(columns, name) {
			columns = append(columns, name)
		}
	}
	for _, name := range p.table.PrimaryKey[:min(len(p.table.PrimaryKey), 2)] {
		add(name)
	}
	for _, name := range p.columns {
		add(name)
		if c := p.table.Column(name); c != nil {
			add(c.By)
		}
	}
	add(nameOf(p.table))
	return columns
}

// lookUp returns the rows of a table that have the values of a column as ids, in words. It returns nil if they can't be
// read.
func (r reader) lookUp(ctx context.Context, rows [][]string, at int, owner *plan.Table) map[string]string {
	var ids []any
	for _, row := range rows {
		for _, text := range elements(row[at]) {
			if id, err := strconv.ParseInt(text, 10, 64); err == nil && !slices.Contains(ids, any(id)) {
				ids = append(ids, id)
			}
		}
	}
	if len(ids) == 0 {
		return nil
	}
	columns := []string{owner.Key().Name}
	if name := nameOf(owner); name != "" && owner.Column(name).In(r.Source.Name) && name != columns[0] {
		columns = append(columns, name)
	}
	var marks []string
	for i := range ids {
		marks = append(marks, r.Placeholder(i+1))
	}
	found, err := r.read(ctx, fmt.Sprintf("SELECT %s FROM %s WHERE %s IN (%s)", r.QuoteAll(columns), r.name(owner), r.Quote(columns[0]), strings.Join(marks, ", ")), ids...)
	if err != nil {
		return nil
	}
	words := map[string]string{}
	for _, row := range found {
		words[row[0]] = strings.Join(row, " ")
	}
	return words
}

// add adds a column with the rows of a table that have the values as ids, and says how many of the values read have one.
func (s *Sample) add(owner *plan.Table, read [][]string, at int, found map[string]string) {
	if found == nil {
		return
	}
	s.Columns, s.Asked = append(s.Columns, "in "+owner.Name), append(s.Asked, false)
	for i, row := range s.Rows {
		s.Rows[i] = append(slices.Clone(row), rowText(elements(row[at]), found))
	}
	values := map[string]bool{}
	hits := 0
	for _, row := range read {
		for _, value := range elements(row[at]) {
			if value != "0" && value != "" && !values[value] {
				if values[value] = true; found[value] != "" {
					hits++
				}
			}
		}
	}
	if len(values) > 0 {
		s.Found = append(s.Found, fmt.Sprintf("%d of %d different values are ids of %s", hits, len(values), owner.Name))
	}
}

// clashes reads rows of the later sources that have the values of a unique key in common with the first.
func (of Sources) clashes(ctx context.Context, in *plan.Plan, p *Part) (all []Sample) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var having []Source
	for _, source := range of.All {
		if p.table.In(source.Name) {
			having = append(having, source)
		}
	}
	if len(having) < 2 {
		return nil
	}
	first := reader{of.Dialect, having[0], in}
	for _, source := range having[1:] {
		mine, theirs := clashing(ctx, first, reader{of.Dialect, source, in}, p)
		all = append(all, mine, theirs)
	}
	return all
}

// clashing reads the rows of two sources that clash.
func clashing(ctx context.Context, a, b reader, p *Part) (mine, theirs Sample) {
	columns := slices.DeleteFunc(shown(p, a.Source.Name), func(name string) bool { return !p.table.Column(name).In(b.Source.Name) })
	mine, theirs = Sample{Source: a.Source.Name, Table: p.table.Name, Columns: columns}, Sample{Source: b.Source.Name, Table: p.table.Name, Columns: columns}
	for _, name := range columns {
		mine.Asked = append(mine.Asked, slices.Contains(p.columns, name))
	}
	theirs.Asked = mine.Asked
	var notNull, equal []string
	for i, name := range p.columns {
		notNull = append(notNull, a.Quote(name)+" IS NOT NULL")
		equal = append(equal, a.Quote(name)+" = "+a.Placeholder(i+1))
	}
	list := func(r reader) string {
		return fmt.Sprintf("SELECT %s, %s FROM %s WHERE ", r.QuoteAll(p.columns), r.QuoteAll(columns), r.name(p.table))
	}
	rows, err := b.DB.QueryContext(ctx, list(b)+strings.Join(notNull, " AND ")+fmt.Sprintf(" LIMIT %d", clashRows))
	if err != nil {
		theirs.Why = "no sample: " + unreadable(ctx, err)
		return mine, theirs
	}
	candidates, err := scan(rows)
	for _, row := range candidates {
		if err != nil || len(theirs.Rows) == mostRows {
			break
		}
		var found [][]string
		found, err = a.read(ctx, list(a)+strings.Join(equal, " AND ")+" LIMIT 1", row[:len(p.columns)]...)
		if len(found) == 1 {
			mine.Rows = append(mine.Rows, found[0][len(p.columns):])
			var texts []string
			for _, v := range row[len(p.columns):] {
				texts = append(texts, valueText(v))
			}
			theirs.Rows = append(theirs.Rows, texts)
		}
	}
	if err != nil && len(theirs.Rows) == 0 {
		theirs.Why = "no sample: " + unreadable(ctx, err)
	} else if len(theirs.Rows) == 0 {
		theirs.Why = fmt.Sprintf("none of its first %d rows clashes", len(candidates))
	}
	return mine, theirs
}

// scan reads all rows as the driver gives them.
func scan(rows *sql.Rows) (all [][]any, err error) {
	defer rows.Close()
	columns, err := rows.Columns()
	for err == nil && rows.Next() {
		values, to := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			to[i] = &values[i]
		}
		if err = rows.Scan(to...); err == nil {
			all = append(all, values)
		}
	}
	if err == nil {
		err = rows.Err()
	}
	return all, err
}
