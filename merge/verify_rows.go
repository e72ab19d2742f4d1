package merge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// A prover compares ranges of rows of one source with what should have become
// of them. It is used by one goroutine at a time.
type prover struct {
	engine   *engine
	plan     *plan.Plan
	worker   *worker
	rewriter *rewriter // of the scope that is compared
	direct   *direct   // of the same scope, if the server can compare the rows itself
	presence presence
	sound    map[*plan.Column]bool // references all of which are known to be ids of rows
}

// A proof is what a prover found in one range, or in several.
type proof struct {
	read, copied, rekeyed, merged, dropped, renamed int64

	unhashed    bool // the server has compared rows, so that the sums are not of all of them
	counted     bool // the server has counted the rows of the source and of the map, by keys that are integers
	source      sum  // of the rows of the source, as they are
	want, found sum  // of those that should be in the target, and of those that are
	first, last int64
	references  map[refKey]*report.Reference
	paths       map[refKey]bool // in JSON that was looked at: whether they led to a value
	samples     map[*plan.Column]map[int64]bool
	failures    []report.Failure
	failed      int64
}

// refKey is a kind of reference: a column and which of its references it is.
type refKey struct {
	column *plan.Column
	ref    int
}

func newProof() *proof {
	return &proof{references: map[refKey]*report.Reference{}, paths: map[refKey]bool{}, samples: map[*plan.Column]map[int64]bool{}}
}

// fail keeps a failure, if there are not many of the check already.
func (p *proof) fail(f report.Failure) {
	p.failed++
	p.failures = f.AppendTo(p.failures)
}

// add takes over what was found in another range of the same table and source.
func (p *proof) add(o *proof) {
	p.read, p.copied, p.rekeyed = p.read+o.read, p.copied+o.copied, p.rekeyed+o.rekeyed
	p.merged, p.dropped, p.renamed = p.merged+o.merged, p.dropped+o.dropped, p.renamed+o.renamed
	p.unhashed = p.unhashed || o.unhashed
	p.counted = p.counted && o.counted
	p.source.add(o.source)
	p.want.add(o.want)
	p.found.add(o.found)
	for key, ref := range o.references {
		p.reference(key).Checked += ref.Checked
		p.reference(key).Orphans += ref.Orphans
	}
	for key, reached := range o.paths {
		p.paths[key] = p.paths[key] || reached
	}
	for c, values := range o.samples {
		for v := range values {
			p.sample(c, v)
		}
	}
	for _, f := range o.failures {
		p.fail(f)
	}
	p.failed += o.failed - int64(len(o.failures))
}

func (p *proof) reference(key refKey) *report.Reference {
	r := p.references[key]
	if r == nil {
		r = &report.Reference{}
		p.references[key] = r
	}
	return r
}

// mostSamples is how many values of a plain column are kept.
const mostSamples = 300

func (p *proof) sample(c *plan.Column, v int64) {
	if p.samples[c] == nil {
		p.samples[c] = map[int64]bool{}
	}
	if len(p.samples[c]) < mostSamples {
		p.samples[c][v] = true
	}
}

// prove compares the rows of a source in one range.
func (p *prover) prove(ctx context.Context, s *scope, lo, hi []any) (*proof, error) {
	values, err := p.worker.read(ctx, s, lo, hi, 0)
	if err != nil {
		return nil, err
	}
	found := newProof()
	found.read = int64(len(values))
	h := newHasher(s.columns, p.engine.dialect == sqlsnow.SQLite)
	for _, v := range values {
		found.source.add(h.row(v))
	}
	rows, err := p.rewriter.rewrite(ctx, s, values)
	if failure, ok := failureOf(err); ok {
		found.fail(failure)
		return found, nil
	}
	if err != nil {
		return nil, err
	}
	return found, p.compare(ctx, s, rows, found, h)
}

