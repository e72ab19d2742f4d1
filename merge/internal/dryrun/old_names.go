package dryrun

import (
	"context"
	"errors"

	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/internal/settle"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/report"
)

// oldNames looks for texts that are names which rows lose, when all new names are known, and whether new ones fit there.
func oldNames(ctx context.Context, d *dryRun) error {
	rooms := map[string]*settle.Room{}
	all, open, err := settle.OldNames(ctx, d.Job, d.conns, d.throttle, d.renamed, func(t *ledger.SourceTable, found settle.OldName) {
		column := t.Table.Name + "." + found.Column.Name
		if rooms[column] == nil {
			rooms[column] = settle.RoomOf(d.Engine.Kind, d.inTarget(t.Table, found.Column))
		}
		reason := rooms[column].Misfit(found.Now)
		if reason == "" {
			return
		}
		row := sqlvalue.FormatKey(found.Row)
		d.forecast.AddMisfit(t.Table.Name, t.Source, found.Column.Name, "row "+row+": its new name: "+reason)
		d.forecast.AddProblem(&report.RowError{Source: t.Source, Table: t.Table.Name, Row: row, Err: rekey.ColumnError(found.Column.Name, errors.New("its new name: "+reason))})
	})
	d.forecast.OldNames, d.forecast.Open = all, append(d.forecast.Open, open...)
	return err
}
