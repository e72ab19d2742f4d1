package numbers

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/shardsnow/snow/internal/dbserver"
	"github.com/shardsnow/snow/sqlsnow"
)

// Tx is a transaction: a [*sql.Tx], or what GORM has in its place. A [*sql.DB] and a [*sql.Conn] are none.
type Tx = interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	Commit() error
	Rollback() error
}

// GapFree is a series without gaps: the numbers of all committed transactions are 1, 2, 3 and so on. A transaction
// that is rolled back gives its number to the next one.
//
// This is so because the row of the counter is locked from the call until the end of the transaction. So transactions
// that take a number of one counter run one after another, from that moment on, in all processes. Take the number as
// late as possible, and end the transaction at once. Counters of other periods and partitions are not in the way.
//
// All methods are safe for concurrent use.
type GapFree struct {
	series *series
	upsert dbserver.Statement
	now    dbserver.Statement
	offset atomic.Int64 // of the database's clock to this machine's, in microseconds; a guess
}

// OpenGapFree opens a series without gaps. The first call for a series stores its configuration; later ones must have
// the same, except for the padding of the number.
//
// The table must be InnoDB, or not UNLOGGED, and be in the database of the transactions. A number is as durable as its
// transaction: after a failover that loses both, the number is given out again.
//
// OpenGapFree returns a [*PatternError], a [*snow.FieldError] for other fields, a [*MismatchError],
// [sqlsnow.ErrNotMigrated], and a [*sqlsnow.DatabaseError].
func OpenGapFree(ctx context.Context, db *sql.DB, d sqlsnow.Dialect, cfg Config) (*GapFree, error) {
	s, err := open(ctx, db, d, cfg, gapFree, dbserver.Forever)
	if err != nil {
		return nil, fmt.Errorf("numbers: open series %q: %w", cfg.Series, err)
	}
	return &GapFree{series: s, upsert: upsert(s.engine), now: s.engine.Compile(selectNow)}, nil
}

// Pattern returns the pattern of the series.
func (g *GapFree) Pattern() Pattern { return g.series.pattern }

// Take returns the next number. It is stored when tx commits, and belongs to nobody if tx is rolled back: then throw
// the text away. The date is the database's.
//
// Take returns an [*OverflowError] if the padding has no room, a [*ValueError], [ErrNoTransaction] if tx is nil, and a
// [*sqlsnow.DatabaseError]. After a DatabaseError, roll tx back; if it wraps a deadlock or a serialization failure, do
// the whole transaction again. PostgreSQL reports one at the isolation levels above READ COMMITTED whenever another
// transaction took a number meanwhile.
func (g *GapFree) Take(ctx context.Context, tx Tx, partitions ...string) (string, error) {
	var one [1]string
	if err := g.FillIn(ctx, tx, one[:], partitions...); err != nil {
		return "", err
	}
	return one[0], nil
}

// FillIn sets all of texts to numbers that follow each other, with one statement. After an error it has set none. With
// this method, GapFree is a number series of package gormsnow.
func (g *GapFree) FillIn(ctx context.Context, tx Tx, texts []string, partitions ...string) error {
	if err := g.fill(ctx, tx, texts, partitions); err != nil {
		return fmt.Errorf("numbers: series %q: %w", g.series.name, err)
	}
	return nil
}

// Partitions returns the names of the partitions, in order.
func (g *GapFree) Partitions() []string { return g.series.pattern.Partitions() }

// GapFree returns true: see [Fast.GapFree].
func (g *GapFree) GapFree() bool { return true }

func (g *GapFree) fill(ctx context.Context, tx Tx, texts, partitions []string) error {
	s := g.series
	if tx == nil {
		return ErrNoTransaction
	}
	if err := s.pattern.checkValues(partitions); err != nil || len(texts) == 0 {
		return err
	}
	guess := time.Now().UnixMicro() + g.offset.Load()
	for range maxTurns {
		w := s.windowAt(guess)
		scope := s.scope(w, partitions)
		if err := s.checkCount(len(texts), scope); err != nil {
			return err
		}
		last, err := g.count(ctx, tx, w, scope, int64(len(texts)))
		if err != nil {
			return databaseError(s.engine, "take a number", err)
		}
		if last > 0 {
			for i := range texts {
				texts[i] = string(s.pattern.append(nil, w.day, last-int64(len(texts)-1-i), partitions))
			}
			return nil
		}
		var now int64
		if err := tx.QueryRowContext(ctx, g.now.Text).Scan(&now); err != nil {
			return databaseError(s.engine, "read the clock", err)
		}
		if w.has(now) {
			return s.overflow(scope)
		}
		g.offset.Store(now - time.Now().UnixMicro())
		guess = now
	}
	return ErrClock
}

// count counts in the transaction and returns the last of the n numbers, or 0 if the statement did nothing.
func (g *GapFree) count(ctx context.Context, tx Tx, w window, scope string, n int64) (last int64, err error) {
	s := g.series
	args := g.upsert.Args(map[string]any{
		"series": s.name, "scope": scope, "kind": s.kind, "count": n, "room": s.pattern.Highest() - n, "begin": w.begin, "end": w.end,
	})
	if s.engine.HasReturning() {
		err = tx.QueryRowContext(ctx, g.upsert.Text, args...).Scan(&last)
		if errors.Is(err, sql.ErrNoRows) {
			return 0, nil
		}
		return last, err
	}
	result, err := tx.ExecContext(ctx, g.upsert.Text, args...)
	if err != nil {
		return 0, err
	}
	return result.LastInsertId()
}
