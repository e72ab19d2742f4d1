package mysqlexec

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/phases"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// errUnlike says that the server did not do what phase mint decided.
var errUnlike = errors.New("the rows are not those that were counted")

// A selection is how the server itself makes rows of the target out of rows of a
// source table, where each column is one of plain values, or of integers that are
// keys or refer to rows. It means the same as [rekey.Rewriter.Rewrite].
type selection struct {
	engine *dialect.Dialect
	source *dialect.Dialect // names tables of the source, as the target's session calls them
	of     *ledger.SourceTable
	from   string   // the table, as the target's session calls it
	into   string   // that of the target
	own    string   // how the row of the map is found for one of the source, s
	joins  string   // what else is looked up for it
	single bool     // the primary key is one integer, the id if that may have changed
	dense  bool     // most of the target's rows are of this source, or there are few
	values []string // for each column of the table, what becomes of it
	exact  []string // the same values in a form whose equality is that of bytes, with % for the column
	alive  string   // whether a row is copied
	checks []string // what must be so of each row that is copied, or people must be told of it
	texts  []string // the values as texts that can be put in a row, or nil if packs are of no use to the server
	ids    *rowIDs  // how the ids of packs are made, if texts is not nil
	bytes  int      // of a row, about
}

// packedBytes is how many bytes rows have at most, about, whose ids are in packs:
// the rows of a chunk are compared as one text.
const packedBytes = 1000

// newSelection returns nil if rows must go through this process.
func newSelection(ctx context.Context, w phases.Work, source *dialect.Dialect) (*selection, error) {
	t, e, target := w.Table, w.Engine, w.Conns.Target
	if t.Table.Combines() {
		return nil, nil
	}
	s := &selection{engine: e, source: source, of: t, from: source.Table(t.Table.Name), into: target.Engine.Table(t.Table.Name), alive: "TRUE"}
	from, err := readStoredTable(ctx, target, source, t.Table.Name)
	if err != nil {
		return nil, err
	}
	to, err := readStoredTable(ctx, target, target.Engine, t.Table.Name)
	if err != nil || from == nil || to == nil || len(t.Primary) == 0 || !slices.Equal(from.primary, t.Table.RowKey()) || !slices.Equal(to.primary, t.Table.RowKey()) {
		return nil, err
	}
	s.bytes = from.rowBytes(ctx, target, s.from)
	s.single = len(t.Primary) == 1 && countable(from.columns[t.Table.RowKey()[0]].typ) && (!t.Mapped || t.Primary[0] == t.Key)
	s.dense = to.rows <= 4*from.rows+100_000
	if t.Mapped {
		s.own = " LEFT JOIN snow_merge_map AS m FORCE INDEX (PRIMARY) ON m.source_table = " + strconv.FormatInt(t.ID, 10) + " AND m.old_id = s." + e.Quote(t.Columns[t.Key].Name)
		if s.alive = "m.old_id IS NULL"; t.Rekeys {
			s.alive = "m.kind = 0"
		}
	}
	tables := w.Run.Of(t.Source)
	for at, c := range t.Columns {
		for _, r := range c.Refers {
			if parent := tables[r.Table]; parent != nil {
				if packs, err := ledger.Of(target).HasPacks(ctx, parent); err != nil || packs { // a statement finds ids only in rows of the map
					return nil, err
				}
			}
		}
		if !s.column(c, at, from.columns[c.Name], to.columns[c.Name], tables) {
			return nil, nil
		}
	}
	if t.Packable {
		s.ids = newRowIDs(e, w.Run, t, from)
	}
	if len(s.texts) < len(s.values) || s.ids == nil || !from.ordered || !to.ordered || s.bytes > packedBytes {
		s.texts = nil
	}
	if ok, err := readable(ctx, target, "SELECT "+strings.Join(s.values, ", ")+s.joined()); err != nil || !ok {
		return nil, err
	}
	return s, nil
}

// column adds what becomes of a column, and reports whether the server can do it.
func (s *selection) column(c *plan.Column, at int, is, becomes storedColumn, tables map[string]*ledger.SourceTable) bool {
	exact, ok := exactly(is, becomes)
	integer := countable(is.typ) && sqltype.Of(sqlsnow.MySQL, becomes.typ).Kind == sqltype.Integer
	if !integer && (!ok || c.Role != plan.RolePlain || slices.Contains(s.of.Primary, at)) {
		return false
	}
	value := "s." + s.engine.Quote(c.Name)
	switch c.Role {
	case plan.RolePlain:
		if !ok {
			return false
		}
	case plan.RoleKey:
		if s.of.Rekeys {
			value = "m.new_id"
		}
	case plan.RoleReference:
		if value = s.reference(c, at, tables); value == "" {
			return false
		}
	default:
		return false
	}
	if integer {
		exact = "%"
	}
	s.values, s.exact = append(s.values, value), append(s.exact, exact)
	if text, ok := textual(is, becomes, c.Role == plan.RoleReference); ok {
		s.texts = append(s.texts, text)
	}
	return true
}

