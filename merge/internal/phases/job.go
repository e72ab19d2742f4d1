package phases

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// A Job is a plan and the databases that it is for: what [github.com/shardsnow/snow/merge.New] was given, after
// it was checked. It does not change.
type Job struct {
	Engine  *dialect.Dialect
	Target  *sql.DB
	Sources map[string]*sql.DB
	Plan    *plan.Plan
	ID      string // of the run: hash of the plan
	Text    string // the plan as JSON
	Stages  []plan.Stage
	Order   []*plan.Table // in which phase mint looks at rows

	Namespace  string
	Registry   *sql.DB
	Datacenter uint64
	Holder     string
	LeaseTime  time.Duration
	Writers    int
	ChunkTime  time.Duration
	ChunkRows  int
	PackRows   int
	Assertions []Assertion
	Unchecked  bool // by foreign keys

	NewExecutor func(context.Context, Work) (Executor, error)
	NewLinker   func(context.Context, Work) (Linker, error)

	Teller Teller
	Pauser chunk.Pauser
}

// conns returns sessions for a goroutine that reads.
func (j *Job) conns(ctx context.Context) (*chunk.Conns, error) {
	return chunk.OpenConns(ctx, j.Engine, j.Target, j.Sources)
}

// Writer returns sessions for a goroutine that writes.
func (j *Job) Writer(ctx context.Context) (*chunk.Conns, error) {
	c, err := j.conns(ctx)
	if err != nil || !j.Unchecked {
		return c, err
	}
	if err := c.WithoutForeignKeys(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Pace returns one for transactions of the job's length.
func (j *Job) Pace() *chunk.Pace { return chunk.NewPace(j.ChunkRows, j.ChunkTime) }

// Pause waits while the run is paused.
func (j *Job) Pause(ctx context.Context) error { return j.Pauser.Wait(ctx, j.Teller.tell) }

// Blobs reports whether bytes differ from texts: so it is in SQLite.
func (j *Job) Blobs() bool { return j.Engine.Kind == sqlsnow.SQLite }

// A Progress tells of one table of a source in one phase.
type Progress struct {
	tell  func(report.Event)
	event report.Event
}

// progress begins to tell of a table. Of rows were dealt with by earlier runs;
// total is -1 while nobody knows.
func (j *Job) progress(phase string, t *ledger.SourceTable, rows, total int64) *Progress {
	return &Progress{j.Teller.tell, report.Event{Kind: report.EventTable, Phase: phase, Source: t.Source, Table: t.Table.Name, Rows: rows, Total: total}}
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
