package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// A Run is what the ledger says of one plan.
type Run struct {
	ID     string
	State  string
	Phase  string
	Facts  Facts
	Tables []*SourceTable // of each table that is not skipped and each source that has it
}

// Facts are what a run must know of the time at which it began.
type Facts struct {
	Namespace  string            `json:"namespace,omitempty"`
	Datacenter uint64            `json:"datacenter,omitempty"`
	Now        int64             `json:"now_us"`               // of the target's clock: no date is later
	Rows       map[string]int64  `json:"rows"`                 // of the target's tables
	Assertions map[string]string `json:"assertions,omitempty"` // what they gave in the target

	Databases map[string]string `json:"databases,omitempty"` // of the target by the plan's names, if there are several

	// by table: the new ids of the run, and the numbers above them that stay free for merges to come
	Left map[string]Numbers `json:"left,omitempty"`
}

// Table returns a table of a source, or nil.
func (r *Run) Table(source, table string) *SourceTable {
	for _, t := range r.Tables {
		if t.Source == source && t.Table.Name == table {
			return t
		}
	}
	return nil
}

// Of returns the tables of a source, by name.
func (r *Run) Of(source string) map[string]*SourceTable {
	all := map[string]*SourceTable{}
	for _, t := range r.Tables {
		if t.Source == source {
			all[t.Table.Name] = t
		}
	}
	return all
}

