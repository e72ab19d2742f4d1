package mysqlexec

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/shardsnow/snow/merge/internal/chunk"
	"github.com/shardsnow/snow/merge/internal/dialect"
	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/rekey"
	"github.com/shardsnow/snow/merge/internal/sqltype"
)

// rowIDs are how a MySQL server makes the new ids of a source table's rows.
type rowIDs struct {
	*rekey.Formula
	date string // the column of dates, or empty
	tick string // of the date of a row, s, as an expression that grows with it; NULL where [sqlvalue.ParseDate] takes it for none
}

// secondsAt1970 is TO_SECONDS('1970-01-01').
const secondsAt1970 = 719528 * 86400

// newRowIDs returns nil if the server can't make ids as rows are dated.
func newRowIDs(e *dialect.Dialect, r *ledger.Run, t *ledger.SourceTable, from *storedTable) *rowIDs {
	if t.Ids.IDs.AreNumbers() {
		return &rowIDs{Formula: rekey.NewFormula(t.Ids, r.Facts.Now), tick: "CAST(NULL AS SIGNED)"}
	}
	l := t.Ids.Layout
	if l.Bits().Shard != 0 || l.Tick()%time.Microsecond != 0 || l.Epoch().Nanosecond()%int(time.Microsecond) != 0 {
		return nil
	}
	ids := &rowIDs{Formula: rekey.NewFormula(t.Ids, r.Facts.Now), tick: "CAST(NULL AS SIGNED)"} // an integer, or the sum would be none
	at := t.Position(t.Table.Created)
	if at < 0 {
		return ids
	}
	name := t.Columns[at].Name
	typ := sqltype.Word(from.columns[name].typ)
	if countable(from.columns[name].typ) {
		ids.tick = strings.ReplaceAll(sinceEpoch(t.Ids), "%", "CAST(s."+e.Quote(name)+" AS SIGNED)")
		return ids
	}
	if typ != "timestamp" && (typ != "datetime" && typ != "date" || t.Table.Zone != "") {
		return nil
	}
	epoch := l.Epoch().UTC()
	ids.tick = fmt.Sprintf("((TO_SECONDS(%%) - %d) * 1000000 + MICROSECOND(%%) - %d) DIV %d", epoch.Unix()+secondsAt1970, epoch.Nanosecond()/1000, l.Tick().Microseconds())
	if typ != "timestamp" { // there may be a 0001-01-01, which is zero to Go, and a 31st of February
		ids.tick = "CASE WHEN YEAR(%) > 1 AND (DAY(%) <= 28 OR DAY(%) <= DAY(LAST_DAY(%))) THEN " + ids.tick + " END"
	}
	ids.date = e.Quote(name)
	ids.tick = strings.ReplaceAll(ids.tick, "%", "s."+ids.date)
	return ids
}

// between returns the first and the last id of the places after one and up to another.
func (ids *rowIDs) between(before, upto int64) (first, last int64, err error) {
	lo, err := ids.ID(before+1, 0)
	if err != nil {
		return 0, 0, err
	}
	hi, err := ids.ID(upto, 0)
	return int64(lo), int64(hi), err
}

// sinceEpoch returns the tick of a time since 1970, %, in seconds, milliseconds, microseconds or nanoseconds, as
// [sqlvalue.ParseDate] tells them apart.
func sinceEpoch(ids ledger.IDRange) string {
	l := ids.Layout
	epoch := l.Epoch().UTC()
	micros, tick := fmt.Sprint(epoch.UnixMicro()), fmt.Sprint(l.Tick().Microseconds())
	nanos, nanoTick := fmt.Sprint(epoch.UnixNano()), fmt.Sprint(l.Tick().Nanoseconds())
	return "CASE WHEN % <= 0 THEN NULL WHEN % < 100000000000 THEN (% * 1000000 - " + micros + ") DIV " + tick + " WHEN % < 100000000000000 THEN (% * 1000 - " + micros + ") DIV " + tick +
		" WHEN % < 100000000000000000 THEN (% - " + micros + ") DIV " + tick + " ELSE (% - " + nanos + ") DIV " + nanoTick + " END"
}

// setPlace gives the variables that ids are made by their values.
func setPlace(ctx context.Context, target *chunk.Session, place int64) error {
	_, err := target.ExecContext(ctx, fmt.Sprintf("SET @snow_merge_place = %d, @snow_merge_tick = 0, @snow_merge_late = 0", place))
	return err
}
