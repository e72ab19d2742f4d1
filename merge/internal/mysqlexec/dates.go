package mysqlexec

import (
	"fmt"
	"strings"
	"time"

	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/internal/sqltype"
)

// rowDates are how a MySQL server makes the new ids of a source table's rows:
// the formula, and the tick of a row's date as an expression.
type rowDates struct {
	*rekey.Formula
	column string // the date of a row, s, or NULL, an integer, or the sum would be none
	latest string // the tick of the latest of dates, %, some of which may be none
	tick   string // that of one date; NULL where [parseDate] takes it for none
}

// newRowDates returns nil if the server can't make ids as rows are dated.
func newRowDates(e *dialect.Dialect, r *ledger.Run, t *ledger.SourceTable, from *storedTable) *rowDates {
	l := t.Ids.Layout
	if l.Bits().Shard != 0 || l.Tick()%time.Microsecond != 0 || l.Epoch().Nanosecond()%int(time.Microsecond) != 0 {
		return nil
	}
	d := &rowDates{Formula: rekey.NewFormula(t.Ids, r.Facts.Now), column: "CAST(NULL AS SIGNED)", latest: "%", tick: "%"}
	at := t.Position(t.Table.Created)
	if at < 0 {
		return d
	}
	column := t.Columns[at]
	typ := sqltype.Word(from.columns[column.Name].typ)
	switch {
	case typ == "timestamp":
	case (typ == "datetime" || typ == "date") && t.Table.Zone == "":
	default:
		return nil
	}
	d.column = "s." + e.Quote(column.Name)
	epoch := l.Epoch().UTC()
	d.latest = fmt.Sprintf("((TO_SECONDS(%%) - %d) * 1000000 + MICROSECOND(%%) - %d) DIV %d", epoch.Unix()+secondsAt1970, epoch.Nanosecond()/1000, l.Tick().Microseconds())
	if d.tick = d.latest; typ != "timestamp" { // there may be a 0001-01-01, which is zero to Go, and a 31st of February
		d.tick = "CASE WHEN YEAR(%) > 1 AND (DAY(%) <= 28 OR DAY(%) <= DAY(LAST_DAY(%))) THEN " + d.latest + " END"
	}
	return d
}

// secondsAt1970 is TO_SECONDS('1970-01-01').
const secondsAt1970 = 719528 * 86400

// latestTick returns the tick of the latest date as an expression.
func (d *rowDates) latestTick(date string) string { return strings.ReplaceAll(d.latest, "%", date) }

// rowTick returns the tick of a row's date as an expression.
func (d *rowDates) rowTick() string { return strings.ReplaceAll(d.tick, "%", d.column) }
