package ledger

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// A SourceTable is one table of one source in a run.
type SourceTable struct {
	ID      int64 // of its row in snow_merge_source_tables, and of its rows in the other tables
	Source  string
	Table   *plan.Table
	Columns []*plan.Column // that are copied: the source has them and they are not computed

	// Computed are the columns that both databases compute from values that stay as they are. They are compared.
	Computed []*plan.Column

	// Content are the columns by which rows of a table without a primary key are told apart: all that are copied. It is
	// nil for other tables. See [chunk.ReadCopies].
	Content []*plan.Column

	Key     int     // the one of Role key among columns; -1 if there is none
	Primary []int   // the [plan.Table.RowKey] among columns
	Rekeys  bool    // its rows get new ids
	Ids     IDRange // of those

	// Mapped is whether the ids of its rows may have changed, so that references to
	// them must be looked up. It is so before the rows are known.
	Mapped bool

	// Packable is whether its part of the map may have packs, besides rows.
	Packable bool

	// Changed is whether snow_merge_changes may have rows of it. It is known when
	// the phase mint is over.
	Changed bool
}

// NewSourceTable returns one without new ids. An id of 0 means that it is in no ledger.
func NewSourceTable(id int64, source string, t *plan.Table) *SourceTable {
	s := &SourceTable{ID: id, Source: source, Table: t, Key: -1, Rekeys: t.Rekeys(source), Changed: true}
	for _, c := range t.Columns {
		if c.Generated != "" && c.In(source) && IsComputedAlike(t, c) {
			s.Computed = append(s.Computed, c)
		}
		if c.Generated != "" || !c.In(source) {
			continue
		}
		if c.Role == plan.RoleKey {
			s.Key = len(s.Columns)
		}
		s.Columns = append(s.Columns, c)
	}
	for _, name := range t.RowKey() {
		s.Primary = append(s.Primary, s.Position(name))
	}
	if len(s.Primary) == 0 {
		s.Content = s.Columns
	}
	s.Mapped = s.Key >= 0 && (s.Rekeys || t.Merges([]string{source}) || t.LosesRows())
	return s
}

// Created returns the column with the time of new ids, or "" where they have none.
func (s *SourceTable) Created() string {
	if s.Table.IDs.AreNumbers() {
		return ""
	}
	return s.Table.Created
}

// WithComputed returns the source table with its computed columns behind the others.
func (s *SourceTable) WithComputed() *SourceTable {
	all := *s
	all.Columns = slices.Concat(s.Columns, s.Computed)
	return &all
}

// Only returns the source table with some of its columns: those of the primary
// key, those that want reports true for, and the columns By of those.
func (s *SourceTable) Only(want func(c *plan.Column) bool) *SourceTable {
	part := *s
	part.Columns, part.Primary, part.Key = nil, nil, -1
	by := map[string]bool{}
	for _, c := range s.Columns {
		if want(c) && c.By != "" {
			by[c.By] = true
		}
	}
	for _, c := range s.Columns {
		if by[c.Name] || slices.Contains(s.Table.RowKey(), c.Name) || want(c) {
			if c.Role == plan.RoleKey {
				part.Key = len(part.Columns)
			}
			part.Columns = append(part.Columns, c)
		}
	}
	for _, name := range s.Table.RowKey() {
		part.Primary = append(part.Primary, part.Position(name))
	}
	return &part
}

// Position returns the index of a column among the copied ones, or -1.
func (s *SourceTable) Position(column string) int {
	return slices.IndexFunc(s.Columns, func(c *plan.Column) bool { return c.Name == column })
}

// RowKey returns what a row is told apart by: its values in [plan.Table.RowKey] or, where rows may be equal, what
// [chunk.ReadCopies] read behind its values.
func (s *SourceTable) RowKey(values []any) []any {
	if s.Content != nil {
		return slices.Clone(values[len(s.Columns):])
	}
	key := make([]any, len(s.Primary))
	for i, at := range s.Primary {
		key[i] = values[at]
	}
	return key
}

