package numbers

import (
	"context"
	"database/sql"
	"slices"
	"strconv"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/dbserver"
	"github.com/shardsnow/snow/internal/names"
	"github.com/shardsnow/snow/internal/retry"
	"github.com/shardsnow/snow/sqlsnow"
)

// Config says what a series is. A series keeps its configuration for ever, except for the padding of its number.
type Config struct {
	// Series names the series: 1 to 64 ASCII letters, digits, and . _ - : /. Case counts.
	Series string

	// Pattern is the text of a number: see [Pattern].
	Pattern string

	// Restart says when numbers begin at 1 again. Zero means never: the date in a pattern is then only shown. Each
	// value of a partition has numbers of its own in any case.
	Restart Restart

	// Zone is the time zone of the dates, by its name in the IANA database, such as Europe/Berlin. Empty means UTC.
	Zone string
}

// The kinds of a series. They are stored.
const (
	gapFree = 1
	fast    = 2
)

var kinds = map[int64]string{gapFree: "gap-free", fast: "fast"}

// wholeScope names the counter of a series that has one only.
const wholeScope = "-"

// The states of a counter.
const (
	stateOpen   = 1
	stateFenced = 2
)

const (
	maxTurns   = 5 // how often one call begins again because the date has changed
	firstRetry = 50 * time.Millisecond
)

// A series is what both ways have in common.
type series struct {
	db      *sql.DB
	engine  *dbserver.Engine
	name    string
	pattern Pattern
	restart Restart
	zone    *time.Location
	kind    int64
	loss    time.Duration // how much of what it confirmed the database may lose
}

// open stores the configuration of a series, or compares it with what is stored.
func open(ctx context.Context, db *sql.DB, d sqlsnow.Dialect, cfg Config, kind int64, loss time.Duration) (*series, error) {
	e, err := dbserver.NumbersFor(d)
	if err != nil {
		return nil, err
	}
	if err := names.Check("Series", cfg.Series); err != nil {
		return nil, err
	}
	s := &series{db: db, engine: e, name: cfg.Series, kind: kind, loss: loss}
	if err := s.configure(cfg); err != nil {
		return nil, err
	}
	if db == nil {
		return nil, &snow.FieldError{Field: "db", Value: "nil", Bound: "want a database"}
	}
	if s.engine, err = place(ctx, db, e, loss); err != nil {
		return nil, err
	}
	err = s.patiently(ctx, func() error {
		_, err := s.define(ctx)
		return err
	})
	return s, databaseError(s.engine, "open", err)
}

// patiently calls do again while other statements are in its way.
func (s *series) patiently(ctx context.Context, do func() error) error {
	err := do()
	for tries := 0; s.engine.IsBusy(err) && tries < retry.MaxTries && retry.Pause(ctx, firstRetry) == nil; tries++ {
		err = do()
	}
	return err
}

// configure takes the pattern, the restart and the zone of cfg.
func (s *series) configure(cfg Config) (err error) {
	if s.pattern, err = ParsePattern(cfg.Pattern); err != nil {
		return err
	}
	s.restart = cfg.Restart
	if err := s.restart.check(s.pattern); err != nil {
		return err
	}
	s.zone, err = loadZone(cfg.Zone)
	return err
}

// place returns an engine whose statements name the schema of the table, which must be there and lose at most loss.
func place(ctx context.Context, db *sql.DB, e *dbserver.Engine, loss time.Duration) (*dbserver.Engine, error) {
	info, err := e.Info(ctx, db)
	if err != nil {
		return nil, databaseError(e, "read the settings", err)
	}
	if !slices.Contains(info.Tables, "snow_numbers") {
		return nil, sqlsnow.ErrNotMigrated
	}
	if err := info.Check(loss); err != nil {
		return nil, err
	}
	return e.In(info), nil
}

// use is the use of a session that writes.
func (s *series) use() dbserver.Use {
	if s.loss == 0 {
		return dbserver.ForSegments
	}
	return dbserver.ForLossyLease // for gap-free numbers, as durable as the caller's own transactions
}

