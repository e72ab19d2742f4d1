package phases

import (
	"context"
	"slices"
	"time"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// Phases that are not in the ledger.
const (
	phaseDryRun  = "dry-run"
	phaseWitness = "witness"
	phaseAfter   = "after"
)

// phaseNames returns the phases of a run of the plan, in their order.
func (j *Job) phaseNames() (all []string) {
	if j.Plan.Chooses() {
		all = append(all, ledger.PhaseChoose)
	}
	all = append(all, ledger.PhaseMint, ledger.PhaseCopy)
	if slices.ContainsFunc(j.Stages, func(st plan.Stage) bool { return len(st.Deferred) > 0 }) {
		all = append(all, ledger.PhaseLink)
	}
	all = append(all, ledger.PhaseVerify, phaseWitness)
	if len(j.Plan.After) > 0 {
		all = append(all, phaseAfter)
	}
	return all
}

// tell passes an event on, one at a time.
func (j *Job) tell(e report.Event) {
	if j.Events == nil {
		return
	}
	if all := j.phaseNames(); e.Phase == phaseDryRun {
		e.Number, e.Phases = 1, 1
	} else if e.Number = slices.Index(all, e.Phase) + 1; e.Number > 0 {
		e.Phases = len(all)
	}
	j.telling.Lock()
	defer j.telling.Unlock()
	j.Events(e)
}

// A Progress tells of one table of a source in one phase.
type Progress struct {
	tell  func(report.Event)
	event report.Event
}

// countRows counts the rows of source tables, if anybody listens.
func (j *Job) countRows(ctx context.Context, conns *chunk.Conns, tables []*ledger.SourceTable) (map[rowsOf]int64, error) {
	all := map[rowsOf]int64{}
	for _, t := range tables {
		if j.Events == nil || t.Table.Empty {
			continue
		}
		n, err := j.countSource(ctx, conns, t)
		if err != nil {
			return nil, err
		}
		all[rowsOf{t.Source, t.Table}] = n
	}
	return all, nil
}

// A rowsOf is a key of a source table, for what is known before it is in the ledger.
type rowsOf struct {
	source string
	table  *plan.Table
}

// totalOf returns how many rows a source table has, or -1 if nobody has counted them.
func totalOf(all map[rowsOf]int64, t *ledger.SourceTable) int64 {
	if n, ok := all[rowsOf{t.Source, t.Table}]; ok {
		return n
	}
	return -1
}

// sumOf returns how many rows there are, or -1 if nobody has counted them.
func sumOf(all map[rowsOf]int64) int64 {
	if len(all) == 0 {
		return -1
	}
	sum := int64(0)
	for _, n := range all {
		sum += n
	}
	return sum
}

// progress begins to tell of a table. Of rows were dealt with by earlier runs;
// total is -1 while nobody knows.
func (j *Job) progress(phase string, t *ledger.SourceTable, rows, total int64) *Progress {
	return &Progress{j.tell, report.Event{Kind: report.EventTable, Phase: phase, Source: t.Source, Table: t.Table.Name, Rows: rows, Total: total}}
}

func (p *Progress) begin() {
	p.event.Kind = report.EventTable
	p.tell(p.event)
}

// Chunk tells of rows that one transaction has dealt with.
func (p *Progress) Chunk(rows int, took time.Duration) {
	p.event.Kind, p.event.Chunk, p.event.Took = report.EventChunk, rows, took
	p.event.Rows += int64(rows)
	p.tell(p.event)
}

func (p *Progress) end() {
	p.event.Kind, p.event.Chunk, p.event.Took, p.event.Total = report.EventEnd, 0, 0, p.event.Rows
	p.tell(p.event)
}
