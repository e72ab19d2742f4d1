package merge

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

// A job is a plan and the databases that it is for: what [New] was given, after
// it was checked. It does not change.
type job struct {
	engine  *dialect.Dialect
	target  *sql.DB
	sources map[string]*sql.DB
	plan    *plan.Plan
	id      string // of the run: hash of the plan
	text    string // the plan as JSON
	stages  []plan.Stage
	order   []*plan.Table // in which phase mint looks at rows

	namespace  string
	registry   *sql.DB
	datacenter uint64
	holder     string
	leaseTime  time.Duration
	writers    int
	chunkTime  time.Duration
	chunkRows  int
	packRows   int
	assertions []assertion
	unchecked  bool // by foreign keys

	newExecutor func(context.Context, work) (executor, error)
	newLinker   func(context.Context, work) (linker, error)

	teller teller
	pauser chunk.Pauser
}

// conns returns sessions for a goroutine that reads.
func (j *job) conns(ctx context.Context) (*chunk.Conns, error) {
	return chunk.OpenConns(ctx, j.engine, j.target, j.sources)
}

// writer returns sessions for a goroutine that writes.
func (j *job) writer(ctx context.Context) (*chunk.Conns, error) {
	c, err := j.conns(ctx)
	if err != nil || !j.unchecked {
		return c, err
	}
	if err := c.WithoutForeignKeys(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// pace returns one for transactions of the job's length.
func (j *job) pace() *chunk.Pace { return chunk.NewPace(j.chunkRows, j.chunkTime) }

// pause waits while the run is paused.
func (j *job) pause(ctx context.Context) error { return j.pauser.Wait(ctx, j.teller.tell) }

// blobs reports whether bytes differ from texts: so it is in SQLite.
func (j *job) blobs() bool { return j.engine.Kind == sqlsnow.SQLite }

// A progress tells of one table of a source in one phase.
type progress struct {
	tell  func(report.Event)
	event report.Event
}

// progress begins to tell of a table. Of rows were dealt with by earlier runs;
// total is -1 while nobody knows.
func (j *job) progress(phase string, t *ledger.SourceTable, rows, total int64) *progress {
	return &progress{j.teller.tell, report.Event{Kind: report.EventTable, Phase: phase, Source: t.Source, Table: t.Table.Name, Rows: rows, Total: total}}
}

func (p *progress) begin() {
	p.event.Kind = report.EventTable
	p.tell(p.event)
}

// chunk tells of rows that one transaction has dealt with.
func (p *progress) chunk(rows int, took time.Duration) {
	p.event.Kind, p.event.Batch, p.event.Took = report.EventBatch, rows, took
	p.event.Rows += int64(rows)
	p.tell(p.event)
}

func (p *progress) end() {
	p.event.Kind, p.event.Batch, p.event.Took, p.event.Total = report.EventEnd, 0, 0, p.event.Rows
	p.tell(p.event)
}