// A stored is the configuration that is stored, as far as it may differ from the one that was given.
type stored struct {
	now     int64 // the database's clock
	pattern string
}

// define stores or compares the configuration.
func (s *series) define(ctx context.Context) (stored, error) {
	row, found, err := s.compare(ctx)
	if err != nil || found {
		return row, err
	}
	failed := s.engine.Insert(ctx, s.db, s.use(), s.engine.Compile(insertSeries), map[string]any{
		"series": s.name, "pattern": s.pattern.text, "zone": s.zone.String(), "kind": s.kind, "restarts": int64(s.restart),
	})
	// Another process may have been faster.
	row, found, err = s.compare(ctx)
	if err == nil && !found {
		err = failed
	}
	return row, err
}

// compare returns a *MismatchError if another configuration is stored.
func (s *series) compare(ctx context.Context) (row stored, found bool, err error) {
	var zone string
	var kind, restart int64
	err = s.engine.Read(ctx, s.db, func(on *dbserver.Session) (_ bool, err error) {
		found, err = on.Query(ctx, s.engine.Compile(selectSeries), map[string]any{"series": s.name}, &row.pattern, &zone, &kind, &restart, &row.now)
		return found, err
	})
	if err != nil || !found {
		return stored{}, false, err
	}
	pattern, err := ParsePattern(row.pattern)
	if err != nil || pattern.shape() != s.pattern.shape() {
		return stored{}, true, &MismatchError{s.name, "Pattern", row.pattern, s.pattern.text}
	}
	for _, f := range []struct{ name, stored, given string }{
		{"Restart", Restart(restart).String(), s.restart.String()},
		{"Zone", zone, s.zone.String()},
		{"Kind", kindName(kind), kindName(s.kind)},
	} {
		if f.stored != f.given {
			return stored{}, true, &MismatchError{s.name, f.name, f.stored, f.given}
		}
	}
	return row, true, nil
}

func kindName(kind int64) string {
	if name, ok := kinds[kind]; ok {
		return name
	}
	return "kind " + strconv.FormatInt(kind, 10)
}

// checkCount returns an error if n numbers at once do not fit the pattern.
func (s *series) checkCount(n int, scope string) error {
	if int64(n) > s.pattern.Highest() {
		return s.overflow(scope)
	}
	return nil
}

func (s *series) overflow(scope string) error {
	return &OverflowError{Pattern: s.pattern.text, Scope: scope, Highest: s.pattern.Highest()}
}

// insertCounter makes a counter that is at 0, unless there is one.
func (s *series) insertCounter(ctx context.Context, scope string) error {
	failed := s.engine.Insert(ctx, s.db, s.use(), s.engine.Compile(insertCounter), map[string]any{"series": s.name, "scope": scope, "kind": s.kind})
	if failed == nil {
		return nil
	}
	_, found, err := s.counter(ctx, scope)
	if err == nil && !found {
		err = failed
	}
	return err
}

// A row is a counter as it is committed now, with the database's clock.
type row struct {
	state, last, now int64
	pending          string // the claims
}

func (s *series) counter(ctx context.Context, scope string) (r row, found bool, err error) {
	err = s.engine.Read(ctx, s.db, func(on *dbserver.Session) (_ bool, err error) {
		found, err = on.Query(ctx, s.engine.Compile(selectCounter), map[string]any{"series": s.name, "scope": scope}, &r.state, &r.last, &r.pending, &r.now)
		return found, err
	})
	return r, found, err
}

// change executes an UPDATE of one row and reports whether it changed the row.
func (s *series) change(ctx context.Context, text string, values map[string]any) (changed bool, err error) {
	values["series"] = s.name
	err = s.engine.Write(ctx, s.db, s.use(), func(on *dbserver.Session) (_ bool, err error) {
		n, err := on.Exec(ctx, s.engine.Compile(text), values)
		changed = n > 0
		return changed, err
	})
	return changed, err
}
