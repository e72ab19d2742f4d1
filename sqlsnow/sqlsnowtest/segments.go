package sqlsnowtest

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/segments"
)

// segmentContract is the contract that segments must keep on every database.
var segmentContract = []struct {
	sentence string
	check    func(*segmentSuite)
	alone    bool // runs before all others, which would wait for it
}{
	{"Without Migrate, every call returns ErrNotMigrated.", segmentsUnmigrated, false},
	{"Open refuses bad fields with a FieldError and makes no row.", segmentsBadFields, false},
	{"A read-only database is ErrReadOnly, and one that does not sync what it confirms is ErrNotDurable.", segmentsRefuse, false},
	{"Ids of one process and one database begin at 1, ascend and leave nothing out, one at a time and many at once.", segmentsDense, false},
	{"A start is one statement for each database, after a read of its settings and a check of the session, and with several databases a read of the row if an UPDATE can't return it.", segmentsStart, false},
	{"Numbers are taken before the last is given out.", segmentsAhead, false},
	{"A hundred processes that open at once, as the first ever, make no id twice.", segmentsAtOnce, true},
	{"Several databases give disjoint residues, whatever their order is later.", segmentsResidues, false},
	{"The first open needs every database.", segmentsFirstNeedsAll, false},
	{"One of several databases may be down: ids go on, Stats says so, and it is used again when it is back.", segmentsOneDown, false},
	{"A database that is named twice, rows that overlap or belong to other spaces, and another number of databases are ErrMismatch.", segmentsMismatch, false},
	{"A row that is gone is not made again if rows of other databases are in use.", segmentsGone, false},
	{"A row that went back is a RegressedError for all processes, which drop their numbers at hand from it, and Raise repairs it.", segmentsRegressed, false},
	{"A row that went back below ids in named tables is refused at the start, and new rows begin above them.", segmentsTables, false},
	{"If the answer to a statement is lost, or the statement is sent twice, nobody ever uses the extra numbers that it took.", segmentsUnknown, false},
	{"Ids end at Last, with ErrExhausted.", segmentsExhausted, false},
	{"A call ends with its context and takes nothing; after Close it is ErrClosed.", segmentsEnd, false},
	{"Settings of driver and session make no difference.", segmentsSessions, false},
	{"On a connection that was left in a transaction no number is taken: another one is used, or it is a DatabaseError with InTransaction.", segmentsLeft, false},
	{"Numbers are taken while transactions that wait for them have all connections that a pool has left, and a pool of one is refused; SQLite can't, and accepts one.", segmentsFull, false},
	{"Close gives back the numbers at hand, unless another process took numbers since, or the row was changed.", segmentsGiveBack, false},
}

// RunSegments checks that segments keep their contract on a database, as [Run] does for leases, with a subtest for
// each clause. It calls create several times for clauses that need several databases.
func RunSegments(t *testing.T, d sqlsnow.Dialect, create func(t *testing.T) Database) {
	t.Helper()
	t.Run("segments", func(t *testing.T) {
		for i, clause := range segmentContract {
			t.Run(fmt.Sprintf("%d %s", i+1, clause.sentence), func(t *testing.T) {
				if !clause.alone {
					t.Parallel()
				}
				watched(t, func() {
					s := &segmentSuite{dialect: d, create: create, T: t}
					s.suite = s.another()
					clause.check(s)
				})
			})
		}
	})
}

// A segmentSuite has the databases and helpers of one clause.
type segmentSuite struct {
	*testing.T
	*suite  // the first database
	dialect sqlsnow.Dialect
	create  func(t *testing.T) Database
}

// another makes another empty database.
func (s *segmentSuite) another() *suite {
	s.T.Helper()
	one := &suite{T: s.T, dialect: s.dialect, database: s.create(s.T)}
	one.db = one.open()
	return one
}

// databases makes n databases with the tables. The first one is the clause's own.
func (s *segmentSuite) databases(n int) []*suite {
	s.T.Helper()
	all := []*suite{s.suite}
	for range n - 1 {
		all = append(all, s.another())
	}
	for _, one := range all {
		one.migrate()
	}
	return all
}

func handles(databases []*suite) []*sql.DB {
	all := make([]*sql.DB, len(databases))
	for i, one := range databases {
		all[i] = one.open()
	}
	return all
}

var silent = slog.New(slog.DiscardHandler)

// try opens segments with few numbers at a time. Zero fields of cfg get values that suit most clauses.
func (s *segmentSuite) try(dbs []*sql.DB, cfg segments.Config) (*segments.Segments, error) {
	if cfg.Tag == "" {
		cfg.Tag = "orders"
	}
	if cfg.Step == 0 {
		cfg.Step = 10
	}
	if cfg.MaxStep == 0 {
		cfg.MaxStep = cfg.Step
	}
	if cfg.Logger == nil {
		cfg.Logger = silent
	}
	got, err := segments.Open(s.T.Context(), dbs, s.dialect, cfg)
	if got != nil {
		s.T.Cleanup(func() {
			if err := got.Close(context.Background()); err != nil {
				s.T.Errorf("Close: %v", err)
			}
		})
	}
	return got, err
}

func (s *segmentSuite) start(dbs []*sql.DB, cfg segments.Config) *segments.Segments {
	s.T.Helper()
	got, err := s.try(dbs, cfg)
	if err != nil {
		s.T.Fatal(err)
	}
	return got
}

func (s *segmentSuite) next(from *segments.Segments) snow.ID {
	s.T.Helper()
	id, err := from.Next(s.T.Context())
	if err != nil {
		s.T.Fatalf("Next: %v", err)
	}
	return id
}

// ids are all that were made in a clause.
type ids struct {
	mu   sync.Mutex
	seen map[snow.ID]bool
}

// add checks that ids are new.
func (all *ids) add(t *testing.T, some ...snow.ID) {
	t.Helper()
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.seen == nil {
		all.seen = map[snow.ID]bool{}
	}
	for _, id := range some {
		if id <= 0 || all.seen[id] {
			t.Fatalf("id %d was made twice, or is none", id)
		}
		all.seen[id] = true
	}
}

// rowText returns the row of the tag as text, without the count of takes.
func (s *suite) rowText() (text string) {
	s.Helper()
	var modulus, residue, state, next int64
	err := s.db.QueryRowContext(s.Context(), "SELECT modulus, residue, state, next_id FROM snow_segments WHERE tag = 'orders'").
		Scan(&modulus, &residue, &state, &next)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%d mod %d, state %d, next %d", residue, modulus, state, next)
}

func (s *suite) wantRow(want string) {
	s.Helper()
	if got := s.rowText(); got != want {
		s.Errorf("row: got %q, want %q", got, want)
	}
}

// A switchboard is a wire that can be cut.
type switchboard struct {
	cut   atomic.Bool
	reads atomic.Int64
	all   atomic.Int64
}

func (b *switchboard) intercept(_ context.Context, statement string, send func() error) error {
	if b.cut.Load() {
		return errLine
	}
	if isWork(statement) {
		b.all.Add(1)
		if !isWrite(statement) {
			b.reads.Add(1)
		}
	}
	return send()
}

var errLine = fmt.Errorf("the line is cut")