// failureOf returns the failure that an error of a row is.
func failureOf(err error) (report.Failure, bool) {
	var orphan *report.OrphanError
	var bad *report.RowError
	switch {
	case errors.As(err, &orphan):
		return report.Failure{
			Check: report.CheckReference, Source: orphan.Source, Table: orphan.Table, Column: orphan.Column, Row: orphan.Row,
			Reason: fmt.Sprintf("%q is the id of no row of the source", orphan.Value),
		}, true
	case errors.As(err, &bad):
		return report.Failure{Check: report.CheckSource, Source: bad.Source, Table: bad.Table, Row: bad.Row, Reason: bad.Err.Error()}, true
	}
	return report.Failure{}, false
}

func (p *prover) compare(ctx context.Context, s *scope, rows []row, found *proof, h *hasher) error {
	var keys [][]any
	wants := make([]sum, len(rows))
	at := map[string]int{} // which row has a primary key in the target
	for i, r := range rows {
		switch r.fate {
		case missing:
			found.fail(report.Failure{Check: report.CheckSource, Source: s.source, Table: s.table.Name, Row: keyText(r.key), Reason: "the row is new since the run began"})
		case merged:
			found.merged++
		case dropped:
			found.dropped++
		}
		if r.new == nil {
			continue
		}
		wants[i] = h.row(r.new)
		found.want.add(wants[i])
		for n, c := range s.columns {
			if s.changed && c.Role == plan.RolePlain && !h.equal(n, r.old[n], r.new[n]) {
				found.renamed++
			}
		}
		if r.fate == minted {
			found.rekeyed++
			p.order(s, r, found)
		}
		key := s.rowKey(r.new)
		at[p.keyOf(s, key)] = i
		keys = append(keys, p.fitted(s, key))
	}
	there, err := p.engine.readKeys(ctx, p.worker.target, s.table.Name, s.columns, s.table.PrimaryKey, keys)
	if err != nil {
		return p.engine.failed(fmt.Sprintf("read table %q of the target", s.table.Name), err)
	}
	seen := make([]bool, len(rows))
	for _, got := range there {
		i, ok := at[p.keyOf(s, s.rowKey(got))]
		if !ok {
			continue // its key is equal to one of ours for the database: ours is missing, then
		}
		seen[i] = true
		found.copied++
		is := h.row(got)
		found.found.add(is)
		if is != wants[i] {
			p.differences(s, rows[i], got, found, h)
		}
	}
	for i, r := range rows {
		if r.new != nil && !seen[i] {
			found.fail(report.Failure{
				Check: report.CheckRows, Source: s.source, Table: s.table.Name, Row: keyText(r.key), Target: keyText(s.rowKey(r.new)), Reason: "the row is missing",
			})
		}
	}
	p.sample(s, there, found)
	return p.references(ctx, s, rows, there, at, found)
}

// keyOf returns a primary key as the key of a Go map.
func (p *prover) keyOf(s *scope, key []any) string {
	var b strings.Builder
	for i, v := range key {
		b.Write(formOf(s.columns[s.primary[i]]).append(nil, v, p.engine.dialect == sqlsnow.SQLite))
		b.WriteByte(0)
	}
	return b.String()
}

func (p *prover) fitted(s *scope, key []any) []any {
	key = slices.Clone(key)
	for i, v := range key {
		key[i] = p.engine.fit(v, s.columns[s.primary[i]])
	}
	return key
}

// order sees to it that minted ids sort as the old ones, and are those that
// nobody else can have got.
func (p *prover) order(s *scope, r row, found *proof) {
	id, ok := idOf(r.new[s.key])
	if !ok {
		return
	}
	if found.first == 0 {
		found.first = id
	} else if id <= found.last {
		found.fail(report.Failure{
			Check: report.CheckOrder, Source: s.source, Table: s.table.Name, Row: keyText(r.key), Target: keyText([]any{id}),
			Reason: fmt.Sprintf("its id is not above that of the row before, %d", found.last),
		})
	}
	found.last = id
	if mask, value := s.lane.own(); uint64(id)&mask != value {
		found.fail(report.Failure{
			Check: report.CheckMap, Source: s.source, Table: s.table.Name, Row: keyText(r.key), Target: keyText([]any{id}), Reason: "its id is not one of those that were reserved",
		})
	}
}

