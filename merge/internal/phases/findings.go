package phases

import (
	"errors"
	"fmt"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// Findings are what was found in one chunk, or in several.
type Findings struct {
	ledger.Counts
	Renamed int64

	Unhashed    bool      // a server has compared rows, so that the sums are not of all of them
	Source      chunk.Sum // of the rows of the source, as they are
	Want, Found chunk.Sum // of those that should be in the target, and of those that are
	First, Last int64
	references  map[RefKey]*report.Reference
	paths       map[path]bool // that were looked at: whether they led to a value
	samples     map[*plan.Column]map[int64]bool
	Failures    []report.Failure
	failed      int64
}

// RefKey is a kind of reference: a column and which of its references it is.
type RefKey struct {
	Column *plan.Column
	Ref    int
}

// A path is one of JSON or of a packed value, in rows of a source.
type path struct {
	RefKey
	source string
}

// NewFindings returns one of no rows.
func NewFindings() *Findings {
	return &Findings{references: map[RefKey]*report.Reference{}, paths: map[path]bool{}, samples: map[*plan.Column]map[int64]bool{}}
}

// Fail keeps a failure, if there are not many of the check already.
func (p *Findings) Fail(f report.Failure) {
	p.failed++
	p.Failures = f.AppendTo(p.Failures)
}

// Add takes over what was found in other chunks of the same table and source.
func (p *Findings) Add(o *Findings) {
	p.Counts.Add(o.Counts)
	p.Renamed += o.Renamed
	p.Unhashed = p.Unhashed || o.Unhashed
	p.Source.Add(o.Source)
	p.Want.Add(o.Want)
	p.Found.Add(o.Found)
	p.addReferences(o)
	for c, values := range o.samples {
		for v := range values {
			p.sample(c, v)
		}
	}
	for _, f := range o.Failures {
		p.Fail(f)
	}
	p.failed += o.failed - int64(len(o.Failures))
}

func (p *Findings) addReferences(o *Findings) {
	for key, ref := range o.references {
		p.Reference(key).Checked += ref.Checked
		p.Reference(key).Orphans += ref.Orphans
	}
	for key, reached := range o.paths {
		p.paths[key] = p.paths[key] || reached
	}
}

// Reach takes over which paths of a column have led to a value in rows of a source.
func (p *Findings) Reach(source string, column *rekey.IDColumn) {
	for ref, reached := range column.Reached {
		key := path{RefKey{column.Column, ref}, source}
		p.paths[key] = p.paths[key] || reached
	}
}

// Reference returns the counts of a kind of reference, which the caller adds to.
func (p *Findings) Reference(key RefKey) *report.Reference {
	r := p.references[key]
	if r == nil {
		r = &report.Reference{}
		p.references[key] = r
	}
	return r
}

// mostSamples is how many values of a plain column are kept.
const mostSamples = 300

func (p *Findings) sample(c *plan.Column, v int64) {
	if p.samples[c] == nil {
		p.samples[c] = map[int64]bool{}
	}
	if len(p.samples[c]) < mostSamples {
		p.samples[c][v] = true
	}
}

// FailureOf returns the failure that an error of a row is.
func FailureOf(err error) (report.Failure, bool) {
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
