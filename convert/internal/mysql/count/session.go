package count

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/shardsnow/snow/convert/internal/job"
	"github.com/shardsnow/snow/convert/plan"
	"github.com/shardsnow/snow/internal/sqldialect"
)

// A counting is a session that changes how a table is counted.
type counting struct {
	*counter
	run  *job.Run
	conn *sql.Conn
	plan *plan.Table
}

// settings are of the session that creates triggers: they keep the mode in which they were created.
const settings = "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', SESSION lock_wait_timeout = 2"

// withSession calls do with a session for changes.
func withSession(ctx context.Context, db *sql.DB, do func(*sql.Conn) error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, settings); err != nil {
		return err
	}
	return do(conn)
}

// withCounter calls do with a session and the counter of a table, as it is now.
func withCounter(ctx context.Context, r *job.Run, t *plan.Table, do func(*counting) error) error {
	return withSession(ctx, r.DB, func(conn *sql.Conn) error {
		w := &counting{counter: newCounter(t), run: r, conn: conn, plan: t}
		return do(w)
	})
}

// exec runs statements that commit by themselves.
func (w *counting) exec(ctx context.Context, statements ...string) error {
	return execAll(ctx, w.run, w.conn, statements...)
}

func execAll(ctx context.Context, r *job.Run, conn *sql.Conn, statements ...string) error {
	for _, s := range statements {
		if r.Check != nil {
			if err := r.Check(ctx); err != nil {
				return err
			}
		}
		if _, err := conn.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", firstLine(s), err)
		}
	}
	return nil
}

// patient repeats what may wait for a lock: it waits 2 seconds at most, because writers wait behind it.
func patient(ctx context.Context, r *job.Run, do func() error) (err error) {
	const attempts = 50
	for range attempts {
		if err = do(); err == nil || sqldialect.MySQL.Classify(err) != sqldialect.Busy {
			return err
		}
		if r.Wait != nil {
			if waited := r.Wait(ctx, 0, 0); waited != nil {
				return errors.Join(err, waited)
			}
		}
	}
	return err
}

// locked calls do while the session has the table for itself.
func (w *counting) locked(ctx context.Context, do func() error) (err error) {
	if err := patient(ctx, w.run, func() error { return w.exec(ctx, w.lock()) }); err != nil {
		return err
	}
	defer func() {
		_, unlocked := w.conn.ExecContext(context.WithoutCancel(ctx), "UNLOCK TABLES")
		err = errors.Join(err, unlocked)
	}()
	return do()
}

func (c *counter) lock() string {
	return "LOCK TABLES " + quote(c.table) + " WRITE, " + quote(c.blockTable()) + " WRITE"
}

func firstLine(s string) string {
	const most = 100
	for i, r := range s {
		if r == '\n' || i >= most {
			return s[:i] + " …"
		}
	}
	return s
}
