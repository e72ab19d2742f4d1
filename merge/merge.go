package merge

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/dryrun"
	"github.com/shardsnow/snow/merge/internal/packed"
	"github.com/shardsnow/snow/merge/internal/steps"
	"github.com/shardsnow/snow/merge/internal/verify"
	"github.com/shardsnow/snow/merge/internal/work"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// A Merge brings sources into a target by a plan. It is safe for concurrent use, but only one of its runs works at
// a time.
type Merge struct{ job work.Job }

// New returns a Merge of sources into target. The plan must not be changed any more. What is wrong with it is a
// join of [*plan.Error], as [plan.Plan.Check] returns; a field of cfg that is out of bounds is a
// [*snow.FieldError]. New does not ask the databases.
func New(d sqlsnow.Dialect, target *sql.DB, sources []Source, plan *plan.Plan, cfg Config) (*Merge, error) {
	m := &Merge{work.Job{
		Target: chunk.Database{DB: target}, Sources: map[string]chunk.Database{}, Plan: plan, Namespace: cfg.Namespace, Datacenter: cfg.Datacenter, PackRows: cfg.PackRows,
		Unchecked: cfg.WithoutForeignKeys, WitnessAll: cfg.WitnessAll, Events: cfg.Events, Pauser: chunk.Pauser{File: cfg.PauseFile},
	}}
	for name, codec := range cfg.Codecs {
		if m.job.Codecs.Hooks == nil {
			m.job.Codecs.Hooks = map[string]packed.Hook{}
		}
		if codec != nil {
			m.job.Codecs.Hooks[name] = codec
		}
	}
	for _, a := range cfg.Assertions {
		m.job.Assertions = append(m.job.Assertions, work.Assertion(a))
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
		if err := j.Plan.CheckDatabases("source "+strconv.Quote(name), sources[at].Databases); err != nil {
			return err
		}
		j.Sources[name] = chunk.Database{DB: sources[at].DB, Names: maps.Clone(sources[at].Databases)}
	}
	if len(sources) != len(j.Sources) {
		return &plan.Error{Reason: fmt.Sprintf("it has %d sources, and %d are given", len(j.Sources), len(sources))}
	}
	if j.Target.DB == nil {
		return &snow.FieldError{Field: "target", Value: "nil", Bound: "want a database"}
	}
	j.Codecs.Dialect = d
	for _, t := range j.Plan.Tables {
		for _, c := range t.Columns {
			if c.Role != plan.RolePacked || t.Skip {
				continue
			}
			if _, _, err := j.Codecs.Of(t, c); err != nil {
				return err
			}
		}
	}
	if j.Target.Names = maps.Clone(cfg.Databases); cfg.Databases == nil && len(j.Plan.Databases) > 0 {
		j.Target.Names = map[string]string{}
		for _, name := range j.Plan.Databases {
			j.Target.Names[name] = name
		}
	}
	if err := j.Plan.CheckDatabases("the target", j.Target.Names); err != nil {
		return err
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
	text, err := json.Marshal(j.Plan)
	if err != nil {
		return err
	}
	canonical, err := json.Marshal(effects(j.Plan))
	if err != nil {
		return err
	}
	hash := sha256.Sum256(canonical)
	j.ID, j.Text = hex.EncodeToString(hash[:]), string(text)
	return nil
}

// effects returns what a plan does with rows, without what was asked, who has decided, and what rows do not depend
// on: so people can close what a run has left open, and verify that run.
func effects(p *plan.Plan) *plan.Plan {
	same := *p
	same.Notes, same.Questions, same.Accepted, same.After, same.Tables = nil, nil, nil, nil, nil
	for _, t := range p.Tables {
		if t.Skip {
			same.Tables = append(same.Tables, &plan.Table{Name: t.Name, Skip: true})
			continue
		}
		table := *t
		table.Comment, table.Indexes, table.Notes, table.Columns, table.Unique = "", nil, nil, nil, nil
		for _, c := range t.Columns {
			column := *c
			column.Comment, column.Decided, column.Suspects = "", false, nil
			table.Columns = append(table.Columns, &column)
		}
		for _, u := range t.Unique {
			unique := *u
			unique.Decided, unique.Suspects = false, nil
			table.Unique = append(table.Unique, &unique)
		}
		same.Tables = append(same.Tables, &table)
	}
	return &same
}

// Pause stops a run between two transactions, or lets it go on.
func (m *Merge) Pause(on bool) { m.job.Pauser.Paused.Store(on) }

// Run makes new ids, copies and verifies, and returns what verification found. It continues where an earlier run of the
// same plan ended, at any statement. If that run had copied everything, it only verifies.
//
// The target has the plan's tables, see [plan.Plan.Schema], and keeps the rows that it has. Run adds tables
// snow_merge_…, which [Lookup] and [Export] read: keep them for as long as anybody asks for old ids. Sources are
// only read. Nobody may write to them, nor to the target's tables.
//
// What stops a run: two databases that are one ([report.ErrSameDatabase]), a pooler that gives the statements of a
// session to several connections ([report.ErrMultiplexed]), a wrong clock of the target ([*sqlsnow.ClockError]),
// another run ([*report.RunningError], [*report.OvertakenError], [report.ErrUnfinished], [report.ErrMerged]), a
// clash without a rule ([*report.ClashError]), a reference to no row ([*report.OrphanError]), a source that has
// changed ([*report.ChangedError]), a row that the target refuses ([*report.RowError]), tables that differ from the
// plan ([*plan.Error]), the end of ctx, and failures of the databases ([*sqlsnow.DatabaseError]). Once the cause is
// removed, call Run again. The plan may be changed for that until the first row is copied. What was asked and who
// has decided is no part of it: it may change at any time. If verification fails, Run returns a
// [*report.VerifyError] and the report. If nothing is wrong and something was left open, it returns a
// [*report.OpenError] and the report: the rows are copied and compared.
//
// When verification has found nothing wrong and nothing was left open, Run does what [plan.Plan.After] says, each
// statement once, and keeps the report in the target: the rows are no longer as they were copied. A statement
// that fails is a [*report.StatementError]: correct it in the plan, and call Run again.
func (m *Merge) Run(ctx context.Context) (*report.Report, error) {
	if err := steps.Run(ctx, &m.job); err != nil {
		return nil, fmt.Errorf("merge: run: %w", ended(ctx, err))
	}
	report, err := m.Verify(ctx)
	if err == nil {
		err = report.Err()
	}
	if err != nil {
		return report, err
	}
	if err := steps.After(ctx, &m.job, report); err != nil {
		return report, fmt.Errorf("merge: run: %w", ended(ctx, err))
	}
	return report, nil
}

// Verify compares the target with the sources, the plan and the ledger of [Merge.Run], and returns what it found.
// It writes nothing. It reads each row of the sources and its row in the target, and counts the other rows. A
// witness, which knows neither the ledger nor the code that rewrites references, compares the contents of the rows
// that references lead to. What is wrong is in the report, whose Err returns a [*report.VerifyError], or a
// [*report.OpenError] if something was not decided or not compared. Verify itself returns an error only if it could
// not look. Once statements of [plan.Plan.After] have run, it looks at nothing, and returns the report from before
// them.
func (m *Merge) Verify(ctx context.Context) (*report.Report, error) {
	r, err := verify.Verify(ctx, &m.job)
	if err != nil {
		return nil, fmt.Errorf("merge: verify: %w", ended(ctx, err))
	}
	return r, nil
}

// DryRun reads all rows of the sources, and the rows of the target that have their unique keys, and returns what a run
// would do and what would stop it: see [report.Forecast.Err]. What it passes, Run does not refuse, unless the databases
// change, or a disk, a connection or a limit of the server ends the run. It writes nothing that stays: where only the
// database can judge rows, because of checks or other types, it inserts them into a temporary table. It keeps rows that
// would be merged or renamed in memory. Where rows would be renamed, it reads the texts of their source once more, for
// the names that these rows lose.
func (m *Merge) DryRun(ctx context.Context) (*report.Forecast, error) {
	f, err := dryrun.Forecast(ctx, &m.job)
	if err != nil {
		return nil, fmt.Errorf("merge: dry run: %w", ended(ctx, err))
	}
	return f, nil
}

// RunID returns the id of the run, which is made from the plan. Plans that do the same with rows have the same id:
// compare it with the one of a forecast.
func (m *Merge) RunID() string { return m.job.ID }

// Rows counts the rows of the sources that a run reads. It shows early that the databases answer.
func (m *Merge) Rows(ctx context.Context) (int64, error) {
	rows, err := work.CountSources(ctx, &m.job)
	if err != nil {
		return 0, fmt.Errorf("merge: count rows: %w", ended(ctx, err))
	}
	return rows, nil
}

// ended returns err with the cause for the end of ctx, which drivers may hide.
func ended(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(err, cause) {
		return fmt.Errorf("%w: %w", cause, err)
	}
	return err
}
