package earlier

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/work"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// A Table is a source table of an earlier merge, by the ledger of a source, and the table of the source that has
// its rows now.
type Table struct {
	*ledger.Earlier
	next  string // the table of the plan, if the merge was that which made the source
	after int64  // otherwise the number of the one in the source's ledger that has its new ids
}

// Find returns what the ledger of a source has of tables that the plan merges.
func Find(ctx context.Context, j *work.Job, c *chunk.Conns, source string) (all []Table, err error) {
	defer func() { err = dialect.OfSource(source, err) }()
	s, err := c.Source(ctx, source)
	if err != nil {
		return nil, err
	}
	if err := strayLedger(ctx, j, s); err != nil {
		return nil, err
	}
	l := ledger.Of(s)
	merges, err := ledger.ReadMerges(ctx, l)
	if err != nil && j.Engine.IsMissing(err) {
		return nil, nil // it was not made by a merge
	}
	if err != nil {
		return nil, err
	}
	taken := map[int64]bool{}
	for _, m := range merges {
		if m.State != ledger.StateCopied {
			if ledger.Deciding(m.Phase) {
				continue // it has copied nothing
			}
			return nil, fmt.Errorf("%w: it was to make this source: finish it first, with the source as its target", report.ErrUnfinished)
		}
		made, err := plan.Read(strings.NewReader(m.Plan))
		if err != nil {
			return nil, fmt.Errorf("the plan of an earlier merge: %w", err)
		}
		for _, t := range m.Tables {
			next, err := tableOf(j, source, t.Table)
			if err != nil {
				return nil, err
			}
			if next == "" {
				continue // its rows are not merged
			}
			e := &ledger.Earlier{Run: j.ID, Path: source + "/" + t.Source, Table: t.Table, From: t.ID, IDs: ledger.EarlierKept}
			if was := made.Table(t.Table); was != nil && was.Empty {
				e.IDs = ledger.EarlierNone
			} else if t.Rekeys {
				e.IDs = ledger.EarlierNew
			}
			taken[t.ID] = true
			all = append(all, Table{Earlier: e, next: next})
		}
	}
	before, err := ledger.ReadEarlier(ctx, l, "")
	if err != nil {
		return nil, err
	}
	for len(before) > 0 { // those whose new ids are the old ones of another one follow on it
		n := len(before)
		before = slices.DeleteFunc(before, func(b *ledger.Earlier) bool {
			if !taken[b.Next] {
				return false
			}
			taken[b.ID] = true
			e := &ledger.Earlier{Run: j.ID, Path: source + "/" + b.Path, Table: b.Table, From: b.ID, IDs: b.IDs}
			all = append(all, Table{Earlier: e, after: b.Next})
			return true
		})
		if len(before) == n {
			break // of tables that are not merged
		}
	}
	return all, nil
}

// tableOf returns the name in the plan of a table that an earlier merge has filled, or "" if the plan does not
// merge it. That merge may have had another name for the database.
func tableOf(j *work.Job, source, name string) (string, error) {
	merged := func(t *plan.Table) bool { return !t.Skip && t.In(source) }
	if t := j.Plan.Table(name); t != nil {
		if !merged(t) {
			return "", nil
		}
		return name, nil
	}
	last := func(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }
	var found []string
	for _, t := range j.Plan.Tables {
		if strings.Contains(t.Name, ".") != strings.Contains(name, ".") && last(t.Name) == last(name) && merged(t) {
			found = append(found, t.Name)
		}
	}
	switch len(found) {
	case 0:
		return "", nil
	case 1:
		return found[0], nil
	}
	return "", &plan.Error{Table: found[0], Reason: fmt.Sprintf("an earlier merge has called a table %q, which may be any of %q: ids of that merge could not be looked up", name, found)}
}

// strayLedger returns an error if a database of a source has a ledger, and is not the one that the source's pool is in.
func strayLedger(ctx context.Context, j *work.Job, s *chunk.Session) error {
	databases := s.Engine.Databases()
	if len(databases) == 0 || j.Engine.Kind == sqlsnow.SQLite {
		return nil
	}
	own := map[sqlsnow.Dialect]string{sqlsnow.MySQL: "DATABASE()", sqlsnow.Postgres: "current_schema()"}[j.Engine.Kind]
	for _, name := range slices.Sorted(maps.Values(databases)) {
		var n int
		text := j.Engine.SQL("SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = ? AND table_schema <> " + own + " AND table_name = 'snow_merge_runs'")
		if err := s.QueryRowContext(ctx, text, name).Scan(&n); err != nil {
			return j.Engine.Failed("look for the ledger of an earlier merge", err)
		}
		if n > 0 {
			return &plan.Error{Reason: fmt.Sprintf("database %q has the ledger of an earlier merge: let the DSN of the source name that database", name)}
		}
	}
	return nil
}

// number numbers what one source has from a number on, and finds what has its new ids.
func number(found []Table, r *ledger.Run, source string, number int64) (all []*ledger.Earlier) {
	numbers := map[int64]int64{} // by the databases in the source's ledger
	for i, h := range found {
		e := h.Earlier
		e.ID = number + int64(i)
		numbers[e.From] = e.ID
		if h.next != "" {
			e.Next = r.Table(source, h.next).ID
		} else {
			e.Next = numbers[h.after]
		}
		all = append(all, e)
	}
	return all
}
