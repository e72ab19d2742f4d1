package phases

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"sync"
	"sync/atomic"
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

// A Job is a plan and the databases that it is for: what [github.com/shardsnow/snow/merge.New] was given, after
// it was checked. It does not change.
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

	NewExecutor func(context.Context, Work) (Executor, error)

	Events  func(report.Event) // nil if nobody listens
	telling sync.Mutex
	Pauser  chunk.Pauser
}

// An Executor does the work of a phase on one table of one source, with the
// sessions of one goroutine.
type Executor interface {
	// Mint decides what becomes of the rows after the last chunk of the ledger.
	Mint(ctx context.Context) error

	// Copy copies the rows of some chunks that follow on each other, in one
	// transaction, and returns about how many bytes they have.
	Copy(ctx context.Context, chunks []ledger.Chunk) (bytes int, err error)

	// Compare compares the rows of some chunks that follow on each other with
	// those of the target.
	Compare(ctx context.Context, tasks []Task) (*Findings, error)

	// Find looks for rows of a table without a primary key in the target, when Compare has seen those of all sources.
	Find(ctx context.Context, m *Multiset) (*Findings, error)

	// Link sets the references that were NULL when the rows of some chunks that
	// follow on each other were copied, in one transaction, and returns about how
	// many bytes the rows have.
	Link(ctx context.Context, chunks []ledger.Chunk) (bytes int, err error)

	Close()
}

// A Work is what an executor is made for.
type Work struct {
	*Job
	Run   *ledger.Run
	Table *ledger.SourceTable
	Conns *chunk.Conns
	Lease *ledger.Lease // but for verification

	// Phase mint.
	Conflicts *rekey.Conflicts
	Progress  *Progress

	// Phase copy, link.
	Deferred []*plan.Column // columns that are NULL until phase link
	Last     int64          // the number of the table's last chunk

	// Phase copy, link, and verification.
	Pages *ledger.Pages // what the goroutine remembers of the map

	// Verification.
	Sound   map[*plan.Column]bool // references of which all are known to be ids of rows
	Sets    []*Multiset           // where the table has no primary key: what its rows are added to
	Missing *Multiset             // instead: rows that were not found
}

// A Task is a chunk to verify, and what phase copy saw in it.
type Task struct{ Mint, Copied ledger.Chunk }

// connect returns sessions for a goroutine that reads.
func (j *Job) connect(ctx context.Context) (*chunk.Conns, error) {
	return chunk.OpenConns(ctx, j.Engine, j.Target, j.Sources)
}

// sameDatabases returns a [*snow.FieldError] if the databases of the target are not those that a run began with.
func (j *Job) sameDatabases(r *ledger.Run) error {
	if maps.Equal(j.Target.Names, r.Facts.Databases) {
		return nil
	}
	return &snow.FieldError{Field: "Databases", Value: fmt.Sprint(j.Target.Names), Bound: fmt.Sprintf("the run began with %v", r.Facts.Databases)}
}

// Writer returns sessions for a goroutine that writes.
func (j *Job) Writer(ctx context.Context) (*chunk.Conns, error) {
	c, err := j.connect(ctx)
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

// Pause waits while the run is paused.
func (j *Job) Pause(ctx context.Context) error { return j.Pauser.Wait(ctx, j.tell) }

// Blobs reports whether bytes differ from texts: so it is in SQLite.
func (j *Job) Blobs() bool { return j.Engine.Kind == sqlsnow.SQLite }

// parallel calls do at the same time for each of some sessions. The first error
// ends the others.
func parallel(ctx context.Context, all []*chunk.Conns, do func(context.Context, *chunk.Conns) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var group sync.WaitGroup
	for _, c := range all {
		group.Go(func() {
			if err := do(ctx, c); err != nil {
				stop(err) // the first one counts: the others follow from it
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

// parallelEach calls do once for each number below n, several at a time: each of some sessions takes the next number.
func parallelEach(ctx context.Context, all []*chunk.Conns, n int, do func(ctx context.Context, c *chunk.Conns, i int) error) error {
	var next atomic.Int64
	return parallel(ctx, all, func(ctx context.Context, c *chunk.Conns) error {
		for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
			if err := do(ctx, c, i); err != nil {
				return err
			}
		}
		return nil
	})
}

// An Assertion is a number that a merge must not change.
type Assertion struct {
	Name string // for the report
	SQL  string // gives one row of one number; NULL counts as 0
}

// measure returns the number that a database gives.
func (a Assertion) measure(ctx context.Context, db *chunk.Session) (*big.Rat, error) {
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

// printNumber returns a decimal number, which all that databases give are.
func printNumber(n *big.Rat) string {
	digits, exact := n.FloatPrec()
	if !exact {
		return n.RatString()
	}
	return n.FloatString(digits)
}
