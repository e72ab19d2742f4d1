package dryrun

import (
	"slices"

	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/plan"
)

// longest returns stand-ins of the most digits for the ids of one value.
func (f *tableForecast) longest() func() rekey.StandIn { return f.standIns(true) }

// least returns stand-ins of the fewest digits.
func (f *tableForecast) least() func() rekey.StandIn { return f.standIns(false) }

func (f *tableForecast) standIns(most bool) func() rekey.StandIn {
	type row struct {
		of *ledger.SourceTable
		id int64
	}
	given := map[row]int64{} // in one value: names must differ where ids do
	stand := func(of *ledger.SourceTable, id int64) int64 {
		highest := f.highest[of]
		switch {
		case highest == 0 || most && id >= highest && !of.Rekeys:
			return id
		case of.Rekeys && of.Ids.IDs == plan.IDsOffset:
			return id + of.Ids.Offset
		}
		n := int64(len(given))
		if stand, known := given[row{of, id}]; known {
			return stand
		}
		stand := n + 1
		if most {
			stand = max(1, highest-n)
		}
		given[row{of, id}] = stand
		return stand
	}
	return func() rekey.StandIn {
		clear(given)
		return stand
	}
}

// distinct returns stand-ins of as many digits as new ids, which are equal where those are. An id that is a number is
// the one that the row will have.
func (f *tableForecast) distinct() rekey.StandIn {
	source := int64(slices.Index(f.Plan.Sources, f.of.Source))
	return func(of *ledger.SourceTable, id int64) int64 {
		if !of.Rekeys {
			return id
		}
		if n := f.before.Numbers[of.Table.Name]; n != nil && of.Ids.IDs.AreNumbers() {
			return n.StandIn(of.Source, id)
		}
		return 1<<62 | source&0xff<<54 | id&(1<<54-1)
	}
}
