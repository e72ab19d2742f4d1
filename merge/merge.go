package merge

import (
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

// rangeRows is how many rows the ranges have that the ledger counts in.
const rangeRows = 500

// A Merge brings sources into a target by a plan. It is safe for concurrent
// use, but only one of its runs goes on at a time.
type Merge struct {
	engine  *engine
	target  *sql.DB
	sources []Source // in the plan's order
	plan    *plan.Plan
	config  Config
	run     string // hash of the plan
	text    string // the plan as JSON
	stages  []plan.Stage
	minting []*plan.Table // in the order in which their rows are looked at
	teller  teller
	brake   brake
}

// New returns what merges sources into target by a plan, which must not be
// changed any more. What is wrong with the plan is a join of [*plan.Error], as
// [plan.Plan.Check] returns; a field of cfg out of bounds is a [*snow.FieldError].
// No database is asked before the first call of a method.
func New(d sqlsnow.Dialect, target *sql.DB, sources []Source, plan *plan.Plan, cfg Config) (*Merge, error) {
	m := &Merge{target: target, plan: plan, config: cfg}
	if err := m.check(d, sources); err != nil {
		return nil, fmt.Errorf("merge: new: %w", err)
	}
	m.teller.to = cfg.Events
	m.brake.file = cfg.PauseFile
	return m, nil
}

func (m *Merge) check(d sqlsnow.Dialect, sources []Source) error {
	var err error
	if m.engine, err = engineOf(d); err != nil {
		return err
	}
	if err := m.plan.Check(); err != nil {
		return err
	}
	if m.plan.Dialect != d.String() {
		return &plan.Error{Reason: "it is for " + m.plan.Dialect + ", not " + d.String()}
	}
	for _, name := range m.plan.Sources {
		at := slices.IndexFunc(sources, func(s Source) bool { return s.Name == name })
		if at < 0 || sources[at].DB == nil {
			return &plan.Error{Reason: "source " + strconv.Quote(name) + " is not given"}
		}
		m.sources = append(m.sources, sources[at])
	}
	if len(sources) != len(m.sources) {
		return &plan.Error{Reason: fmt.Sprintf("it has %d sources, and %d are given", len(m.sources), len(sources))}
	}
	if m.target == nil {
		return &snow.FieldError{Field: "target", Value: "nil", Bound: "want a database"}
	}
	if err := m.config.check(m); err != nil {
		return err
	}
	if m.minting, err = m.plan.MintOrder(); err != nil {
		return err
	}
	if m.stages, err = m.plan.Stages(m.config.WithoutForeignKeys); err != nil {
		return err
	}
	for _, t := range m.minting {
		if _, err := m.plan.Precedence(t); err != nil {
			return err
		}
	}
	canonical, err := json.Marshal(m.plan)
	if err != nil {
		return err
	}
	hash := sha256.Sum256(canonical)
	m.run, m.text = hex.EncodeToString(hash[:]), string(canonical)
	return nil
}

// check refuses what is out of bounds and fills in what is left out.
func (c *Config) check(m *Merge) error {
	mints := slices.ContainsFunc(m.plan.Tables, func(t *plan.Table) bool { return !t.Skip && len(t.Mint) > 0 })
	if mints && c.Namespace == "" {
		return &snow.FieldError{Field: "Namespace", Value: `""`, Bound: "want one: the plan mints ids"}
	}
	for _, f := range []struct {
		name              string
		value             *int64
		initial, min, max int64
	}{
		{"Lease", (*int64)(&c.Lease), int64(10 * time.Second), int64(time.Second), int64(time.Hour)},
		{"BatchTime", (*int64)(&c.BatchTime), int64(500 * time.Millisecond), int64(time.Millisecond), int64(time.Hour)},
	} {
		if *f.value == 0 {
			*f.value = f.initial
		}
		if *f.value < f.min || *f.value > f.max {
			return &snow.FieldError{Field: f.name, Value: time.Duration(*f.value).String(), Bound: fmt.Sprintf("want %v to %v", time.Duration(f.min), time.Duration(f.max))}
		}
	}
	for _, f := range []struct {
		name         string
		value        *int
		initial, max int
	}{{"Writers", &c.Writers, 2, 16}, {"BatchRows", &c.BatchRows, 10_000, 1_000_000}, {"PackRows", &c.PackRows, 100_000, math.MaxInt}} {
		if *f.value == 0 {
			*f.value = f.initial
		}
		if never := f.value == &c.PackRows && c.PackRows == -1; !never && (*f.value < 1 || *f.value > f.max) {
			return &snow.FieldError{Field: f.name, Value: strconv.Itoa(*f.value), Bound: fmt.Sprintf("want 1 to %d", f.max)}
		}
	}
	c.Writers = min(c.Writers, m.engine.writers)
	for _, s := range m.sources {
		if open := s.DB.Stats().MaxOpenConnections; open > 0 {
			c.Writers = min(c.Writers, open)
		}
	}
	if open := m.target.Stats().MaxOpenConnections; open > 0 && m.engine.writers > 1 {
		if open < 2 {
			return &snow.FieldError{Field: "target", Value: "of 1 connection", Bound: "want at least 2"}
		}
		c.Writers = min(c.Writers, open-1)
	}
	if c.Registry == nil {
		c.Registry = m.target
	}
	if c.Holder == "" {
		host, err := os.Hostname()
		if err != nil {
			host = "unknown host"
		}
		c.Holder = host + " pid " + strconv.Itoa(os.Getpid())
	}
	if len(c.Holder) > 255 {
		return &snow.FieldError{Field: "Holder", Value: strconv.Quote(c.Holder[:80]), Bound: "want at most 255 characters"}
	}
	return nil
}

// Pause stops a run between two transactions, or lets it go on.
func (m *Merge) Pause(on bool) { m.brake.pulled.Store(on) }

// source returns the database of a source.
func (m *Merge) source(name string) *sql.DB {
	for _, s := range m.sources {
		if s.Name == name {
			return s.DB
		}
	}
	return nil
}

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
	if err := m.copyAll(ctx); err != nil {
		return nil, fmt.Errorf("merge: run: %w", ended(ctx, err))
	}
	report, err := m.Verify(ctx)
	if err == nil {
		err = report.Err()
	}
	return report, err
}

