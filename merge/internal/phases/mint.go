package phases

import (
	"context"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/report"
)

// minting is phase mint: it decides, for each row of each source, what id it has
// in the target, what it is called there, and whether it is copied at all. It cuts
// tables into the chunks that the later phases go by.
type minting struct {
	*Job
	run   *ledger.Run
	lease *ledger.Lease
	conns *chunk.Conns
}

func (m *minting) mint(ctx context.Context) error {
	m.Teller.tell(report.Event{Kind: report.EventPhase, Phase: ledger.PhaseMint, Total: -1})
	sources, err := m.conns.All(ctx)
	if err != nil {
		return err
	}
	target := m.conns.Target
	conflicts := rekey.NewConflicts(m.Engine, m.Plan, target, sources, &rekey.MappedIdentities{Ids: ledger.MapOf(target), Run: m.run})
	for _, t := range m.Order {
		order, err := m.Plan.Precedence(t)
		if err != nil {
			return err
		}
		for _, source := range order {
			if err := conflicts.Resume(ctx, ledger.Of(target), m.run.Table(source, t.Name)); err != nil {
				return err
			}
		}
		for _, source := range order {
			if err := m.table(ctx, m.run.Table(source, t.Name), conflicts); err != nil {
				return err
			}
		}
	}
	return nil
}

// table goes through one table of one source.
func (m *minting) table(ctx context.Context, t *ledger.SourceTable, conflicts *rekey.Conflicts) error {
	seen, err := ledger.Of(m.conns.Target).Done(ctx, t, ledger.PhaseMint)
	if err != nil {
		return err
	}
	progress := m.progress(ledger.PhaseMint, t, seen.Read, -1)
	progress.begin()
	x, err := m.NewExecutor(ctx, Work{Job: m.Job, Run: m.run, Table: t, Conns: m.conns, Lease: m.lease, Conflicts: conflicts, Progress: progress})
	if err != nil {
		return err
	}
	defer x.Close()
	if err := x.Mint(ctx); err != nil {
		return err
	}
	progress.end()
	return nil
}
