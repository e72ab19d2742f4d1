package work

import (
	"context"
	"slices"
	"time"

	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// Phases that are not in the ledger.
const (
	PhaseDryRun  = "dry-run"
	PhaseWitness = "witness"
	PhaseAfter   = "after"
	PhaseInherit = "inherit" // its events have no number
)

// phaseNames returns the phases of a run of the plan, in their order.
func (j *Job) phaseNames() (all []string) {
	if Chooses(j.Plan) {
		all = append(all, ledger.PhaseChoose)
	}
	all = append(all, ledger.PhaseMint, ledger.PhaseCopy)
	if slices.ContainsFunc(j.Stages, func(st plan.Stage) bool { return len(st.Deferred) > 0 }) {
		all = append(all, ledger.PhaseLink)
	}
	all = append(all, ledger.PhaseVerify, PhaseWitness)
	if len(j.Plan.After) > 0 {
		all = append(all, PhaseAfter)
	}
	return all
}

// Tell passes an event on, one at a time.
func (j *Job) Tell(e report.Event) {
	if j.Events == nil {
		return
	}
	if all := j.phaseNames(); e.Phase == PhaseDryRun {
		e.Number, e.Phases = 1, 1
	} else if e.Number = slices.Index(all, e.Phase) + 1; e.Number > 0 {
		e.Phases = len(all)
	}
	j.telling.Lock()
	defer j.telling.Unlock()
	j.Events(e)
}

// Pause waits while the run is paused.
func (j *Job) Pause(ctx context.Context) error { return j.Pauser.Wait(ctx, j.Tell) }

// A Progress tells of one table in one phase. A nil Progress tells nothing of chunks.
type Progress struct {
	tell  func(report.Event)
	event report.Event
}

// Progress tells of a source table in a phase. Earlier runs have handled some of its rows. total is -1 if nobody
// knows it.
func (j *Job) Progress(phase string, t *ledger.SourceTable, rows, total int64) *Progress {
	return &Progress{j.Tell, report.Event{Phase: phase, Source: t.Source, Table: t.Table.Name, Rows: rows, Total: total}}
}

// TableProgress tells of a table of the target in a phase.
func (j *Job) TableProgress(phase string, t *plan.Table, total int64) *Progress {
	return &Progress{j.Tell, report.Event{Phase: phase, Table: t.Name, Total: total}}
}

// Rows returns how many rows were handled, and how many there are.
func (p *Progress) Rows() (done, total int64) { return p.event.Rows, p.event.Total }

// Begin tells that work on the table begins.
func (p *Progress) Begin() {
	if p != nil {
		p.event.Kind = report.EventTable
		p.tell(p.event)
	}
}

// Chunk tells of rows that one transaction has handled.
func (p *Progress) Chunk(rows int, took time.Duration) {
	if p != nil {
		p.event.Kind, p.event.Chunk, p.event.Took = report.EventChunk, rows, took
		p.event.Rows += int64(rows)
		p.tell(p.event)
	}
}

// End tells that all rows are handled.
func (p *Progress) End() { p.EndAt(p.event.Rows) }

// EndAt tells that all rows are handled, and how many there were.
func (p *Progress) EndAt(rows int64) {
	p.event.Kind, p.event.Chunk, p.event.Took, p.event.Rows, p.event.Total = report.EventEnd, 0, 0, rows, rows
	p.tell(p.event)
}

// Chooses reports whether the plan has conditions on rows.
func Chooses(p *plan.Plan) bool {
	return slices.ContainsFunc(p.Tables, func(t *plan.Table) bool { return !t.Skip && len(t.WithoutRows) > 0 })
}