func (p *prover) differences(s *scope, r row, got []any, found *proof, h *hasher) {
	for n, c := range s.columns {
		if !h.equal(n, r.new[n], got[n]) {
			found.fail(report.Failure{
				Check: report.CheckRows, Source: s.source, Table: s.table.Name, Column: c.Name, Row: keyText(r.key), Target: keyText(s.rowKey(got)),
				Reason: fmt.Sprintf("want %s, got %s", sampleOf(r.new[n]), sampleOf(got[n])),
			})
		}
	}
}

// sampleOf returns a value for people, and not all of it if it is long.
func sampleOf(v any) string {
	const most = 60
	switch v := v.(type) {
	case nil:
		return "NULL"
	case []byte:
		if len(v) > most {
			return fmt.Sprintf("%d bytes that begin with %x", len(v), v[:most])
		}
		return fmt.Sprintf("x'%x'", v)
	case string:
		if len(v) > most {
			return fmt.Sprintf("%d bytes that begin with %q", len(v), v[:most])
		}
		return fmt.Sprintf("%q", v)
	}
	return textOf(v)
}

// sample keeps values of plain columns that nobody has decided on.
func (p *prover) sample(s *scope, rows [][]any, found *proof) {
	for n, c := range s.columns {
		if c.Role != plan.RolePlain || c.Decided || sqltype.Of(p.engine.dialect, c.Type).Kind > sqltype.Text {
			continue
		}
		for _, row := range rows[:min(len(rows), sampledRows)] {
			if id, ok := idOf(row[n]); ok && id > 0 {
				found.sample(c, id)
			}
		}
	}
}

// references looks for the rows that the target's rows refer to.
func (p *prover) references(ctx context.Context, s *scope, rows []row, there [][]any, at map[string]int, found *proof) error {
	type held struct {
		row    []any
		column *plan.Column
		ref    int
		text   string
		id     int64
		valid  bool
	}
	var all []held
	wanted := map[*plan.Table][]int64{}
	for n, c := range s.columns {
		if !c.HoldsReferences() {
			continue
		}
		f, err := newFinder(p.rewriter, s, n)
		if err != nil {
			return err
		}
		for _, values := range there {
			_, _, err := f.edit(&row{key: s.rowKey(values), old: values}, func(ref int, text string) (string, bool) {
				if p.sound[c] {
					found.reference(refKey{c, ref}).Checked++
					return text, true
				}
				id, ok := parseID(text)
				all = append(all, held{values, c, ref, text, id, ok})
				if parent := p.plan.Table(c.Refers[ref].Table); ok {
					wanted[parent] = append(wanted[parent], id)
				}
				return text, true
			})
			if failure, ok := failureOf(err); ok {
				failure.Row, failure.Target, failure.Check = "", failure.Row, report.CheckReference
				found.fail(failure)
			} else if err != nil {
				return err
			}
		}
		for ref, reached := range f.reached {
			found.paths[refKey{c, ref}] = reached
		}
	}
	exists := map[*plan.Table]map[int64]bool{}
	for parent, ids := range wanted {
		has, err := p.presence.of(ctx, parent, ids)
		if err != nil {
			return err
		}
		exists[parent] = has
	}
	for _, h := range all {
		ref := found.reference(refKey{h.column, h.ref})
		ref.Checked++
		parent := p.plan.Table(h.column.Refers[h.ref].Table)
		if h.valid && exists[parent][h.id] {
			continue
		}
		ref.Orphans++
		reason := fmt.Sprintf("no row of table %q has the id %q", parent.Name, h.text)
		if h.valid {
			after, err := p.rewriter.resolver.resolve(ctx, p.worker.target, nil, p.rewriter.scopes[parent.Name], []int64{h.id})
			if err != nil {
				return err
			}
			if a := after[h.id]; a.fate == minted || a.fate == merged {
				reason += fmt.Sprintf(": it is an old id, whose row has %d now", a.id)
			}
		}
		failure := report.Failure{Check: report.CheckReference, Source: s.source, Table: s.table.Name, Column: h.column.Name, Target: keyText(s.rowKey(h.row)), Reason: reason}
		if i, ok := at[p.keyOf(s, s.rowKey(h.row))]; ok {
			failure.Row = keyText(rows[i].key)
		}
		found.fail(failure)
	}
	return nil
}
