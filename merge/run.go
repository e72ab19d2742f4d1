package merge

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// A run is what the ledger says of one plan.
type run struct {
	id     string
	state  string
	phase  string
	facts  facts
	tables []*SourceTable // of each table that is not skipped and each source that has it
}

// facts are what a run must know of the time at which it began.
type facts struct {
	Namespace  string            `json:"namespace,omitempty"`
	Datacenter uint64            `json:"datacenter,omitempty"`
	Now        int64             `json:"now_us"`               // of the target's clock: no date is later
	Rows       map[string]int64  `json:"rows"`                 // of the target's tables
	Assertions map[string]string `json:"assertions,omitempty"` // what they gave in the target
}

// table returns a table of a source, or nil.
func (r *run) table(source, table string) *SourceTable {
	for _, t := range r.tables {
		if t.source == source && t.table.Name == table {
			return t
		}
	}
	return nil
}

// of returns the tables of a source, by name.
func (r *run) of(source string) map[string]*SourceTable {
	all := map[string]*SourceTable{}
	for _, t := range r.tables {
		if t.source == source {
			all[t.table.Name] = t
		}
	}
	return all
}

// load reads the run of a plan. It returns nil if there is none.
func (l ledger) load(ctx context.Context, id string, p *plan.Plan) (*run, error) {
	r := &run{id: id}
	var text string
	err := l.q.QueryRowContext(ctx, l.engine.SQL("SELECT state, phase, config FROM snow_merge_runs WHERE run = ?"), id).Scan(&r.state, &r.phase, &text)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, l.engine.Failed("read the ledger", err)
	}
	if err := json.Unmarshal([]byte(text), &r.facts); err != nil {
		return nil, fmt.Errorf("read the ledger: %w", err)
	}
	err = l.read(ctx, `SELECT source_table, source, tbl, layout, datacenter, worker, first_sequence, end_sequence
		FROM snow_merge_source_tables WHERE run = ? ORDER BY source_table`, []any{id}, func(rows *sql.Rows) error {
		t, err := l.scanTable(rows, p)
		r.tables = append(r.tables, t)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, t := range p.Tables {
		for _, source := range p.SourcesOf(t) {
			if !t.Skip && r.table(source, t.Name) == nil {
				return nil, fmt.Errorf("%w: nothing of table %q of source %q", errLedger, t.Name, source)
			}
		}
	}
	return r, nil
}

func (l ledger) scanTable(rows *sql.Rows, p *plan.Plan) (*SourceTable, error) {
	var id int64
	var source, name string
	var layout sql.NullString
	var datacenter, worker, first, end sql.NullInt64
	if err := rows.Scan(&id, &source, &name, &layout, &datacenter, &worker, &first, &end); err != nil {
		return nil, err
	}
	table := p.Table(name)
	if table == nil {
		return nil, fmt.Errorf("%w: table %q is not in the plan", errLedger, name)
	}
	t := newSourceTable(id, source, table)
	t.packable = isPackable(l.engine.Kind, p, t)
	if layout.Valid {
		t.ids = idRange{datacenter: uint64(datacenter.Int64), worker: uint64(worker.Int64), first: uint64(first.Int64), end: uint64(end.Int64)}
		var err error
		if t.ids.layout, err = snow.ParseLayout(layout.String); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// merged returns the number and the plan of a table of a source that some run
// has, or 0.
func (l ledger) merged(ctx context.Context, source, table string) (id int64, plan string, err error) {
	err = l.q.QueryRowContext(ctx, l.engine.SQL(`SELECT tables.source_table, runs.plan FROM snow_merge_source_tables AS tables
		JOIN snow_merge_runs AS runs ON runs.run = tables.run WHERE tables.source = ? AND tables.tbl = ?`), source, table).Scan(&id, &plan)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, "", nil
	}
	return id, plan, l.engine.Failed("read the ledger", err)
}

// sourceTables returns the tables of all runs, with what the map needs to know of them.
func (l ledger) sourceTables(ctx context.Context) (all []*SourceTable, err error) {
	err = l.read(ctx, "SELECT source_table, source, tbl FROM snow_merge_source_tables ORDER BY source_table", nil, func(rows *sql.Rows) error {
		t := &SourceTable{table: &plan.Table{}, packable: l.engine.Kind == sqlsnow.MySQL}
		err := rows.Scan(&t.id, &t.source, &t.table.Name)
		all = append(all, t)
		return err
	})
	return all, err
}

// insertRun writes a new run.
func (l ledger) insertRun(ctx context.Context, r *run, plan string) error {
	text, err := json.Marshal(r.facts)
	if err != nil {
		return err
	}
	if _, err := l.q.ExecContext(ctx, l.engine.SQL(`INSERT INTO snow_merge_runs (run, plan, config, state, phase, started_us, ended_us)
		VALUES (?, ?, ?, ?, ?, `+strconv.FormatInt(r.facts.Now, 10)+", 0)"), r.id, plan, string(text), r.state, r.phase); err != nil {
		return err
	}
	for _, t := range r.tables {
		args := []any{t.id, r.id, t.source, t.table.Name, nil, nil, nil, nil, nil}
		if t.rekeys {
			ids := t.ids
			args = append(args[:4], ids.layout.String(), int64(ids.datacenter), int64(ids.worker), int64(ids.first), int64(ids.end))
		}
		if _, err := l.q.ExecContext(ctx, l.engine.SQL(`INSERT INTO snow_merge_source_tables (source_table, run, source, tbl, layout, datacenter, worker,
			first_sequence, end_sequence) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`), args...); err != nil {
			return err
		}
	}
	return nil
}

// enter writes down that a run has come to a phase.
func (l ledger) enter(ctx context.Context, r *run, state, phase string) error {
	ended := "0"
	if state == stateCopied {
		ended = l.engine.Now
	}
	_, err := l.q.ExecContext(ctx, l.engine.SQL("UPDATE snow_merge_runs SET state = ?, phase = ?, ended_us = "+ended+" WHERE run = ?"), state, phase, r.id)
	return err
}

// abandoned returns the runs of other plans that have not copied anything. One
// that has is [report.ErrUnfinished].
func (l ledger) abandoned(ctx context.Context, run string) (others []string, err error) {
	err = l.read(ctx, "SELECT run, phase FROM snow_merge_runs WHERE state = ? AND run <> ?", []any{stateRunning, run}, func(rows *sql.Rows) error {
		var id, phase string
		err := rows.Scan(&id, &phase)
		if err == nil && phase != phaseMint {
			err = fmt.Errorf("%w: %s", report.ErrUnfinished, id)
		}
		others = append(others, id)
		return err
	})
	return others, err
}

// forgetting are the statements that forget a run, one transaction each.
func forgetting() []string {
	const tables = " WHERE source_table IN (SELECT source_table FROM snow_merge_source_tables WHERE run = ?)"
	return []string{
		"DELETE FROM snow_merge_changes" + tables, "DELETE FROM snow_merge_map" + tables, "DELETE FROM snow_merge_packs" + tables,
		"DELETE FROM snow_merge_chunks" + tables,
		"DELETE FROM snow_merge_source_tables WHERE run = ?", "DELETE FROM snow_merge_runs WHERE run = ?",
	}
}

// holder is who a worker number is reserved for. It is one run's on one target
// alone, for another one would begin at the same ticks.
func (l ledger) holder(ctx context.Context, source string) (string, error) {
	var target string
	var before int
	err := l.q.QueryRowContext(ctx, l.engine.SQL(`SELECT target, (SELECT COUNT(DISTINCT run) FROM snow_merge_source_tables WHERE source = ? AND worker IS NOT NULL
		AND run IN (SELECT run FROM snow_merge_runs WHERE state = ?)) FROM snow_merge_lease WHERE id = 1`), source, stateCopied).Scan(&target, &before)
	if err != nil {
		return "", l.engine.Failed("read the ledger", err)
	}
	return "merge " + source + " #" + strconv.Itoa(before+1) + " into " + target, nil
}

// writtenLater returns how many rows runs that began after a run have copied, by
// table.
func (l ledger) writtenLater(ctx context.Context, r *run) (map[string]int64, error) {
	later := map[string]int64{}
	const text = `SELECT tables.tbl, SUM(chunks.rows_written) FROM snow_merge_runs AS later
		JOIN snow_merge_source_tables AS tables ON tables.run = later.run
		JOIN snow_merge_chunks AS chunks ON chunks.source_table = tables.source_table AND chunks.phase = 'copy'
		WHERE later.run <> ? AND later.started_us >= (SELECT started_us FROM snow_merge_runs WHERE run = ?) GROUP BY tables.tbl`
	err := l.read(ctx, text, []any{r.id, r.id}, func(rows *sql.Rows) error {
		var table string
		var n int64
		err := rows.Scan(&table, &n)
		later[table] = n
		return err
	})
	return later, err
}
