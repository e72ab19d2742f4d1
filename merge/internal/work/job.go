package work

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"sync"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// A Job is a plan and its databases: what [github.com/shardsnow/snow/merge.New] got, after it was checked. It does not
// change.
type Job struct {
	Engine  *dialect.Dialect
	Target  chunk.Database
	Sources map[string]chunk.Database
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
	Throttle   int // of a dry run: rows a second, or 0
	Codecs     rekey.Codecs
	Assertions []Assertion
	Unchecked  bool // by foreign keys
	WitnessAll bool // references, and not a sample

	Events  func(report.Event) // nil if nobody listens
	telling sync.Mutex
	Pauser  chunk.Pauser
}

// A Writer is what a goroutine of a run writes with.
type Writer struct {
	*Job
	Run   *ledger.Run
	Conns *chunk.Conns
	Lease *ledger.Lease
}

// Transaction does something in a transaction of the target, if the run still has its lease. what says in an error what
// failed.
func (w *Writer) Transaction(ctx context.Context, what string, do func() error) error {
	return w.Engine.Failed(what, w.Lease.Transaction(ctx, w.Conns.Target, do))
}

// Connect returns sessions for a goroutine that reads.
func (j *Job) Connect(ctx context.Context) (*chunk.Conns, error) {
	return chunk.OpenConns(ctx, j.Engine, j.Target, j.Sources)
}

// SameDatabases returns a [*snow.FieldError] if the databases of the target differ from the ones that a run began with.
func (j *Job) SameDatabases(r *ledger.Run) error {
	if maps.Equal(j.Target.Names, r.Facts.Databases) {
		return nil
	}
	return &snow.FieldError{Field: "Databases", Value: fmt.Sprint(j.Target.Names), Bound: fmt.Sprintf("the run began with %v", r.Facts.Databases)}
}

// ConnectWriter returns sessions for a goroutine that writes.
func (j *Job) ConnectWriter(ctx context.Context) (*chunk.Conns, error) {
	c, err := j.Connect(ctx)
	if err != nil || !j.Unchecked {
		return c, err
	}
	if err := c.Target.Set(ctx, j.Engine.Unchecked); err != nil {
		return nil, errors.Join(j.Engine.Failed("turn foreign keys off", err), c.Close())
	}
	return c, nil
}

// Pace returns one for transactions of the job's length.
func (j *Job) Pace() *chunk.Pace { return chunk.NewPace(j.ChunkRows, j.ChunkTime) }

// PaceOf returns one for reads of a table. Without a primary key each read goes through the whole table: so it returns
// more rows, and only how many bytes they have limits them.
func (j *Job) PaceOf(t *ledger.SourceTable) *chunk.Pace {
	if t.Content == nil {
		return j.Pace()
	}
	return chunk.NewPaceOfBytes(j.ChunkRows)
}

// Blobs reports whether bytes differ from texts: so it is in SQLite.
func (j *Job) Blobs() bool { return j.Engine.Kind == sqlsnow.SQLite }

// An Assertion is a number that a merge must not change.
type Assertion struct {
	Name string // for the report
	SQL  string // gives one row of one number; NULL counts as 0
}

// Measure returns the number that a database gives.
func (a Assertion) Measure(ctx context.Context, db *chunk.Session) (*big.Rat, error) {
	var v any
	if err := db.QueryRowContext(ctx, db.Engine.Expand(a.SQL)).Scan(&v); err != nil {
		return nil, fmt.Errorf("assertion %q: %w", a.Name, err)
	}
	n, err := chunk.ParseNumber(v)
	if err != nil {
		return nil, fmt.Errorf("assertion %q: %w", a.Name, err)
	}
	return n, nil
}

// PrintNumber returns a decimal number, which all that databases give are.
func PrintNumber(n *big.Rat) string {
	digits, exact := n.FloatPrec()
	if !exact {
		return n.RatString()
	}
	return n.FloatString(digits)
}
