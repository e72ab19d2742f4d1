package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/shardsnow/snow/convert/internal/job"
)

// Others queue behind a statement that waits for a lock, so it waits for wait at most. It is below deadlock_timeout
// (1 s), so that no program is ever the victim of a deadlock with a step.
const (
	wait     = "200ms"
	patience = "10s"                  // for locks that no reader or writer waits for
	pause    = 500 * time.Millisecond // between attempts, up to four times as long
	attempts = 400
)

// briefly does a transaction that needs locks on tables. It gives up while others hold them, lets them work, and
// tries again. Names without a schema mean nothing in the transaction, so that definitions name schemas.
func briefly(ctx context.Context, r *job.Run, tables []string, do func(tx *sql.Tx) error) error {
	var last error
	for i := range attempts {
		if err := r.Check(ctx); err != nil {
			return err
		}
		err := attempt(ctx, r, do)
		if err == nil {
			return nil
		}
		if !isBusy(err) && !errors.Is(err, errAgain) || ctx.Err() != nil {
			return err
		}
		last = err
		if err := rest(ctx, min(i+1, 4)); err != nil {
			return err
		}
	}
	sessions, err := blockers(ctx, r.DB)
	if err != nil {
		return errors.Join(last, err)
	}
	return &LockedError{Tables: tables, Attempts: attempts, Sessions: sessions, Cause: last}
}

func attempt(ctx context.Context, r *job.Run, do func(tx *sql.Tx) error) error {
	tx, err := r.DB.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // the first error says more
	if err := execute(ctx, tx, settings(wait)+", set_config('search_path', '', true)"); err != nil {
		return err
	}
	if err := do(tx); err != nil {
		return err
	}
	// A statement that waited may have been overtaken.
	if err := r.Check(ctx); err != nil {
		return err
	}
	return tx.Commit()
}

// settings are of a transaction. Limits that the account has do not hold for steps.
func settings(wait string) string {
	return `SELECT set_config('lock_timeout', '` + wait + `', true), set_config('statement_timeout', '0', true),
		set_config('idle_in_transaction_session_timeout', '0', true), set_config('row_security', 'off', true)`
}

// rest lets n pauses pass.
func rest(ctx context.Context, n int) error {
	timer := time.NewTimer(time.Duration(n)*pause/2 + rand.N(pause/2))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// alone does a transaction that nobody else uses a table in, and reads the table anew: it may have waited for the lock.
func alone(ctx context.Context, r *job.Run, t *table, do func(tx *sql.Tx) error) error {
	return briefly(ctx, r, []string{t.Name}, func(tx *sql.Tx) error {
		if err := lock(ctx, tx, "ACCESS EXCLUSIVE", []string{t.sql}); err != nil {
			return err
		}
		if err := t.refresh(ctx, tx); err != nil {
			return err
		}
		return do(tx)
	})
}

// lock takes tables as one, so that writers of the first don't wait long for a lock on the last.
//
// An autovacuum gives way only to somebody who has waited for deadlock_timeout. So the lock that it has is waited for
// first, in a mode that no reader or writer waits for.
func lock(ctx context.Context, tx *sql.Tx, mode string, tables []string) error {
	list := strings.Join(tables, ", ")
	return execute(ctx, tx, "SELECT set_config('lock_timeout', '"+patience+"', true)",
		"LOCK TABLE "+list+" IN SHARE UPDATE EXCLUSIVE MODE",
		"SELECT set_config('lock_timeout', '"+wait+"', true), set_config('statement_timeout', '"+wait+"', true)",
		"LOCK TABLE "+list+" IN "+mode+" MODE",
		"SELECT set_config('statement_timeout', '0', true)")
}

// gently is briefly for statements that neither readers nor writers wait for. They may wait for others of their kind.
func gently(ctx context.Context, r *job.Run, tables []string, do func(tx *sql.Tx) error) error {
	return briefly(ctx, r, tables, func(tx *sql.Tx) error {
		if err := execute(ctx, tx, "SELECT set_config('lock_timeout', '"+patience+"', true)"); err != nil {
			return err
		}
		return do(tx)
	})
}

// blockers are the sessions of this database whose transactions are the oldest.
func blockers(ctx context.Context, q querier) ([]string, error) {
	type session struct {
		Pid   int
		State string
		Query string
		Age   float64
	}
	all, err := query[session](ctx, q, `SELECT pid, COALESCE(state, '') AS state, left(query, 80) AS query, extract(epoch FROM now() - xact_start) AS age
		FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL ORDER BY xact_start LIMIT 5`)
	var texts []string
	for _, s := range all {
		texts = append(texts, fmt.Sprintf("process %d, %s, for %.0f s: %q", s.Pid, s.State, s.Age, s.Query))
	}
	return texts, err
}
