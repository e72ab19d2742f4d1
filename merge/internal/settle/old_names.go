package settle

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/shardsnow/snow/internal/refname"
	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/internal/work"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// Renamed are the new names of rows, by source and by the column that has them.
type Renamed map[string]map[*plan.Column]*rekey.NewNames

// Add adds a row of a source that gets a new name in a column.
func (n Renamed) Add(d sqlsnow.Dialect, source string, t *plan.Table, column *plan.Column, before, after any) {
	if n[source] == nil {
		n[source] = map[*plan.Column]*rekey.NewNames{}
	}
	if n[source][column] == nil {
		n[source][column] = rekey.NewNewNames(d, t, column)
	}
	n[source][column].Add(before, after)
}

// ReadRenamed returns what the ledger has of them.
func ReadRenamed(ctx context.Context, l ledger.Ledger, p *plan.Plan, run *ledger.Run) (Renamed, error) {
	all := Renamed{}
	for _, t := range run.Tables {
		for _, c := range renamedColumns(l.Engine.Kind, t.Table) {
			names, err := rekey.NamesOf(ctx, l, t, c)
			if err != nil {
				return nil, err
			}
			if names.Len() == 0 {
				continue
			}
			if all[t.Source] == nil {
				all[t.Source] = map[*plan.Column]*rekey.NewNames{}
			}
			all[t.Source][c] = names
		}
	}
	return all, nil
}

// renamedColumns returns the columns that RuleSuffix changes.
func renamedColumns(d sqlsnow.Dialect, t *plan.Table) (columns []*plan.Column) {
	for _, u := range t.Unique {
		if c := t.RenameColumn(u, d); u.Rule == plan.RuleSuffix && c != nil && !slices.Contains(columns, c) {
			columns = append(columns, c)
		}
	}
	return columns
}

// An OldName is a value in a row that is a name which a row of its source loses.
type OldName struct {
	Row    []any // its key in the source
	Column *plan.Column
	Now    any // the new name
}

// longestName is how long a text may be that is looked at for names. Texts of types without a length are looked at, too.
const longestName = 255

// How often a column must have old names, as a share of how often rows lose theirs, to be taken for one of names: where no
// word says so, and where one does.
const (
	fewOld  = 0.5
	fewSaid = 0.1
)

// OldNames counts the texts that are names which rows of their source lose: in columns that follow, and in columns that
// nobody has decided on. It calls each with those that follow. What stays behind and seems to be a name is open. It
// reads the texts of the sources in which rows are renamed.
func OldNames(ctx context.Context, j *work.Job, conns *chunk.Conns, throttle *chunk.Throttle, renamed Renamed, each func(*ledger.SourceTable, OldName)) (all []report.OldNames, open []report.Open, err error) {
	for _, source := range j.Plan.Sources {
		lost := map[*plan.Column]float64{} // the share of rows that lose their names
		for _, t := range j.Plan.Tables {
			for _, c := range t.Columns {
				if n := renamed[source][c].Len(); n > 0 {
					rows, err := work.CountSource(ctx, conns, ledger.NewSourceTable(0, source, t))
					if err != nil {
						return nil, nil, err
					}
					lost[c] = float64(n) / float64(max(1, rows))
				}
			}
		}
		for _, t := range j.Plan.Tables {
			if len(lost) == 0 || t.Skip || t.Empty || !t.In(source) {
				continue
			}
			o := &oldNames{Job: j, of: ledger.NewSourceTable(0, source, t), renamed: renamed[source], lost: lost}
			if err := o.look(ctx, conns, throttle, each); err != nil {
				return nil, nil, err
			}
			rows, left := o.found()
			all, open = append(all, rows...), append(open, left...)
		}
	}
	return all, open, nil
}

// oldNames are what one source table has of them.
type oldNames struct {
	*work.Job
	of      *ledger.SourceTable
	renamed map[*plan.Column]*rekey.NewNames
	lost    map[*plan.Column]float64
	counts  []*report.OldNames // for each pair of columns that was met
	pairs   []pair             // of the counts
	values  map[*plan.Column]int64
}

// A pair is a column, and the column whose names it has.
type pair struct{ column, names *plan.Column }

