package phases

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// phaseInherit is the phase of the events while ledgers of sources are copied.
const phaseInherit = "inherit"

// A heritage is a source table of an earlier merge in the ledger of a source, and the table of the source that its
// rows are in.
type heritage struct {
	*ledger.Earlier
	next  string // the table of the plan, if the merge was that which made the source
	after int64  // otherwise the number of the one in the source's ledger that has its new ids
}

// heritages returns what the ledger of a source has of tables that the plan merges.
func (j *Job) heritages(ctx context.Context, c *chunk.Conns, source string) (all []heritage, err error) {
	defer func() { err = dialect.OfSource(source, err) }()
	s, err := c.Source(ctx, source)
	if err != nil {
		return nil, err
	}
	if err := j.strayLedger(ctx, s); err != nil {
		return nil, err
	}
	l := ledger.Of(s)
	merges, err := l.Merges(ctx)
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
			return nil, fmt.Errorf("%w: it was to make this source", report.ErrUnfinished)
		}
		made, err := plan.Read(strings.NewReader(m.Plan))
		if err != nil {
			return nil, fmt.Errorf("the plan of an earlier merge: %w", err)
		}
		for _, t := range m.Tables {
			next, err := j.tableOf(source, t.Table)
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
			all = append(all, heritage{Earlier: e, next: next})
		}
	}
	before, err := l.Earlier(ctx, "")
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
			all = append(all, heritage{Earlier: e, after: b.Next})
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
func (j *Job) tableOf(source, name string) (string, error) {
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
func (j *Job) strayLedger(ctx context.Context, s *chunk.Session) error {
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

// inheritable returns why ledgers of sources could not be copied.
func (p *preflight) inheritable(ctx context.Context) (errs []error) {
	for _, source := range p.Plan.Sources {
		if _, err := p.heritages(ctx, p.conns, source); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// inherit copies what the ledgers of sources say of the merges that made them: so ids of servers from before those
// are found, also when the sources are gone. It goes on where an earlier process ended.
func (w *writing) inherit(ctx context.Context) error {
	l := ledger.Of(w.conns.Target)
	all, err := l.Earlier(ctx, w.ID)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		if all, err = w.adopt(ctx, l); err != nil {
			return err
		}
	}
	if len(all) > 0 {
		w.tell(report.Event{Kind: report.EventPhase, Phase: phaseInherit, Total: -1})
	}
	for _, e := range all {
		progress := w.progress(phaseInherit, e.SourceTable(w.Engine.Kind), 0, -1)
		progress.begin()
		for _, part := range ledger.Parts(w.Engine.Kind) {
			if err := w.inheritPart(ctx, e, part, progress); err != nil {
				return err
			}
		}
		progress.end()
	}
	return nil
}

// adopt writes down the source tables of earlier merges, with numbers of their own.
func (w *writing) adopt(ctx context.Context, l ledger.Ledger) (all []*ledger.Earlier, err error) {
	number, err := l.NextSourceTable(ctx)
	if err != nil {
		return nil, err
	}
	for _, source := range w.Plan.Sources {
		found, err := w.heritages(ctx, w.conns, source)
		if err != nil {
			return nil, err
		}
		all = append(all, numberHeritages(found, w.run, source, number)...)
		number += int64(len(found))
	}
	err = w.lease.Transaction(ctx, w.conns.Target, func() error { return l.InsertEarlier(ctx, all) })
	return all, w.Engine.Failed("write down earlier merges", err)
}

// numberHeritages numbers what one source has from a number on, and finds what has its new ids.
func numberHeritages(found []heritage, r *ledger.Run, source string, number int64) (all []*ledger.Earlier) {
	numbers := map[int64]int64{} // by those of the source's ledger
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

func (w *writing) inheritPart(ctx context.Context, e *ledger.Earlier, part ledger.Part, progress *Progress) error {
	s, err := w.conns.Source(ctx, e.Source())
	if err != nil {
		return err
	}
	target := w.conns.Target
	after, err := part.Last(ctx, ledger.Of(target), e.ID)
	if err != nil {
		return err
	}
	inserter := part.Writer(target)
	defer inserter.Close()
	for {
		if err := w.Pause(ctx); err != nil {
			return err
		}
		rows, err := part.Read(ctx, ledger.Of(s), e.From, after)
		if err != nil {
			return dialect.OfSource(e.Source(), err)
		}
		if len(rows) == 0 {
			return nil
		}
		err = w.lease.Transaction(ctx, target, func() error { return inserter.Write(ctx, part.Rows(e.ID, rows)) })
		if err != nil {
			return w.Engine.Failed("copy the ledger of source "+strconv.Quote(e.Source()), err)
		}
		after = part.Key(rows[len(rows)-1])
		progress.Chunk(len(rows), 0)
	}
}

// inherited compares what the target's ledger says of earlier merges with the ledgers of the sources.
func (v *verifying) inherited(ctx context.Context, c *chunk.Conns) error {
	all, err := ledger.Of(c.Target).Earlier(ctx, v.ID)
	if err != nil {
		return err
	}
	byPath := map[string]*ledger.Earlier{}
	for _, e := range all {
		byPath[e.Path+" "+e.Table] = e
	}
	fail := func(e *ledger.Earlier, reason string) {
		v.report.Add(report.Failure{Check: report.CheckMap, Source: e.Path, Table: e.Table, Reason: reason})
	}
	for _, source := range v.Plan.Sources {
		found, err := v.heritages(ctx, c, source)
		if errors.Is(err, report.ErrUnfinished) {
			v.report.Add(report.Failure{Check: report.CheckSource, Source: source, Reason: err.Error()})
			continue
		}
		if err != nil {
			return err
		}
		for _, want := range numberHeritages(found, v.run, source, 0) {
			e := byPath[want.Path+" "+want.Table]
			delete(byPath, want.Path+" "+want.Table)
			if e == nil || e.From != want.From || e.IDs != want.IDs {
				fail(want, "the source's ledger has an earlier merge of it, and the target's ledger has not")
				continue
			}
			same, err := v.sameParts(ctx, c, e)
			if err != nil {
				return err
			}
			if !same {
				fail(e, "what became of its rows in an earlier merge is not the same in the target's ledger as in the source's")
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(byPath)) {
		fail(byPath[key], "the target's ledger has an earlier merge of it, and the source's ledger has not")
	}
	return nil
}

// sameParts reports whether the ledgers of the source and of the target have the same rows of an earlier merge.
func (v *verifying) sameParts(ctx context.Context, c *chunk.Conns, e *ledger.Earlier) (bool, error) {
	s, err := c.Source(ctx, e.Source())
	if err != nil {
		return false, err
	}
	for _, part := range ledger.Parts(v.Engine.Kind) {
		for after := []any(nil); ; {
			want, err := part.Read(ctx, ledger.Of(s), e.From, after)
			if err != nil {
				return false, dialect.OfSource(e.Source(), err)
			}
			got, err := part.Read(ctx, ledger.Of(c.Target), e.ID, after)
			if err != nil {
				return false, err
			}
			if !reflect.DeepEqual(got, want) {
				return false, nil
			}
			if len(want) == 0 {
				break
			}
			after = part.Key(want[len(want)-1])
		}
	}
	return true, nil
}