// Read returns rows of it in the source, see [chunk.ReadRange] and [chunk.ReadCopies].
func (s *SourceTable) Read(ctx context.Context, c *chunk.Conns, after, upto []any, limit int) ([][]any, error) {
	session, err := c.Source(ctx, s.Source)
	if err != nil {
		return nil, err
	}
	rows, err := s.read(ctx, session, "", after, upto, limit)
	return rows, dialect.OfSource(s.Source, c.Engine.Failed("read table "+strconv.Quote(s.Table.Name), err))
}

// ReadWhere returns rows of it in the source that follow on others, up to one, nil for the last one, and of which a
// condition is true.
func (s *SourceTable) ReadWhere(ctx context.Context, c *chunk.Conns, where string, after, upto []any, limit int) ([][]any, error) {
	session, err := c.Source(ctx, s.Source)
	if err != nil {
		return nil, err
	}
	rows, err := s.read(ctx, session, session.Engine.Expand(where), after, upto, limit)
	return rows, dialect.OfSource(s.Source, c.Engine.Failed("read table "+strconv.Quote(s.Table.Name), err))
}

// ReadTarget returns rows of the target that follow on others.
func (s *SourceTable) ReadTarget(ctx context.Context, target *chunk.Session, after []any, limit int) ([][]any, error) {
	rows, err := s.read(ctx, target, "", after, nil, limit)
	return rows, target.Engine.Failed("read table "+strconv.Quote(s.Table.Name)+" of the target", err)
}

func (s *SourceTable) read(ctx context.Context, session *chunk.Session, where string, after, upto []any, limit int) ([][]any, error) {
	if s.Content != nil {
		return chunk.ReadCopies(ctx, session.Engine, session, s.Table, s.Content, s.Columns, where, after, upto, limit)
	}
	return chunk.ReadRange(ctx, session.Engine, session, s.Table, s.Columns, where, after, upto, limit)
}

// Describe returns what a row is told apart by, for people: where that is a hash, the row's values come with it.
func (s *SourceTable) Describe(values []any) string {
	text := sqlvalue.FormatKey(s.RowKey(values))
	if s.Content != nil {
		text += " " + sqlvalue.SampleRow(values[:len(s.Columns)])
	}
	return text
}

// RowError says that something is wrong with a row.
func (s *SourceTable) RowError(key []any, err error) error {
	return &report.RowError{Source: s.Source, Table: s.Table.Name, Row: sqlvalue.FormatKey(key), Err: err}
}

// Failure returns one of a source table.
func (s *SourceTable) Failure(check report.Check, row []any, reason string, args ...any) report.Failure {
	f := report.Failure{Check: check, Source: s.Source, Table: s.Table.Name, Reason: fmt.Sprintf(reason, args...)}
	if row != nil {
		f.Row = sqlvalue.FormatKey(row)
	}
	return f
}

// Conditions returns the conditions on its rows.
func (s *SourceTable) Conditions() []*plan.Condition {
	return slices.DeleteFunc(slices.Clone(s.Table.WithoutRows), func(c *plan.Condition) bool { return !c.In(s.Source) })
}

// changingCall finds functions whose value does not depend on their arguments alone.
var changingCall = regexp.MustCompile(`(?i)\b(rand|uuid|now|sysdate|curdate|curtime|current_\w+|localtime\w*|utc_\w+|database|schema|user|\w+_user|connection_id|unix_timestamp|from_unixtime)\b`)

// IsComputedAlike reports whether a generated column has the same values in a source and in the target, because its
// expression names only columns that are copied as they are. It is not known of a column that people have decided
// on, or whose expression calls a function of the time, the session or chance. A row that is renamed is an
// exception.
func IsComputedAlike(t *plan.Table, column *plan.Column) bool {
	return !column.Decided && !changingCall.MatchString(column.Generated) && !slices.ContainsFunc(t.Columns, func(c *plan.Column) bool {
		mention := regexp.MustCompile(`(?i)(^|\W)` + regexp.QuoteMeta(strings.ReplaceAll(c.Name, "`", "``")) + `(\W|$)`)
		return c != column && mention.MatchString(column.Generated) && (c.Role != plan.RolePlain || c.Generated != "")
	})
}
