package rekey

import (
	"time"

	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/sqltype"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/sqlsnow"
)

// Dates are the dates of a source table's rows, for their new ids.
type Dates struct {
	at   int // the column; -1 if there is none
	zone *time.Location
}

// NewDates returns the dates of rows that have a value for each column of t.
func NewDates(d sqlsnow.Dialect, t *ledger.SourceTable) (*Dates, error) {
	dates := &Dates{t.Position(t.Created()), time.UTC}
	// In our sessions MySQL's timestamps are in UTC whatever the plan says.
	if dates.at < 0 || t.Table.Zone == "" || d == sqlsnow.MySQL && sqltype.Word(t.Columns[dates.at].Type) == "timestamp" {
		return dates, nil
	}
	var err error
	dates.zone, err = time.LoadLocation(t.Table.Zone)
	return dates, err
}

// Of returns the date of a row, and false if it has none.
func (d *Dates) Of(values []any) (time.Time, bool) {
	if d.at < 0 {
		return time.Time{}, false
	}
	return sqlvalue.ParseDate(values[d.at], d.zone)
}
