package merge

import (
	"errors"
	"fmt"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// A proof is what was found in one chunk, or in several.
type proof struct {
	read, copied, rekeyed, merged, dropped, renamed int64

	unhashed    bool      // a server has compared rows, so that the sums are not of all of them
	counted     bool      // a server has counted the rows of the source and of the map, by keys that are integers
	source      chunk.Sum // of the rows of the source, as they are
	want, found chunk.Sum // of those that should be in the target, and of those that are
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

// add takes over what was found in other chunks of the same table and source.
func (p *proof) add(o *proof) {
	p.read, p.copied, p.rekeyed = p.read+o.read, p.copied+o.copied, p.rekeyed+o.rekeyed
	p.merged, p.dropped, p.renamed = p.merged+o.merged, p.dropped+o.dropped, p.renamed+o.renamed
	p.unhashed = p.unhashed || o.unhashed
	p.counted = p.counted && o.counted
	p.source.Add(o.source)
	p.want.Add(o.want)
	p.found.Add(o.found)
	p.addReferences(o)
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

func (p *proof) addReferences(o *proof) {
	for key, ref := range o.references {
		p.reference(key).Checked += ref.Checked
		p.reference(key).Orphans += ref.Orphans
	}
	for key, reached := range o.paths {
		p.paths[key] = p.paths[key] || reached
	}
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

// sampledRows is how many rows of those that are compared at a time are looked at for samples.
const sampledRows = 50

// sampleRows keeps values of plain columns that nobody has decided on.
func (p *proof) sampleRows(j *job, t *ledger.SourceTable, rows [][]any) {
	for n, c := range t.Columns {
		if !j.undecided(c) {
			continue
		}
		for _, row := range rows[:min(len(rows), sampledRows)] {
			if id, ok := sqlvalue.ID(row[n]); ok && id > 0 {
				p.sample(c, id)
			}
		}
	}
}

// undecided reports whether a column is plain, and nobody has decided so.
func (j *job) undecided(c *plan.Column) bool {
	return c.Role == plan.RolePlain && !c.Decided && sqltype.Of(j.engine.Kind, c.Type).Kind <= sqltype.Text
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
