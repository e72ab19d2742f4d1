package sqlsnowtest

import (
	crand "crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/sqlsnow"
)

// patience bounds every wait for an event that must come. Only a failing test uses it up.
const patience = 10 * time.Minute

// A suite has the database and helpers of one clause of the contract.
type suite struct {
	*testing.T
	dialect  sqlsnow.Dialect
	database Database
	db       *sql.DB // the suite's own, to look at the tables and to change them
}

// open returns another handle of the database, as another process would have.
func (s *suite) open() *sql.DB {
	s.Helper()
	return s.opened(s.database.Open)
}

// opened bounds a handle's connections: servers have few, and clauses run in parallel.
func (s *suite) opened(open func(*testing.T) *sql.DB) *sql.DB {
	s.Helper()
	db := open(s.T)
	db.SetMaxOpenConns(4)
	s.Cleanup(func() { _ = db.Close() }) // a clause may have closed it
	return db
}

// query replaces ? by the placeholders of the dialect.
func (s *suite) query(q string) string {
	if s.dialect != sqlsnow.Postgres {
		return q
	}
	parts := strings.Split(q, "?")
	for i := range parts[1:] {
		parts[i] += "$" + strconv.Itoa(i+1)
	}
	return strings.Join(parts, "")
}

func (s *suite) exec(q string, args ...any) {
	s.Helper()
	if _, err := s.db.ExecContext(s.Context(), s.query(q), args...); err != nil {
		s.Fatalf("%s: %v", q, err)
	}
}

func (s *suite) migrate() {
	s.Helper()
	if err := sqlsnow.Migrate(s.Context(), s.db, s.dialect); err != nil {
		s.Fatalf("Migrate: %v", err)
	}
}

// clockQueries read the database's clock in microseconds since 1970.
var clockQueries = map[sqlsnow.Dialect]string{
	sqlsnow.MySQL:    "SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))",
	sqlsnow.Postgres: "SELECT (EXTRACT(EPOCH FROM clock_timestamp()) * 1000000)::bigint",
	sqlsnow.SQLite:   "SELECT CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER) * 1000",
}

// A space is a namespace, and the suite's view of its rows.
type space struct {
	*suite
	ns sqlsnow.Namespace
}

// space makes a namespace in a migrated database. Zero fields of ns get values that suit most clauses.
func (s *suite) space(ns sqlsnow.Namespace) *space {
	s.Helper()
	if ns.Name == "" {
		ns.Name = "orders"
	}
	if ns.Layout == (snow.Layout{}) {
		ns.Layout = snow.DefaultLayout()
	}
	if ns.Workers == 0 {
		ns.Workers = 4
	}
	if ns.Window == 0 {
		ns.Window = 10 * time.Minute
	}
	s.migrate()
	if err := sqlsnow.Init(s.Context(), s.db, s.dialect, ns); err != nil {
		s.Fatalf("Init: %v", err)
	}
	return &space{s, ns}
}

// now returns the database's clock in ticks of the layout.
func (s *space) now() int64 {
	s.Helper()
	var us int64
	if err := s.db.QueryRowContext(s.Context(), clockQueries[s.dialect]).Scan(&us); err != nil {
		s.Fatalf("read the database's clock: %v", err)
	}
	return s.tick(time.UnixMicro(us))
}

func (s *space) tick(t time.Time) int64 {
	return int64(t.Sub(s.ns.Layout.Epoch()) / s.ns.Layout.Tick())
}

func (s *space) ticks(d time.Duration) int64 { return int64(d / s.ns.Layout.Tick()) }

func (s *space) time(tick int64) time.Time {
	return s.ns.Layout.Epoch().Add(time.Duration(tick) * s.ns.Layout.Tick())
}

// constants returns columns of the namespace's row.
func (s *space) constants(columns ...string) []int64 {
	s.Helper()
	values := make([]int64, len(columns))
	targets := make([]any, len(columns))
	for i := range values {
		targets[i] = &values[i]
	}
	q := "SELECT " + strings.Join(columns, ", ") + " FROM snow_namespaces WHERE namespace = ?"
	if err := s.db.QueryRowContext(s.Context(), s.query(q), s.ns.Name).Scan(targets...); err != nil {
		s.Fatalf("%s: %v", q, err)
	}
	return values
}

func (s *space) constant(column string) time.Duration {
	s.Helper()
	return time.Duration(s.constants(column)[0]) * time.Millisecond
}

// States of a row.
const (
	free int64 = iota
	claimed
	granted
	reserved
)

// A row is a row of snow_workers.
type row struct {
	worker                uint64
	state                 int64
	owner                 string // empty for NULL
	fence, floor, ceiling int64
	claimedAt, renewedAt  int64 // milliseconds since 1970
	renewals              int64
	holder                string
}

