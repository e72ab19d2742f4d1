package numbers

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/dbserver"
	"github.com/shardsnow/snow/internal/names"
	"github.com/shardsnow/snow/sqlsnow"
)

// A Series is what a database knows about a series.
type Series struct {
	Name     string
	Pattern  string // of the process that opened it first
	Restart  Restart
	Zone     string
	GapFree  bool
	Counters []Counter // by scope
}

// A Counter is the row of one period and of one value of each partition.
type Counter struct {
	Scope     string // the period and the values of the partitions, such as 2026, 2026-11/acme, acme, or - for neither
	Last      int64  // the last number; of a fast series, processes may still have lower ones at hand
	Regressed bool   // it went back, and gives no numbers until Raise
}

// List returns all series of a database, by name. It takes no lock and may be called at any time.
func List(ctx context.Context, db *sql.DB, d sqlsnow.Dialect) ([]Series, error) {
	all, err := list(ctx, db, d)
	if err != nil {
		return nil, fmt.Errorf("numbers: list: %w", err)
	}
	return all, nil
}

func list(ctx context.Context, db *sql.DB, d sqlsnow.Dialect) (all []Series, err error) {
	e, err := dbserver.NumbersFor(d)
	if err != nil {
		return nil, err
	}
	info, err := e.Info(ctx, db)
	if err != nil {
		return nil, databaseError(e, "read the settings", err)
	}
	e = e.In(info)
	rows, err := db.QueryContext(ctx, e.Compile(selectAll).Text)
	if err != nil {
		return nil, databaseError(e, "read the counters", err)
	}
	defer rows.Close()
	for rows.Next() {
		var s Series
		var c Counter
		var kind, restart, state int64
		if err := rows.Scan(&s.Name, &c.Scope, &s.Pattern, &s.Zone, &kind, &restart, &state, &c.Last); err != nil {
			return nil, databaseError(e, "read the counters", err)
		}
		if c.Scope == "" { // it comes before its counters
			s.Restart, s.GapFree = Restart(restart), kind == gapFree
			all = append(all, s)
			continue
		}
		c.Regressed = state == stateFenced
		if len(all) == 0 || all[len(all)-1].Name != s.Name {
			all = append(all, Series{Name: s.Name, GapFree: kind == gapFree}) // its first row is gone
		}
		last := &all[len(all)-1]
		last.Counters = append(last.Counters, c)
	}
	return all, databaseError(e, "read the counters", rows.Err())
}

// Raise moves a counter up to a number, which counts as taken, and makes the counter if there is none. Call it
//
//   - before the first number of a series that goes on from another system
//   - for a fast series in a database that was restored or lost history, with the highest number that any process may
//     have given out. If the counter had gone back, processes may take numbers from it again.
//
// It leaves out the numbers between, which is a gap in a gap-free series. Raise never moves a counter back. scope is as
// in [Counter]. Raise returns [ErrNoSeries] if the series was never opened, and the errors of [OpenGapFree].
func Raise(ctx context.Context, db *sql.DB, d sqlsnow.Dialect, name, scope string, last int64) error {
	if err := raise(ctx, db, d, name, scope, last); err != nil {
		return fmt.Errorf("numbers: raise series %q: %w", name, err)
	}
	return nil
}

func raise(ctx context.Context, db *sql.DB, d sqlsnow.Dialect, name, scope string, last int64) error {
	e, err := dbserver.NumbersFor(d)
	if err != nil {
		return err
	}
	if err := names.Check("series", name); err != nil {
		return err
	}
	all, err := list(ctx, db, d)
	if err != nil {
		return err
	}
	for _, found := range all {
		if found.Name != name || found.Pattern == "" {
			continue
		}
		s := &series{db: db, name: name, restart: found.Restart, kind: fast, loss: longestLoss}
		if found.GapFree {
			s.kind, s.loss = gapFree, dbserver.Forever
		}
		if s.pattern, err = ParsePattern(found.Pattern); err != nil {
			return err
		}
		if err := s.checkScope(scope); err != nil {
			return err
		}
		if most := int64(1e18 - 1); last < 0 || last > most {
			return &snow.FieldError{Field: "last", Value: strconv.FormatInt(last, 10), Bound: fmt.Sprintf("want 0 to %d", most)}
		}
		if s.engine, err = place(ctx, db, e, s.loss); err != nil {
			return err
		}
		if err := s.insertCounter(ctx, scope); err != nil {
			return databaseError(e, "make the counter", err)
		}
		_, err = s.change(ctx, updateRaise, map[string]any{"scope": scope, "last": last})
		return databaseError(e, "raise", err)
	}
	return ErrNoSeries
}

// checkScope returns a *snow.FieldError unless scope can be the one of a counter.
func (s *series) checkScope(scope string) error {
	if s.scopeExpression().MatchString(scope) {
		return nil
	}
	return &snow.FieldError{Field: "scope", Value: strconv.Quote(scope[:min(len(scope), 160)]), Bound: "want " + s.scopeExample()}
}
