package sqlsnow

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// An ask is a kind of request.
type ask int

const (
	askFacts    ask = iota + 1 // the server's clock and settings, and the namespace's constants
	askFree                    // rows that may be taken
	askCensus                  // why there are none
	askRow                     // one row
	askTake                    // a window, of a row that may be taken
	askClaim                   // a row that may be taken, without a window
	askGrant                   // the first window of a claimed row
	askRenew                   // a higher ceiling
	askReassert                // the ceiling that was confirmed before
	askConfirm                 // nothing, but that the row is remembered as it is
	askRelease                 // nothing more: the row is free
	askAbandon                 // the same, of a claimed row
)

var askNames = [...]string{
	askFacts: "read the server's settings", askFree: "find a worker", askCensus: "count the workers", askRow: "read the worker",
	askTake: "acquire", askClaim: "claim", askGrant: "begin the window", askRenew: "renew", askReassert: "reassert the window", askConfirm: "confirm the window",
	askRelease: "release", askAbandon: "release",
}

func (a ask) String() string { return askNames[a] }

// A request is what a lease asks of the database: one statement. Ticks are
// those of the layout, times microseconds of the database's clock.
type request struct {
	ask              ask
	worker           int64
	owner            string
	fence            int64
	holder           string
	start, end       int64       // of the workers to look at
	state            WorkerState // as it was read
	seen             int64       // the ceiling, as it was read
	acked            int64       // the ceiling that was confirmed
	cap              int64       // of the ceiling that is asked for
	window           int64       // in ticks
	next             int64       // the first tick that was not used
	earliest, latest int64       // when the statement may have an effect
}

// A reply is what became of a request. With an error, that is unknown: the
// database may have done it, or may yet do it.
type reply struct {
	err     error
	changed bool  // the row; only then was a write done
	us      int64 // the database's clock
	facts   facts
	uuid    string // of the namespace
	free    []free
	row     *row
	census  census
}

// A free is a row that may be taken.
type free struct{ worker, fence, ceiling int64 }

type row struct {
	state          WorkerState
	owner          string
	fence          int64
	floor, ceiling int64
	claimed        int64 // milliseconds since 1970
	holder         string
}

type census struct {
	live, all int64
	earliest  int64 // the tick at which a number may be free
}

// A registry is the tables of a database, for one namespace.
type registry struct {
	db     *sql.DB
	engine *engine
	terms  terms
}

// do sends a request and returns what became of it.
func (r *registry) do(ctx context.Context, q request) reply {
	var out reply
	var err error
	switch q.ask {
	case askFacts:
		out, err = r.facts(ctx)
	case askFree:
		out.free, err = r.free(ctx, q)
	case askCensus:
		var earliest sql.NullInt64
		err = r.one(ctx, q).Scan(&out.census.live, &out.census.all, &earliest)
		out.census.earliest = earliest.Int64
	case askRow:
		var got row
		var owner sql.NullString
		err = r.one(ctx, q).Scan(&got.state, &owner, &got.fence, &got.floor, &got.ceiling, &got.claimed, &got.holder, &out.us)
		got.owner = owner.String
		if err == nil {
			out.row = &got
		} else if errors.Is(err, sql.ErrNoRows) {
			err = nil
		}
	default:
		out.changed, out.us, err = r.write(ctx, q)
	}
	if err != nil {
		return reply{err: r.engine.named(q.ask.String(), err)}
	}
	return out
}

func (r *registry) values(q request) map[string]any {
	t := &r.terms
	return map[string]any{
		"namespace": t.name, "epoch": t.layout.Epoch().UnixNano(), "tick": int64(t.layout.Tick()),
		"slack": t.ticks(slack), "grace": t.ticks(t.grace), "grace_ms": t.grace.Milliseconds(), "claim": t.claim.Milliseconds(),
		"probation": t.probation.Milliseconds(), "min_renew": t.minRenew.Milliseconds(), "loss": t.loss.Milliseconds(),
		"first": t.ticks(t.first), "late": 2*renewEvery(t.window).Milliseconds() + 1000,
		"start": q.start, "end": q.end, "worker": q.worker, "owner": q.owner, "fence": q.fence, "holder": q.holder,
		"state": int64(q.state), "seen": q.seen, "acked": q.acked, "cap": q.cap, "window": q.window, "next": q.next, "earliest": q.earliest, "latest": q.latest,
	}
}

func (r *registry) one(ctx context.Context, q request) *sql.Row {
	s := r.engine.statements[q.ask]
	return r.db.QueryRowContext(ctx, s.text, s.arguments(r.values(q))...)
}

func (r *registry) facts(ctx context.Context) (reply, error) {
	f, err := r.engine.askFacts(ctx, r.db)
	if err != nil {
		return reply{}, err
	}
	// Whether it is still the same namespace: a staging copy, or one that was made anew.
	t, err := r.engine.readTerms(ctx, r.db, r.terms.name)
	return reply{facts: f, us: f.us, uuid: t.uuid}, err
}

func (r *registry) free(ctx context.Context, q request) ([]free, error) {
	s := r.engine.statements[q.ask]
	rows, err := r.db.QueryContext(ctx, s.text, s.arguments(r.values(q))...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []free
	for rows.Next() {
		var f free
		if err := rows.Scan(&f.worker, &f.fence, &f.ceiling); err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, rows.Err()
}

// write executes an UPDATE of one row, and returns the database's clock if it
// changed the row.
func (r *registry) write(ctx context.Context, q request) (changed bool, us int64, err error) {
	return r.update(ctx, r.engine.statements[q.ask], r.values(q))
}

func (r *registry) update(ctx context.Context, s statement, values map[string]any) (changed bool, us int64, err error) {
	err = r.engine.alone(ctx, r.db, r.terms.need(), func(on *session) (_ bool, err error) {
		if r.engine.told != "" {
			changed, err = on.query(ctx, s, values, &us)
			return changed, err
		}
		var n int64
		n, us, err = on.exec(ctx, s, values)
		changed = n > 0
		return changed, err
	})
	if err == nil && changed && us <= 0 {
		err = fmt.Errorf("%w: the time is %d", ErrBadReply, us)
	}
	return changed && err == nil, us, err
}