func (m *Merge) copyAll(ctx context.Context) (err error) {
	e := m.engine
	if err := m.lookFirst(ctx); err != nil {
		return err
	}
	numbers, err := m.reserve(ctx)
	if err != nil {
		return err
	}
	first, err := m.newWriter(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, first.close()) }()
	var renewer func(context.Context) (*session, error)
	if e.writers > 1 {
		renewer = func(ctx context.Context) (*session, error) { return e.openSession(ctx, m.target, e.target) }
	}
	ctx, g, err := e.takeLease(ctx, first.target, renewer, m.run, m.config.Holder, m.config.Lease)
	if err != nil {
		return err
	}
	defer g.release()
	err = m.phases(ctx, g, first, numbers)
	if cause := context.Cause(ctx); err != nil && errors.As(cause, new(*report.OvertakenError)) {
		return cause
	}
	return err
}

// lookFirst does so with connections of its own, for the registry, which is next,
// may be the target, whose pool may have only one.
func (m *Merge) lookFirst(ctx context.Context) (err error) {
	w, err := m.newWorker(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	return m.preflight(ctx, w)
}

func (m *Merge) phases(ctx context.Context, g *guard, first *worker, numbers map[string]sqlsnow.Reservation) error {
	if err := m.fits(ctx, first); err != nil {
		return err
	}
	r, err := m.begin(ctx, g, first, numbers)
	if err != nil || r.state == stateCopied {
		return err
	}
	if r.phase == phaseMint {
		if looksBack(m.plan) {
			if err := m.engine.indexMap(ctx, first.target); err != nil {
				return err
			}
		}
		if err := m.mint(ctx, g, r, first); err != nil {
			return err
		}
		if err := m.enter(ctx, g, first.target, r, stateRunning, phaseCopy); err != nil {
			return err
		}
	}
	if r.phase == phaseCopy {
		if err := m.fill(ctx, g, r, first, phaseCopy); err != nil {
			return err
		}
		if err := m.enter(ctx, g, first.target, r, stateRunning, phaseLink); err != nil {
			return err
		}
	}
	if err := m.fill(ctx, g, r, first, phaseLink); err != nil {
		return err
	}
	return m.enter(ctx, g, first.target, r, stateCopied, phaseVerify)
}

// looksBack reports whether unique keys hold references to rows that may be
// merged, so that old ids must be found by new ones.
func looksBack(p *plan.Plan) bool {
	return slices.ContainsFunc(p.Tables, func(t *plan.Table) bool {
		return !t.Skip && slices.ContainsFunc(t.Unique, func(u *plan.Unique) bool {
			return slices.ContainsFunc(u.Columns, func(name string) bool {
				return slices.ContainsFunc(t.Column(name).Refers, func(r *plan.Reference) bool {
					parent := p.Table(r.Table)
					return parent != nil && parent.Merges()
				})
			})
		})
	})
}
