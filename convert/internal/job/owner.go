package job

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/shardsnow/snow/convert/report"
)

// mainLock is the number of the lock that one run has. Sessions have higher numbers.
const mainLock = 0

// An owner is the right to work on the conversion. It is a lock of a session of its own, which ends with the process,
// and a number, the fence, that no earlier owner had.
//
// Whoever takes over first raises the fence, and then ends all sessions of earlier owners, and waits until the
// server has rolled back what they did. A session is entered in a table, then takes a lock by which it is found,
// and then reads the fence. So either the new owner finds it, or it finds the new fence.
type owner struct {
	e     engine
	place string
	lease time.Duration
	who   string
	fence int64

	// lock is the session that has mainLock. A session takes one statement at a time: while beat works, nothing else
	// uses it.
	lock    *sql.Conn
	session int64 // its number

	mu       sync.Mutex
	step     string
	done, of int64

	end  context.CancelCauseFunc
	stop chan struct{}
	gone chan struct{}
}

// own takes the lock and raises the fence. The context that it returns ends when the lock is lost.
func own(ctx context.Context, db *sql.DB, e engine, who string, lease time.Duration, tell func(report.Event)) (_ context.Context, _ *owner, err error) {
	o := &owner{e: e, who: who, lease: lease, session: rand.Int64N(1<<62) + 1, stop: make(chan struct{}), gone: make(chan struct{})}
	if o.lock, err = db.Conn(ctx); err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			o.drop()
		}
	}()
	for _, text := range e.tables() {
		if _, err := o.lock.ExecContext(ctx, text); err != nil {
			return nil, nil, fmt.Errorf("create the job's tables: %w", err)
		}
	}
	var place sql.NullString
	if err := o.lock.QueryRowContext(ctx, e.here()).Scan(&place); err != nil {
		return nil, nil, err
	}
	if !place.Valid {
		return nil, nil, errors.New("the session is in no database or schema: name one in the DSN")
	}
	o.place = place.String
	if err := o.take(ctx, tell); err != nil {
		return nil, nil, err
	}
	ctx, o.end = context.WithCancelCause(ctx)
	go o.beat(ctx)
	return ctx, o, nil
}

// deathTime is how long the server may take to notice that a process has died, and to end the session with its lock.
const deathTime = 3 * time.Second

