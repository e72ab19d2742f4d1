package verify

import (
	"errors"
	"fmt"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/work"
	"github.com/shardsnow/snow/merge/report"
)

// findings are what was found in one chunk, or in several.
type findings struct {
	ledger.Counts
	renamed int64
	bytes   int // about how much the rows of the source have in memory, where they were read

	source      chunk.Sum // of the rows of the source, as they are
	want, found chunk.Sum // of the rows that should be in the target, and of the rows that are
	first, last int64
	seen        *work.Seen
	references  map[work.RefKey]*report.Reference
	failures    []report.Failure
	failed      int64 // how many failures there are; not all are kept
}

// newFindings returns one of no rows.
func newFindings() *findings {
	return &findings{seen: work.NewSeen(), references: map[work.RefKey]*report.Reference{}}
}

// fail keeps a failure, if there are not many of the check already.
func (p *findings) fail(f report.Failure) {
	p.failed++
	p.failures = f.AppendTo(p.failures)
}

// add takes over what was found in other chunks of the same table and source.
func (p *findings) add(o *findings) {
	p.Counts.Add(o.Counts)
	p.renamed += o.renamed
	p.bytes += o.bytes
	p.source.Add(o.source)
	p.want.Add(o.want)
	p.found.Add(o.found)
	p.addReferences(o)
	p.seen.Add(o.seen)
	for _, f := range o.failures {
		p.fail(f)
	}
	p.failed += o.failed - int64(len(o.failures))
}

func (p *findings) addReferences(o *findings) {
	for key, ref := range o.references {
		p.reference(key).Checked += ref.Checked
		p.reference(key).Orphans += ref.Orphans
	}
}

// reference returns the counts of a kind of reference, which the caller adds to.
func (p *findings) reference(key work.RefKey) *report.Reference {
	r := p.references[key]
	if r == nil {
		r = &report.Reference{}
		p.references[key] = r
	}
	return r
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