// reference returns what becomes of a reference, and adds what is looked up for
// it. It returns "" if that can't be said.
func (s *selection) reference(c *plan.Column, at int, tables map[string]*ledger.SourceTable) string {
	e := s.engine
	parent := tables[c.Refers[0].Table]
	if parent == nil || parent.Key < 0 || parent.Table.Empty || c.BecomesNull() && !c.Nullable {
		return ""
	}
	n := strconv.Itoa(at)
	value := "s." + e.Quote(c.Name)
	found := value // what becomes of it if the row is not in the map
	if c.Orphans != plan.OrphansFail && !parent.Rekeys {
		key := parent.Columns[parent.Key]
		if !slices.Equal(parent.Table.PrimaryKey, []string{key.Name}) || !countable(key.Type) {
			return ""
		}
		found = "p" + n + "." + e.Quote(key.Name)
		s.joins += " LEFT JOIN " + s.source.Table(parent.Table.Name) + " AS p" + n + " FORCE INDEX (PRIMARY) ON " + found + " = " + value
	}
	after := found
	switch {
	case parent.Rekeys:
		after = "m" + n + ".new_id"
	case parent.Mapped:
		after = "CAST(CASE WHEN m" + n + ".old_id IS NULL THEN " + found + " ELSE m" + n + ".new_id END AS SIGNED)"
	}
	if parent.Mapped {
		s.joins += " LEFT JOIN snow_merge_map AS m" + n + " FORCE INDEX (PRIMARY) ON m" + n + ".source_table = " + strconv.FormatInt(parent.ID, 10) + " AND m" + n + ".old_id = " + value
	}
	if after == value {
		return value
	}
	none := s.none(value, c)
	if c.Orphans != plan.OrphansNull {
		s.checks = append(s.checks, "("+value+" IS NULL OR "+none+" OR "+after+" IS NOT NULL)")
	}
	return "CAST(CASE WHEN " + none + " THEN " + value + " ELSE " + after + " END AS SIGNED)"
}

// none returns the condition that a reference stands for no row.
func (s *selection) none(value string, c *plan.Column) string {
	ids := rekey.NoneIDs(c)
	if len(ids) == 0 {
		return "FALSE"
	}
	condition, _ := chunk.AnyOf(s.engine, value, ids)
	return condition
}

// joined returns the rows of the source with what is looked up for them, row by
// row: the optimizer knows little of tables that were filled just now.
func (s *selection) joined() string {
	return " FROM " + s.from + " AS s FORCE INDEX (PRIMARY)" + s.own + s.joins
}

// unmapped returns the same without what is looked up of the row itself, as it is
// not there where the map has packs.
func (s *selection) unmapped() string {
	return " FROM " + s.from + " AS s FORCE INDEX (PRIMARY)" + s.joins
}

// within returns the condition that a row of the source is above lo and up to
// hi, and false if those are no integers. Nil is no bound.
func (s *selection) within(lo, hi []any) (string, bool) {
	return within(s.engine, s.of.Table.RowKey(), lo, hi)
}

// referring returns the columns that refer to rows.
func (s *selection) referring() (refs []*plan.Column) {
	for _, c := range s.of.Columns {
		if c.Role == plan.RoleReference {
			refs = append(refs, c)
		}
	}
	return refs
}

// references returns how many of the rows of the target, t, that a condition is
// true of refer to rows, for each column that does.
func (s *selection) references(alive string) (counts []string) {
	for _, c := range s.referring() {
		is := "t." + s.engine.Quote(c.Name)
		counts = append(counts, "COALESCE(SUM("+alive+" AND "+is+" IS NOT NULL AND NOT ("+s.none(is, c)+")), 0)")
	}
	return counts
}

// consecutive reports whether chunks, all of whose rows are copied, have every
// integer there is from the first one on to the last one.
func consecutive(chunks []ledger.Chunk) bool {
	first, last := chunks[0], chunks[len(chunks)-1]
	if first.Lo == nil {
		return false
	}
	lo, ok := first.Lo[0].(int64)
	hi, also := last.Hi[0].(int64)
	var rows int64
	for _, c := range chunks {
		if c.Merged+c.Dropped > 0 {
			return false
		}
		rows += c.Read
	}
	return ok && also && hi-lo == rows
}