const rowQuery = "SELECT worker_id, state, owner, fence, floor_tick, ceiling_tick, claimed_at_ms, renewed_at_ms, renew_seq, holder" +
	" FROM snow_workers WHERE namespace = ? ORDER BY worker_id"

// rows returns all rows of the namespace in the order of their numbers.
func (s *space) rows() []row {
	s.Helper()
	result, err := s.db.QueryContext(s.Context(), s.query(rowQuery), s.ns.Name)
	if err != nil {
		s.Fatalf("read the rows: %v", err)
	}
	defer result.Close()
	var rows []row
	for result.Next() {
		var r row
		var owner sql.NullString
		err := result.Scan(&r.worker, &r.state, &owner, &r.fence, &r.floor, &r.ceiling, &r.claimedAt, &r.renewedAt, &r.renewals, &r.holder)
		if err != nil {
			s.Fatalf("read the rows: %v", err)
		}
		r.owner = owner.String
		rows = append(rows, r)
	}
	if err := result.Err(); err != nil {
		s.Fatalf("read the rows: %v", err)
	}
	return rows
}

func (s *space) row(worker uint64) row {
	s.Helper()
	for _, r := range s.rows() {
		if r.worker == worker {
			return r
		}
	}
	s.Fatalf("worker %d has no row", worker)
	return row{}
}

// set changes columns of a worker's row: "ceiling_tick = ceiling_tick - ?".
func (s *space) set(worker uint64, assignments string, args ...any) {
	s.Helper()
	s.exec("UPDATE snow_workers SET "+assignments+" WHERE namespace = ? AND worker_id = ?", append(args, s.ns.Name, worker)...)
}

// age moves a worker's row into the past. Its holder must be gone, because a live one would notice the change.
func (s *space) age(worker uint64, d time.Duration) {
	s.Helper()
	s.set(worker, "floor_tick = floor_tick - ?, ceiling_tick = ceiling_tick - ?, claimed_at_ms = claimed_at_ms - ?, renewed_at_ms = renewed_at_ms - ?",
		s.ticks(d), s.ticks(d), d.Milliseconds(), d.Milliseconds())
}

// other is the holder of rows that were given away.
const other = "another process"

// give gives a worker's row to another holder, as if the former holder's window were over, and returns the row.
func (s *space) give(worker uint64) row {
	s.Helper()
	s.set(worker, "state = 2, owner = ?, fence = fence + 1, renew_seq = renew_seq + 1, holder = ?,"+
		" floor_tick = ceiling_tick, ceiling_tick = ceiling_tick + ?", owner(), other, s.ticks(10*time.Minute))
	return s.row(worker)
}

// owner returns an owner that no row has had.
func owner() string {
	var b [16]byte
	_, _ = crand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// await returns when done reports true.
func (s *suite) await(what string, done func() bool) {
	s.Helper()
	if !s.reached(done) {
		s.Fatalf("no %s in %v", what, patience)
	}
}

// reached waits until done reports true. It gives up, and reports false, after a long while.
func (s *suite) reached(done func() bool) bool {
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	end := time.After(patience)
	for !done() {
		select {
		case <-look.C:
		case <-end:
			return false
		}
	}
	return true
}

// ended waits until c is closed.
func (s *suite) ended(what string, c <-chan struct{}) {
	s.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		s.Fatalf("no %s in %v", what, patience)
	}
}

// wantAs checks that err holds an error of type E, and returns it.
func wantAs[E error](s *suite, call string, err error) E {
	s.Helper()
	var target E
	if !errors.As(err, &target) {
		s.Fatalf("%s: got %v, want a %T", call, err, target)
	}
	return target
}

func (s *suite) wantIs(call string, err, target error) {
	s.Helper()
	if !errors.Is(err, target) {
		s.Errorf("%s: got %v, want %v", call, err, target)
	}
}

// unchanged checks that rows did not change, although leases of the clause may have renewed by themselves meanwhile.
func (s *space) unchanged(what string, before []row) {
	s.Helper()
	got := s.rows()
	for i := range min(len(got), len(before)) {
		if r, was := &got[i], before[i]; was.state == granted && r.renewals > was.renewals && r.renewedAt >= was.renewedAt && r.ceiling >= was.ceiling {
			r.renewals, r.renewedAt, r.ceiling = was.renewals, was.renewedAt, was.ceiling
		}
	}
	s.same(what, got, before)
}

// steady calls look until no lease renewed by itself meanwhile, and returns the rows that look saw.
func (s *space) steady(look func()) []row {
	s.Helper()
	for before := s.rows(); ; {
		look()
		after := s.rows()
		if slices.Equal(before, after) {
			return after
		}
		before = after
	}
}

// same checks that rows did not change which no live lease has.
func (s *space) same(what string, got, want any) {
	s.Helper()
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
		s.Errorf("%s: got\n%s, want\n%s", what, g, w)
	}
}

func pointer[T any](v T) *T { return &v }
