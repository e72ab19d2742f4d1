package merge

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/phases"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// Config configures [New]. All of it may be zero where the plan mints no ids.
type Config struct {
	// Namespace is the id space that minted ids belong to, see [sqlsnow.Init]. Each
	// source that mints takes a worker number of it out of the lease for good. A run
	// that is resumed has the one that it had; on a target that was made anew it
	// takes another one.
	Namespace string

	// Registry is the database that has the namespace. Nil means the target.
	Registry *sql.DB

	// Datacenter goes into every minted id, see [sqlsnow.LeaseConfig].
	Datacenter uint64

	// Holder tells people who is merging. Zero means the names of the host and
	// the process id.
	Holder string

	// Lease is how long a run that died keeps the next one waiting: 1 s to 1 h.
	// Zero means 10 s.
	Lease time.Duration

	// Writers is how many transactions are under way at the same time, at most 16.
	// Each takes a connection of the target and one of each source, and the lease
	// one more. Zero means 2; on SQLite there is always one.
	Writers int

	// BatchTime is how long a transaction should take. The number of its rows
	// follows from that, up to BatchRows. Zero means 500 ms and 10,000 rows.
	BatchTime time.Duration
	BatchRows int

	// PackRows is how many rows a table has at least whose ids are kept in lists, a
	// row of snow_merge_packs for each range of the table, and not in a row of
	// snow_merge_map each. That takes less time and room. It is done where a MySQL
	// server itself mints ids for a table that nothing refers to, and that has no
	// JSON, no texts above 64 kB, no FLOAT and no rows that are merged. [Lookup] and
	// [Export] know both. Zero means 100,000, and -1 that there are no lists.
	PackRows int

	// PauseFile stops the run, between two transactions, for as long as a file of
	// this name exists. See also [Merge.Pause].
	PauseFile string

	// Events, if not nil, is told how the run goes on, by one goroutine at a time.
	// The run waits for it to return.
	Events func(report.Event)

	// Assertions are numbers that must add up.
	Assertions []Assertion

	// WithoutForeignKeys copies with the target's checks of foreign keys turned
	// off, where they go round in a circle that no NULL breaks. References are
	// verified in any case. PostgreSQL lets only superusers do so, and does
	// without triggers then.
	WithoutForeignKeys bool
}

// An Assertion is a number that a merge must not change: the sum over the
// sources, and over what the target had before, is that of the target
// afterwards. So it is one that adds up, such as SUM(gold) or COUNT(*), over
// rows that are all copied. What is rounded, such as the sum of a float, should
// be rounded in the statement.
type Assertion struct {
	Name string // for the report
	SQL  string // gives one row of one number; NULL counts as 0
}

// A Merge brings sources into a target by a plan. It is safe for concurrent
// use, but only one of its runs goes on at a time.
type Merge struct{ job phases.Job }

// New returns what merges sources into target by a plan, which must not be
// changed any more. What is wrong with the plan is a join of [*plan.Error], as
// [plan.Plan.Check] returns; a field of cfg out of bounds is a [*snow.FieldError].
// No database is asked before the first call of a method.
func New(d sqlsnow.Dialect, target *sql.DB, sources []Source, plan *plan.Plan, cfg Config) (*Merge, error) {
	m := &Merge{phases.Job{
		NewExecutor: newExecutor,
		Target:      target, Sources: map[string]*sql.DB{}, Plan: plan, Namespace: cfg.Namespace, Datacenter: cfg.Datacenter, PackRows: cfg.PackRows,
		Unchecked: cfg.WithoutForeignKeys, Events: cfg.Events, Pauser: chunk.Pauser{File: cfg.PauseFile},
	}}
	for _, a := range cfg.Assertions {
		m.job.Assertions = append(m.job.Assertions, phases.Assertion(a))
	}
	if err := m.check(d, sources, cfg); err != nil {
		return nil, fmt.Errorf("merge: new: %w", err)
	}
	return m, nil
}

func (m *Merge) check(d sqlsnow.Dialect, sources []Source, cfg Config) error {
	j := &m.job
	var err error
	if j.Engine, err = dialect.Of(d); err != nil {
		return err
	}
	if err := j.Plan.Check(); err != nil {
		return err
	}
	if j.Plan.Dialect != d.String() {
		return &plan.Error{Reason: "it is for " + j.Plan.Dialect + ", not " + d.String()}
	}
	for _, name := range j.Plan.Sources {
		at := slices.IndexFunc(sources, func(s Source) bool { return s.Name == name })
		if at < 0 || sources[at].DB == nil {
			return &plan.Error{Reason: "source " + strconv.Quote(name) + " is not given"}
		}
		j.Sources[name] = sources[at].DB
	}
	if len(sources) != len(j.Sources) {
		return &plan.Error{Reason: fmt.Sprintf("it has %d sources, and %d are given", len(j.Sources), len(sources))}
	}
	if j.Target == nil {
		return &snow.FieldError{Field: "target", Value: "nil", Bound: "want a database"}
	}
	if err := cfg.apply(j); err != nil {
		return err
	}
	if j.Order, err = j.Plan.MintOrder(); err != nil {
		return err
	}
	if j.Stages, err = j.Plan.Stages(j.Unchecked); err != nil {
		return err
	}
	for _, t := range j.Order {
		if _, err := j.Plan.Precedence(t); err != nil {
			return err
		}
	}
	canonical, err := json.Marshal(j.Plan)
	if err != nil {
		return err
	}
	hash := sha256.Sum256(canonical)
	j.ID, j.Text = hex.EncodeToString(hash[:]), string(canonical)
	return nil
}