// take takes the lock, from a silent owner as well.
func (o *owner) take(ctx context.Context, tell func(report.Event)) error {
	began := time.Now()
	for {
		got, err := o.e.lock(ctx, o.lock, o.place, mainLock)
		if err != nil {
			return fmt.Errorf("take the lock: %w", err)
		}
		if got {
			break
		}
		held, fence, err := o.holder(ctx)
		switch {
		case err != nil:
			return err
		case held.Since > o.lease:
			tell(report.Event{Kind: report.TakesOver, Why: fmt.Sprintf("%q has been silent for %v", held.Holder, held.Since.Round(time.Second))})
			if err := o.evict(ctx, fence, tell); err != nil {
				return err
			}
		case time.Since(began) > deathTime:
			return held
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
	// Sessions of a process that has died may still be at a statement, and have locks that the next statement waits
	// for.
	if err := o.evict(ctx, math.MaxInt64, tell); err != nil {
		return err
	}
	if err := o.raise(ctx); err != nil {
		return fmt.Errorf("raise the fence: %w", err)
	}
	return o.evict(ctx, o.fence, tell)
}

// raise raises the fence, and enters the owner.
func (o *owner) raise(ctx context.Context) error {
	insert := o.e.inserted("INSERT INTO snow_convert_run (id, plan, baseline, fence, holder, begun) VALUES (1, '', '', 0, '', " + o.e.now() + ")")
	if _, err := o.lock.ExecContext(ctx, insert); err != nil {
		return err
	}
	if _, err := o.lock.ExecContext(ctx, o.e.sql("UPDATE snow_convert_run SET fence = fence + 1, holder = ? WHERE id = 1"), o.who); err != nil {
		return err
	}
	// Nobody else raises it as long as the session has the lock.
	if err := o.lock.QueryRowContext(ctx, "SELECT fence FROM snow_convert_run WHERE id = 1").Scan(&o.fence); err != nil {
		return err
	}
	if err := o.enter(ctx, o.lock, o.session); err != nil {
		return err
	}
	_, err := o.e.lock(ctx, o.lock, o.place, o.session)
	return err
}

func (o *owner) enter(ctx context.Context, q querier, session int64) error {
	_, err := q.ExecContext(ctx, o.e.sql(`INSERT INTO snow_convert_run_sessions (session, fence, holder, step, done_rows, of_rows, seen)
		VALUES (?, ?, ?, '', 0, 0, `+o.e.now()+")"), session, o.fence, o.who)
	return err
}

// register makes a session known to the next owner, unless there is one already.
func (o *owner) register(ctx context.Context, s *sql.Conn) error {
	session := rand.Int64N(1<<62) + 1
	if err := o.enter(ctx, s, session); err != nil {
		return err
	}
	got, err := o.e.lock(ctx, s, o.place, session)
	if err != nil {
		return err
	}
	if !got {
		return fmt.Errorf("the lock of session %d is taken", session)
	}
	return o.check(ctx, s, "")
}

// check fails if another run has taken over. With a suffix that locks the row, it holds until the transaction ends.
func (o *owner) check(ctx context.Context, q querier, suffix string) error {
	var fence int64
	var holder string
	err := q.QueryRowContext(ctx, "SELECT fence, holder FROM snow_convert_run WHERE id = 1"+suffix).Scan(&fence, &holder)
	switch {
	case errors.Is(err, sql.ErrNoRows): // the conversion was taken back
		return &report.OvertakenError{}
	case err != nil:
		return fmt.Errorf("read the fence: %w", err)
	case fence != o.fence:
		return &report.OvertakenError{Holder: holder}
	}
	return nil
}

// holder says who has the lock, and which fence was his.
func (o *owner) holder(ctx context.Context) (held *report.RunningError, fence int64, err error) {
	held = &report.RunningError{Holder: "a process that has just begun", Lease: o.lease}
	var age float64
	query := "SELECT holder, fence, " + o.e.age("seen") + " FROM snow_convert_run_sessions ORDER BY seen DESC LIMIT 1"
	err = o.lock.QueryRowContext(ctx, query).Scan(&held.Holder, &fence, &age)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, 0, err
	}
	held.Since = max(0, time.Duration(age*float64(time.Second)))
	return held, fence, nil
}

// evict ends the other sessions of owners up to a fence, and returns when the server has ended them.
func (o *owner) evict(ctx context.Context, until int64, tell func(report.Event)) error {
	rows, err := o.lock.QueryContext(ctx, o.e.sql("SELECT session FROM snow_convert_run_sessions WHERE session <> ? AND fence <= ?"), o.session, until)
	if err != nil {
		return err
	}
	sessions, err := scan[int64](rows)
	if err != nil {
		return err
	}
	for _, session := range sessions {
		if err := o.endSession(ctx, session, tell); err != nil {
			return err
		}
		if _, err := o.lock.ExecContext(ctx, o.e.sql("DELETE FROM snow_convert_run_sessions WHERE session = ?"), session); err != nil {
			return err
		}
	}
	return nil
}

func (o *owner) endSession(ctx context.Context, session int64, tell func(report.Event)) error {
	for n := 0; ; n++ {
		id, err := o.e.holder(ctx, o.lock, o.place, session)
		if err != nil || id == 0 {
			return err
		}
		if err := o.e.kill(ctx, o.lock, id); err != nil {
			return fmt.Errorf("end session %d of an earlier run, which an account with the right to must do: %w", id, err)
		}
		if n == 10 {
			tell(report.Event{Kind: report.TakesOver, Why: fmt.Sprintf("the server is ending session %d of an earlier run", id)})
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

// beat tells others that the process is alive, and ends the run when the session with the lock is lost.
func (o *owner) beat(ctx context.Context) {
	defer close(o.gone)
	ticks := time.NewTicker(min(o.lease/4, 2*time.Second))
	defer ticks.Stop()
	for {
		select {
		case <-o.stop:
			return
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		if err := o.tellAlive(ctx); err != nil {
			o.end(fmt.Errorf("the session with the job's lock is lost: %w", err))
			return
		}
	}
}

func (o *owner) tellAlive(ctx context.Context) error {
	o.mu.Lock()
	step, done, of := o.step, o.done, o.of
	o.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, o.lease)
	defer cancel()
	_, err := o.lock.ExecContext(ctx, o.e.sql("UPDATE snow_convert_run_sessions SET seen = "+o.e.now()+
		", step = ?, done_rows = ?, of_rows = ? WHERE session = ?"), step, done, of, o.session)
	return err
}

// progress is what tellAlive tells next.
func (o *owner) progress(step string, done, of int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.step, o.done, o.of = step, done, of
}

// releaseTime bounds what is done after the context of a run has ended.
const releaseTime = 10 * time.Second

// release ends statements that the server still works on, although their context has ended, and gives the lock back.
// Last does something before the lock is given back.
func (o *owner) release(ctx context.Context, last func(context.Context, querier) error) error {
	close(o.stop)
	<-o.gone
	o.end(nil)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTime)
	defer cancel()
	defer o.drop()
	// What fails here is done by the next owner, who finds the sessions in the table.
	if o.check(ctx, o.lock, "") != nil || o.evict(ctx, o.fence, func(report.Event) {}) != nil {
		return nil
	}
	if last != nil {
		if err := last(ctx, o.lock); err != nil {
			return err
		}
	}
	_, _ = o.lock.ExecContext(ctx, o.e.sql("DELETE FROM snow_convert_run_sessions WHERE session = ?"), o.session)
	return nil
}

// drop ends the session with the lock.
func (o *owner) drop() {
	_ = o.lock.Raw(func(any) error { return driver.ErrBadConn })
	_ = o.lock.Close()
}

// pause waits, unless the context ends.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// scan returns the values of the only column of rows.
func scan[T any](rows *sql.Rows) (values []T, err error) {
	defer rows.Close()
	for rows.Next() {
		var v T
		if err := rows.Scan(&v); err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	return values, rows.Err()
}