// Load reads the run of a plan. It returns nil if there is none.
func (l Ledger) Load(ctx context.Context, id string, p *plan.Plan) (*Run, error) {
	r := &Run{ID: id}
	var text string
	err := l.Q.QueryRowContext(ctx, l.Engine.SQL("SELECT state, phase, config FROM snow_merge_runs WHERE run = ?"), id).Scan(&r.State, &r.Phase, &text)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, l.Engine.Failed("read the ledger", err)
	}
	if err := json.Unmarshal([]byte(text), &r.Facts); err != nil {
		return nil, fmt.Errorf("read the ledger: %w", err)
	}
	err = l.Query(ctx, `SELECT source_table, source, tbl, ids, datacenter, worker, first_number, end_number
		FROM snow_merge_source_tables WHERE run = ? ORDER BY source_table`, []any{id}, func(rows *sql.Rows) error {
		t, err := l.scanTable(rows, p)
		r.Tables = append(r.Tables, t)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, t := range p.Tables {
		for _, source := range p.SourcesOf(t) {
			if !t.Skip && r.Table(source, t.Name) == nil {
				return nil, fmt.Errorf("%w: nothing of table %q of source %q", errLedger, t.Name, source)
			}
		}
	}
	return r, nil
}

func (l Ledger) scanTable(rows *sql.Rows, p *plan.Plan) (*SourceTable, error) {
	var id int64
	var source, name string
	var ids sql.NullString
	var datacenter, worker, first, end sql.NullInt64
	if err := rows.Scan(&id, &source, &name, &ids, &datacenter, &worker, &first, &end); err != nil {
		return nil, err
	}
	table := p.Table(name)
	if table == nil {
		return nil, fmt.Errorf("%w: table %q is not in the plan", errLedger, name)
	}
	t := NewSourceTable(id, source, table)
	t.Packable = IsPackable(l.Engine.Kind, p, t)
	if ids.Valid {
		t.Ids = IDRange{Datacenter: uint64(datacenter.Int64), Worker: uint64(worker.Int64), First: uint64(first.Int64), End: uint64(end.Int64)}
		if err := t.Ids.parseForm(ids.String); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// Merged returns the number and the plan of a table of a source that some run
// has, or 0, and the facts of the run.
func (l Ledger) Merged(ctx context.Context, source, table string) (id int64, plan string, facts Facts, err error) {
	var text string
	err = l.Q.QueryRowContext(ctx, l.Engine.SQL(`SELECT tables.source_table, runs.plan, runs.config FROM snow_merge_source_tables AS tables
		JOIN snow_merge_runs AS runs ON runs.run = tables.run WHERE tables.source = ? AND tables.tbl = ?`), source, table).Scan(&id, &plan, &text)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, "", facts, nil
	}
	if err == nil {
		err = json.Unmarshal([]byte(text), &facts)
	}
	return id, plan, facts, l.Engine.Failed("read the ledger", err)
}

// SourceTables returns the tables of all runs, with what the map needs to know of them.
func (l Ledger) SourceTables(ctx context.Context) (all []*SourceTable, err error) {
	err = l.Query(ctx, "SELECT source_table, source, tbl FROM snow_merge_source_tables ORDER BY source_table", nil, func(rows *sql.Rows) error {
		t := &SourceTable{Table: &plan.Table{}, Packable: l.Engine.Kind == sqlsnow.MySQL}
		err := rows.Scan(&t.ID, &t.Source, &t.Table.Name)
		all = append(all, t)
		return err
	})
	return all, err
}

// NextSourceTable returns the number after the highest one of a source table.
func (l Ledger) NextSourceTable(ctx context.Context) (next int64, err error) {
	err = l.Q.QueryRowContext(ctx, `SELECT COALESCE(MAX(source_table), 0) + 1 FROM (
		SELECT source_table FROM snow_merge_source_tables UNION ALL SELECT source_table FROM snow_merge_earlier) AS found`).Scan(&next)
	return next, l.Engine.Failed("read the ledger", err)
}

// InsertRun writes a new run.
func (l Ledger) InsertRun(ctx context.Context, r *Run, plan string) error {
	text, err := json.Marshal(r.Facts)
	if err != nil {
		return err
	}
	if _, err := l.Q.ExecContext(ctx, l.Engine.SQL(`INSERT INTO snow_merge_runs (run, plan, config, state, phase, started_us, ended_us)
		VALUES (?, ?, ?, ?, ?, `+strconv.FormatInt(r.Facts.Now, 10)+", 0)"), r.ID, plan, string(text), r.State, r.Phase); err != nil {
		return err
	}
	for _, t := range r.Tables {
		args := []any{t.ID, r.ID, t.Source, t.Table.Name, nil, nil, nil, nil, nil}
		if t.Rekeys {
			ids := t.Ids
			args = append(args[:4], ids.form(), int64(ids.Datacenter), int64(ids.Worker), int64(ids.First), int64(ids.End))
			if ids.IDs.AreNumbers() {
				args[5], args[6] = nil, nil
			}
		}
		if _, err := l.Q.ExecContext(ctx, l.Engine.SQL(`INSERT INTO snow_merge_source_tables (source_table, run, source, tbl, ids, datacenter, worker,
			first_number, end_number) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`), args...); err != nil {
			return err
		}
	}
	return nil
}

// Enter writes down that a run has come to a phase.
func (l Ledger) Enter(ctx context.Context, r *Run, state, phase string) error {
	ended := "0"
	if state == StateCopied {
		ended = l.Engine.Now
	}
	_, err := l.Q.ExecContext(ctx, l.Engine.SQL("UPDATE snow_merge_runs SET state = ?, phase = ?, ended_us = "+ended+" WHERE run = ?"), state, phase, r.ID)
	return err
}

// Abandoned returns the runs of other plans that have not copied anything. One
// that has is [report.ErrUnfinished].
func (l Ledger) Abandoned(ctx context.Context, run string) (others []string, err error) {
	err = l.Query(ctx, "SELECT run, phase FROM snow_merge_runs WHERE state = ? AND run <> ?", []any{StateRunning, run}, func(rows *sql.Rows) error {
		var id, phase string
		err := rows.Scan(&id, &phase)
		if err == nil && !Deciding(phase) {
			err = fmt.Errorf("%w: %s has copied rows into the target: finish it with its own plan, which the column plan of snow_merge_runs has, or make the target again, without rows and without the tables snow_merge_…", report.ErrUnfinished, id)
		}
		others = append(others, id)
		return err
	})
	return others, err
}

// CheckMerged returns [report.ErrMerged] if a run has copied, or begun to copy, a table of a source that the plan
// merges too.
func (l Ledger) CheckMerged(ctx context.Context, p *plan.Plan) error {
	return l.Query(ctx, `SELECT tables.source, tables.tbl FROM snow_merge_source_tables AS tables
		JOIN snow_merge_runs AS runs ON runs.run = tables.run WHERE runs.phase NOT IN (?, ?) ORDER BY tables.source_table`, []any{PhaseChoose, PhaseMint}, func(rows *sql.Rows) error {
		var source, name string
		if err := rows.Scan(&source, &name); err != nil {
			return err
		}
		if t := p.Table(name); t != nil && !t.Skip && slices.Contains(p.SourcesOf(t), source) {
			return fmt.Errorf("%w: source %q, table %q", report.ErrMerged, source, name)
		}
		return nil
	})
}

// Forgetting are the statements that forget a run, one transaction each.
func Forgetting() []string {
	const tables = " WHERE source_table IN (SELECT source_table FROM snow_merge_source_tables WHERE run = ?)"
	return []string{
		"DELETE FROM snow_merge_changes" + tables, "DELETE FROM snow_merge_map" + tables, "DELETE FROM snow_merge_packs" + tables,
		"DELETE FROM snow_merge_chunks" + tables,
		"DELETE FROM snow_merge_source_tables WHERE run = ?", "DELETE FROM snow_merge_runs WHERE run = ?",
	}
}

// Holder is who a worker number is reserved for. It is one run's on one target
// alone, for another one would begin at the same ticks.
func (l Ledger) Holder(ctx context.Context, source string) (string, error) {
	var target string
	var before int
	err := l.Q.QueryRowContext(ctx, l.Engine.SQL(`SELECT target, (SELECT COUNT(DISTINCT run) FROM snow_merge_source_tables WHERE source = ? AND worker IS NOT NULL
		AND run IN (SELECT run FROM snow_merge_runs WHERE state = ?)) FROM snow_merge_lease WHERE id = 1`), source, StateCopied).Scan(&target, &before)
	if err != nil {
		return "", l.Engine.Failed("read the ledger", err)
	}
	return "merge " + source + " #" + strconv.Itoa(before+1) + " into " + target, nil
}

// WrittenLater returns how many rows runs that began after a run have copied, by
// table.
func (l Ledger) WrittenLater(ctx context.Context, r *Run) (map[string]int64, error) {
	later := map[string]int64{}
	const text = `SELECT tables.tbl, SUM(chunks.rows_written) FROM snow_merge_runs AS later
		JOIN snow_merge_source_tables AS tables ON tables.run = later.run
		JOIN snow_merge_chunks AS chunks ON chunks.source_table = tables.source_table AND chunks.phase = 'copy'
		WHERE later.run <> ? AND later.started_us >= (SELECT started_us FROM snow_merge_runs WHERE run = ?) GROUP BY tables.tbl`
	err := l.Query(ctx, text, []any{r.ID, r.ID}, func(rows *sql.Rows) error {
		var table string
		var n int64
		err := rows.Scan(&table, &n)
		later[table] = n
		return err
	})
	return later, err
}

// Numbers are the ids from First to Last, both included.
type Numbers struct {
	First int64 `json:"first"`
	Last  int64 `json:"last"`
}

// Left returns the numbers that runs have left free for later merges, by table, the latest run first.
func (l Ledger) Left(ctx context.Context) (map[string][]Numbers, error) {
	left := map[string][]Numbers{}
	err := l.Query(ctx, "SELECT config FROM snow_merge_runs ORDER BY started_us DESC, run", nil, func(rows *sql.Rows) error {
		var text string
		if err := rows.Scan(&text); err != nil {
			return err
		}
		var facts Facts
		if err := json.Unmarshal([]byte(text), &facts); err != nil {
			return err
		}
		for table, numbers := range facts.Left {
			left[table] = append(left[table], numbers)
		}
		return nil
	})
	return left, err
}

// SetNumbers stores the first and the last number of the new ids of a source table.
func (l Ledger) SetNumbers(ctx context.Context, t *SourceTable) error {
	_, err := l.Q.ExecContext(ctx, l.Engine.SQL("UPDATE snow_merge_source_tables SET first_number = ?, end_number = ? WHERE source_table = ?"),
		int64(t.Ids.First), int64(t.Ids.End), t.ID)
	return err
}
