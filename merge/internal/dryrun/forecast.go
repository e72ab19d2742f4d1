package dryrun

import (
	"context"
	"time"

	"github.com/shardsnow/snow/merge/internal/catalog"
	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/clash"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/preflight"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/internal/settle"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/internal/work"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// A dryRun goes through the tables of the sources.
type dryRun struct {
	*work.Job
	conns     *chunk.Conns
	forecast  *report.Forecast
	conflicts *clash.Finder
	merged    *clash.RememberedIdentities
	before    *preflight.Check       // what it found
	epoch     time.Time              // no id has an earlier time
	all       *work.Seen             // of all tables
	next      map[*plan.Table]uint64 // the first dense id of the next source
	totals    work.Totals            // of the sources, if anybody listens
	throttle  *chunk.Throttle        // nil if there is none
	winners   settle.Winners         // of the table that is looked at
	renamed   settle.Renamed         // the rows with new names so far
}

// A tableForecast is what a dry run finds in one table of one source.
type tableForecast struct {
	*dryRun
	of         *ledger.SourceTable
	row        *report.TableForecast
	rewriter   *rekey.Rewriter
	columns    []*rekey.IDColumn
	successors rekey.Successors // of what the rows that are looked at refer to
	rooms      []*settle.Room   // for each column what it must fit in the target
	keys       []*preflight.ForeignKey
	highest    map[*ledger.SourceTable]int64 // see highestOf
	ids        *rekey.NewIDs                 // nil if no ids are made, or no numbers
	made       []int64                       // the numbers of the rows that are looked at, or 0
	dates      *rekey.Dates                  // nil if no ids are made, or none are dated
	now        time.Time
	latest     time.Time
	found      report.DateForecast
	trial      trier // nil if the table needs none
	packets    *packetTrial
	unfit      []bool // which of the rows that are looked at have values that do not fit
	samples    *work.Seen
}

// A trier has rows judged by the database itself.
type trier interface {
	rows(ctx context.Context, f *tableForecast, rows []rekey.Row, verdicts []clash.Verdict) error

	// end is called after the last rows of a source.
	end(ctx context.Context, f *tableForecast) error
}

// inTarget returns a column as the target has it or, if it is missing there, as Schema makes it.
func (d *dryRun) inTarget(t *plan.Table, c *plan.Column) *plan.Column {
	if table := d.before.Target.TableLike(t.Name); table != nil {
		if there := catalog.ColumnLike(table.Table, c.Name); there != nil {
			return there
		}
	}
	made := *c
	made.Type = d.Plan.TargetType(t, c)
	return &made
}

// id returns the value of the column of Role key, where there is one.
func (f *tableForecast) id(values []any) (int64, bool) {
	if f.of.Key < 0 {
		return 0, false
	}
	return sqlvalue.ID(values[f.of.Key])
}
