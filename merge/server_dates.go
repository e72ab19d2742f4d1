package merge

import (
	"fmt"
	"strings"
	"time"

	"github.com/shardsnow/snow/merge/plan"
)

// A dating is how the server itself makes the ids of a scope's rows, which are
// those that a [minter] may make: above the one before, in the tick of the row's
// date if the lane has an id left there. A place is an id without the parts that
// all of the lane have in common.
type dating struct {
	lane lane
	date string // of a row, or NULL, an integer, or the sum would be none
	tick string // expression: that of a date, %, before or after the lane's time too
	now  int64  // no date is after this tick
}

// dating returns nil if the server can't make ids as rows are dated.
func (e *engine) dating(r *run, s *scope, from *storedTable) *dating {
	l := s.lane.layout
	if l.Bits().Shard != 0 || l.Tick()%time.Microsecond != 0 || l.Epoch().Nanosecond()%int(time.Microsecond) != 0 {
		return nil
	}
	d := &dating{lane: s.lane, date: "CAST(NULL AS SIGNED)", tick: "%", now: s.lane.since(time.UnixMicro(r.facts.Now))}
	at := s.position(s.table.Created)
	if at < 0 {
		return d
	}
	column := s.columns[at]
	switch mysqlType(&plan.Column{Type: from.columns[column.Name].typ}) {
	case "timestamp":
	case "datetime", "date":
		if s.table.Zone != "" {
			return nil
		}
	default:
		return nil
	}
	d.date = "s." + e.quote(column.Name)
	epoch := l.Epoch().UTC()
	d.tick = fmt.Sprintf("((TO_SECONDS(%%) - %d) * 1000000 + MICROSECOND(%%) - %d) DIV %d", epoch.Unix()+secondsAt1970, epoch.Nanosecond()/1000, l.Tick().Microseconds())
	return d
}

// secondsAt1970 is TO_SECONDS('1970-01-01').
const secondsAt1970 = 719528 * 86400

func (d *dating) tickOf(date string) string { return strings.ReplaceAll(d.tick, "%", date) }

// bound returns the highest place of the last of so many rows, after those up to
// another place; tick is that of the latest date if one of them has one.
func (d *dating) bound(place, rows int64, tick int64, dated bool) int64 {
	if l := d.lane; dated {
		place = max(place, max(min(tick, d.now), l.least())*l.width()+max(1, l.width()/2)-1)
	}
	return place + rows
}

// first returns the place that is before the first one.
func (d *dating) first() int64 { return max(0, d.lane.least()*d.lane.width()-1) }

// id returns the expression of the id of a row whose key is an expression. It
// moves @snow_merge_place on, from row to row: that variables are evaluated from
// left to right, row by row, is what servers do and no manual says.
func (d *dating) id(key, tick string) string {
	width := d.lane.width()
	return fmt.Sprintf(`(@snow_merge_place := GREATEST(@snow_merge_place + 1, IFNULL(GREATEST(LEAST(%[1]s, %[2]d), %[3]d) * %[4]d + ABS(%[5]s %% %[6]d), 0)))
		+ (@snow_merge_place DIV %[4]d) * %[7]d + %[8]d`,
		tick, d.now, d.lane.least(), width, key, max(1, width/2), int64(d.lane.stride())-width, d.lane.id(0, d.lane.first))
}

// lateID is the same as id, and sees to it that @snow_merge_late is how many ticks an
// id was ahead of its row's date, at most.
func (d *dating) lateID(key string) string {
	return d.id(key, "(@snow_merge_tick := "+d.tickOf(d.date)+")") + fmt.Sprintf(`
		+ 0 * (@snow_merge_late := GREATEST(@snow_merge_late, IFNULL(@snow_merge_place DIV %d - @snow_merge_tick, 0)))`, d.lane.width())
}