// may reports whether a column may have names of a kind.
func (o *oldNames) may(c, names *plan.Column) bool {
	if c == names || c.Generated != "" {
		return false
	}
	if c.Role == plan.RoleName {
		parent := o.Plan.Table(c.Refers[0].Table)
		return parent != nil && parent.Column(c.Refers[0].Path) == names
	}
	is := sqltype.Of(o.Engine.Kind, c.Type)
	text := is.Kind == sqltype.Text || o.Engine.Kind == sqlsnow.SQLite && is.Kind != sqltype.Integer
	return c.Role == plan.RolePlain && !c.Decided && text && is.Length <= longestName && o.lost[c] == 0
}

func (o *oldNames) look(ctx context.Context, conns *chunk.Conns, throttle *chunk.Throttle, each func(*ledger.SourceTable, OldName)) error {
	o.values = map[*plan.Column]int64{}
	wanted := func(c *plan.Column) bool {
		for names := range o.renamed {
			if o.may(c, names) {
				return true
			}
		}
		return false
	}
	if !slices.ContainsFunc(o.of.Columns, wanted) {
		return nil
	}
	part := o.of
	if part.Content == nil {
		part = part.Only(wanted)
	}
	rows := work.Rows{Table: part, Conns: conns, Pace: o.PaceOf(part), Throttle: throttle}
	return rows.Each(ctx, o.Job, func(_ context.Context, rows [][]any) (int, error) {
		for at, c := range part.Columns {
			if !wanted(c) {
				continue
			}
			for _, row := range rows {
				o.see(part, c, row[at], row, each)
			}
		}
		return chunk.SizeOf(rows...), nil
	})
}

func (o *oldNames) see(part *ledger.SourceTable, c *plan.Column, v any, row []any, each func(*ledger.SourceTable, OldName)) {
	if v == nil {
		return
	}
	o.values[c]++
	for names, of := range o.renamed {
		now, old := of.Of(v)
		if !old || !o.may(c, names) {
			continue
		}
		at := slices.Index(o.pairs, pair{c, names})
		if at < 0 {
			at, o.pairs = len(o.pairs), append(o.pairs, pair{c, names})
			o.counts = append(o.counts, &report.OldNames{Table: o.of.Table.Name, Column: c.Name, Source: o.of.Source, Of: o.nameOf(names), Follow: c.Role == plan.RoleName})
		}
		count := o.counts[at]
		if count.Rows++; len(count.Samples) < report.MaxSamples {
			count.Samples = append(count.Samples, fmt.Sprintf("%s: %s", sqlvalue.Sample(v), sqlvalue.Sample(now)))
		}
		if c.Role == plan.RoleName && each != nil {
			each(o.of, OldName{Row: part.RowKey(row), Column: c, Now: now})
		}
	}
}

// nameOf returns a column of names as the plan writes it.
func (o *oldNames) nameOf(names *plan.Column) string {
	for _, t := range o.Plan.Tables {
		if slices.Contains(t.Columns, names) {
			return t.Name + "." + names.Name
		}
	}
	return names.Name
}

// found returns the counts, and what is open. A column that has old names by chance only is in neither.
func (o *oldNames) found() (all []report.OldNames, open []report.Open) {
	for i, count := range o.counts {
		c, names := o.pairs[i].column, o.pairs[i].names
		said := o.says(c, count.Of)
		usual := o.lost[names] * float64(o.values[c]) // if its values are names of any of the rows
		often := float64(count.Rows) >= fewOld*usual
		if !count.Follow && !often && !(said && float64(count.Rows) >= fewSaid*usual) {
			continue
		}
		all = append(all, *count)
		if count.Follow {
			continue
		}
		certainty := 0.8
		if said && often {
			certainty = 0.98
		}
		open = append(open, report.Open{
			Kind: report.OpenUndecided, Source: o.of.Source, Table: count.Table, Column: count.Column, Certainty: certainty,
			Reason: fmt.Sprintf("%d of its values are names that rows lose in %s, such as %s, and they stay as they are: to let them follow, add {name: %s, columns: [%s.%s]} to references; if they are no such names, list it under plain",
				count.Rows, count.Of, count.Samples[0], count.Of, count.Table, count.Column),
		})
	}
	return all, open
}

// says reports whether the name of a column ends like the name of the column with the names, or has a word of its table
// or for somebody.
func (o *oldNames) says(c *plan.Column, names string) bool {
	at := strings.LastIndexByte(names, '.')
	_, table := o.Plan.Split(names[:at])
	return refname.NamesRow(c.Name, table, names[at+1:])
}
