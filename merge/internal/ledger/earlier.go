package ledger

import (
	"context"
	"database/sql"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// An Earlier is a source table of an earlier merge, whose target is a source of a run, or of a merge before that
// one. Its part of the source's ledger is copied into the target's, so that old ids are found when the source is
// gone.
type Earlier struct {
	// of its row in snow_merge_earlier, and of its rows in the other tables; no source table of the target has the
	// same
	ID  int64
	Run string // that the target is the target of
	// the names of the sources that lead to it, with slashes: m12/eu is source eu of the merge that made source m12
	Path  string
	Table string // as that merge has called it
	Next  int64  // the source table, or the Earlier, whose old ids are its new ones
	From  int64  // its number in the ledger of the run's source
	IDs   string // what its rows had: EarlierNew and the like
}

// What new ids the rows of an Earlier had.
const (
	EarlierNew  = "new"  // all of them have an entry in the map
	EarlierKept = "kept" // those without an entry have the ids that they had
	EarlierNone = "none" // the table was left empty
)

// Source returns the name of the run's source that it came with.
func (e *Earlier) Source() string {
	first, _, _ := strings.Cut(e.Path, "/")
	return first
}

// SourceTable returns what the map needs to know of it. The name of its source is the path.
func (e *Earlier) SourceTable(d sqlsnow.Dialect) *SourceTable {
	return &SourceTable{
		ID: e.ID, Source: e.Path, Table: &plan.Table{Name: e.Table, Empty: e.IDs == EarlierNone},
		Key: -1, Rekeys: e.IDs == EarlierNew, Mapped: true, Packable: d == sqlsnow.MySQL, Changed: true,
	}
}

const earlierColumns = "source_table, run, path, tbl, next_table, from_table, ids"

// ReadEarlier returns the source tables of earlier merges that came with the sources of a run, or of all runs if it is
// empty. Ledgers of versions that had no such table have none.
func ReadEarlier(ctx context.Context, l Ledger, run string) (all []*Earlier, err error) {
	condition, args := "", []any(nil)
	if run != "" {
		condition, args = " WHERE run = ?", []any{run}
	}
	err = l.Query(ctx, "SELECT "+earlierColumns+" FROM snow_merge_earlier"+condition+" ORDER BY source_table", args, func(rows *sql.Rows) error {
		e := &Earlier{}
		all = append(all, e)
		return rows.Scan(&e.ID, &e.Run, &e.Path, &e.Table, &e.Next, &e.From, &e.IDs)
	})
	if err != nil && l.Engine.IsMissing(err) {
		return nil, nil
	}
	return all, err
}

// InsertEarlier writes source tables of earlier merges.
func InsertEarlier(ctx context.Context, l Ledger, all []*Earlier) error {
	rows := make([][]any, len(all))
	for i, e := range all {
		rows[i] = []any{e.ID, e.Run, e.Path, e.Table, e.Next, e.From, e.IDs}
	}
	if len(rows) == 0 {
		return nil
	}
	return l.insert(ctx, "snow_merge_earlier ("+earlierColumns+")", rows, "")
}

// A Merge is what a ledger says of a run whose plan may be any.
type Merge struct {
	State, Phase string
	Plan         string // its text
	Tables       []MergedTable
}

// A MergedTable is a source table of a [Merge].
type MergedTable struct {
	ID            int64
	Source, Table string
	Rekeys        bool
}

// ReadMerges returns the runs of all plans, in the order of their beginnings.
func ReadMerges(ctx context.Context, l Ledger) (all []*Merge, err error) {
	byRun := map[string]*Merge{}
	err = l.Query(ctx, "SELECT run, state, phase, plan FROM snow_merge_runs ORDER BY started_us, run", nil, func(rows *sql.Rows) error {
		var run string
		m := &Merge{}
		err := rows.Scan(&run, &m.State, &m.Phase, &m.Plan)
		byRun[run], all = m, append(all, m)
		return err
	})
	if err != nil {
		return nil, err
	}
	err = l.Query(ctx, "SELECT run, source_table, source, tbl, ids FROM snow_merge_source_tables ORDER BY source_table", nil, func(rows *sql.Rows) error {
		var run string
		var t MergedTable
		var ids sql.NullString
		if err := rows.Scan(&run, &t.ID, &t.Source, &t.Table, &ids); err != nil {
			return err
		}
		if m := byRun[run]; m != nil { // else it is being forgotten
			t.Rekeys = ids.Valid
			m.Tables = append(m.Tables, t)
		}
		return nil
	})
	return all, err
}

// A Part is a table of the ledger that an [Earlier] has rows of.
type Part struct {
	table   string
	columns []*plan.Column // without the number of the source table; the key comes first
	key     int            // how many of them are the key
	rows    int            // that one transaction copies
}

// Parts returns the tables of the ledger that an Earlier has rows of.
func Parts(d sqlsnow.Dialect) []Part {
	column := func(name, typ string) *plan.Column { return &plan.Column{Name: name, Type: typ} }
	text, bytes := "text", "text"
	if d == sqlsnow.MySQL {
		text, bytes = "longtext", "longblob"
	}
	return []Part{
		{"snow_merge_map", []*plan.Column{column("old_id", "bigint"), column("new_id", "bigint"), column("kind", "smallint")}, 1, 10 * chunk.Rows},
		{"snow_merge_packs", []*plan.Column{
			column("seq", "bigint"), column("last_old", "bigint"), column("size", "bigint"), column("old_ids", bytes), column("new_ids", bytes),
		}, 1, 20},
		{"snow_merge_changes", []*plan.Column{
			column("row_key", text), column("col", text), column("kind", text), column("seq", "bigint"), column("before_value", text), column("after_value", text),
		}, 2, 2 * chunk.Rows},
	}
}

// Read returns the rows of a source table that follow on a key, nil for the first ones: as many as one transaction
// copies, or the last ones.
func (p Part) Read(ctx context.Context, l Ledger, sourceTable int64, after []any) (rows [][]any, err error) {
	condition, args := "", []any{sourceTable}
	if after != nil {
		condition, args = p.following(after, args)
	}
	var key []string
	for _, c := range p.columns[:p.key] {
		key = append(key, c.Name)
	}
	text := l.Engine.SQL("SELECT " + l.Engine.SelectList(p.columns) + " FROM " + p.table + " WHERE source_table = ?" + condition +
		" ORDER BY " + strings.Join(key, ", ") + " LIMIT " + strconv.Itoa(p.rows))
	rows, err = chunk.ReadAll(ctx, l.Engine, l.Q, text, p.columns, args)
	return rows, l.Engine.Failed("read the ledger", err)
}

// following returns the condition that a row comes after a key.
func (p Part) following(after, args []any) (string, []any) {
	var ways []string
	for n := range p.key {
		var terms []string
		for i := range n {
			terms, args = append(terms, p.columns[i].Name+" = ?"), append(args, after[i])
		}
		terms, args = append(terms, p.columns[n].Name+" > ?"), append(args, after[n])
		ways = append(ways, strings.Join(terms, " AND "))
	}
	return " AND (" + strings.Join(ways, " OR ") + ")", args
}

// Key returns what a row of the part is told apart by.
func (p Part) Key(row []any) []any { return row[:p.key] }

// Last returns the last key of a source table, or nil if it has no rows.
func (p Part) Last(ctx context.Context, l Ledger, sourceTable int64) ([]any, error) {
	var names, descending []string
	for _, c := range p.columns[:p.key] {
		names, descending = append(names, c.Name), append(descending, c.Name+" DESC")
	}
	text := l.Engine.SQL("SELECT " + strings.Join(names, ", ") + " FROM " + p.table + " WHERE source_table = ? ORDER BY " + strings.Join(descending, ", ") + " LIMIT 1")
	rows, err := chunk.ReadAll(ctx, l.Engine, l.Q, text, p.columns[:p.key], []any{sourceTable})
	if err != nil || len(rows) == 0 {
		return nil, l.Engine.Failed("read the ledger", err)
	}
	return rows[0], nil
}

// Writer returns what inserts rows of the part, see [Part.Rows].
func (p Part) Writer(s *chunk.Session) *chunk.Inserter {
	return chunk.NewInserter(s, p.table, slices.Concat([]*plan.Column{{Name: "source_table", Type: "bigint"}}, p.columns))
}

// Rows returns rows that were read as rows of another source table.
func (p Part) Rows(sourceTable int64, rows [][]any) [][]any {
	all := make([][]any, len(rows))
	for i, row := range rows {
		all[i] = slices.Concat([]any{sourceTable}, row)
	}
	return all
}