// apply gives a job what is configured, with defaults for what is not. It
// refuses what is out of bounds.
func (c Config) apply(j *phases.Job) error {
	mints := slices.ContainsFunc(j.Plan.Tables, func(t *plan.Table) bool { return !t.Skip && len(t.Mint) > 0 })
	if mints && c.Namespace == "" {
		return &snow.FieldError{Field: "Namespace", Value: `""`, Bound: "want one: the plan mints ids"}
	}
	for _, f := range []struct {
		name              string
		value             time.Duration
		into              *time.Duration
		initial, min, max time.Duration
	}{
		{"Lease", c.Lease, &j.LeaseTime, 10 * time.Second, time.Second, time.Hour},
		{"BatchTime", c.BatchTime, &j.ChunkTime, 500 * time.Millisecond, time.Millisecond, time.Hour},
	} {
		*f.into = cmp.Or(f.value, f.initial)
		if *f.into < f.min || *f.into > f.max {
			return &snow.FieldError{Field: f.name, Value: f.value.String(), Bound: fmt.Sprintf("want %v to %v", f.min, f.max)}
		}
	}
	for _, f := range []struct {
		name         string
		value        int
		into         *int
		initial, max int
	}{{"Writers", c.Writers, &j.Writers, 2, 16}, {"BatchRows", c.BatchRows, &j.ChunkRows, 10_000, 1_000_000}, {"PackRows", c.PackRows, &j.PackRows, 100_000, math.MaxInt}} {
		*f.into = cmp.Or(f.value, f.initial)
		if never := f.into == &j.PackRows && f.value == -1; !never && (*f.into < 1 || *f.into > f.max) {
			return &snow.FieldError{Field: f.name, Value: strconv.Itoa(f.value), Bound: fmt.Sprintf("want 1 to %d", f.max)}
		}
	}
	j.Writers = min(j.Writers, j.Engine.Writers)
	for _, db := range j.Sources {
		if open := db.Stats().MaxOpenConnections; open > 0 {
			j.Writers = min(j.Writers, open)
		}
	}
	if open := j.Target.Stats().MaxOpenConnections; open > 0 && j.Engine.Writers > 1 {
		if open < 2 {
			return &snow.FieldError{Field: "target", Value: "of 1 connection", Bound: "want at least 2"}
		}
		j.Writers = min(j.Writers, open-1)
	}
	if j.Registry = c.Registry; j.Registry == nil {
		j.Registry = j.Target
	}
	if j.Holder = c.Holder; j.Holder == "" {
		host, err := os.Hostname()
		if err != nil {
			host = "unknown host"
		}
		j.Holder = host + " pid " + strconv.Itoa(os.Getpid())
	}
	if len(j.Holder) > 255 {
		return &snow.FieldError{Field: "Holder", Value: strconv.Quote(j.Holder[:80]), Bound: "want at most 255 characters"}
	}
	return nil
}

// Pause stops a run between two transactions, or lets it go on.
func (m *Merge) Pause(on bool) { m.job.Pauser.Paused.Store(on) }

// Run mints, copies and verifies, and returns what verification found. It goes
// on where an earlier run by the same plan ended, at whatever statement that
// was, and only verifies where that run had copied everything.
//
// The target has the plan's tables, see [plan.Plan.Schema], and what it has in them
// stays. Run adds tables of its own, snow_merge_…, which [Lookup] and [Export]
// read and which should be kept for as long as anybody asks for old ids. Sources
// are only read. Nobody may write to them, nor to the target's tables.
//
// What stops a run: databases that are one ([report.ErrSameDatabase]), a target's clock
// that is wrong ([*sqlsnow.ClockError]), another run ([*report.RunningError], [*report.OvertakenError], [report.ErrUnfinished],
// [report.ErrMerged]), a clash without a rule ([*report.ClashError]), a reference to nothing
// ([*report.OrphanError]), a source that changes ([*report.ChangedError]), a row that the
// target does not take ([*report.RowError]), tables that are not as the plan says
// or with more than it says ([*plan.Error]), the end of ctx, or the databases ([*sqlsnow.DatabaseError]).
// Once that is mended, another call goes on. As long as nothing was copied the
// plan may be changed for that too. Where verification fails, the error is
// a [*report.VerifyError], and the report is there all the same.
func (m *Merge) Run(ctx context.Context) (*report.Report, error) {
	if err := phases.Run(ctx, &m.job); err != nil {
		return nil, fmt.Errorf("merge: run: %w", ended(ctx, err))
	}
	report, err := m.Verify(ctx)
	if err == nil {
		err = report.Err()
	}
	return report, err
}

// Verify compares the target with what the sources, the plan and the ledger of
// [Merge.Run] say, and returns what it found: it writes nothing. It reads each
// row of the sources and its row in the target, and counts the others. What is
// wrong is in the report, whose Err returns a [*report.VerifyError]; an error of
// Verify itself says why nobody could look.
func (m *Merge) Verify(ctx context.Context) (*report.Report, error) {
	r, err := phases.Verify(ctx, &m.job)
	if err != nil {
		return nil, fmt.Errorf("merge: verify: %w", ended(ctx, err))
	}
	return r, nil
}

// DryRun reads all rows of the sources, and of the target those whose unique
// keys they have, and returns what a run would do to them and what would stop
// it: see [report.Forecast.Err]. It writes nothing, so the target need not even have
// the tables yet. What it remembers of rows that would be merged or renamed is
// kept in memory.
func (m *Merge) DryRun(ctx context.Context) (*report.Forecast, error) {
	f, err := phases.Forecast(ctx, &m.job)
	if err != nil {
		return nil, fmt.Errorf("merge: dry run: %w", ended(ctx, err))
	}
	return f, nil
}

// ended returns err with what ended ctx: drivers may hide that.
func ended(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(err, cause) {
		return fmt.Errorf("%w: %w", cause, err)
	}
	return err
}
