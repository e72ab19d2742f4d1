package registry

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/dberrors"
	"github.com/shardsnow/snow/internal/dbserver"
	"github.com/shardsnow/snow/internal/names"
	"github.com/shardsnow/snow/internal/protocol"
)

// Read reads the constants of a namespace.
func Read(ctx context.Context, e *dbserver.Engine, q dbserver.Queryer, name string) (protocol.Params, error) {
	text, args := compile(e, selectNamespace).Bind(map[string]any{"namespace": name})
	p := protocol.Params{Name: name}
	var layout string
	durations := make([]int64, 9)
	err := q.QueryRowContext(ctx, text, args...).Scan(&layout, &p.UUID, &p.Workers,
		&durations[0], &durations[1], &durations[2], &durations[3], &durations[4], &durations[5], &durations[6], &durations[7], &durations[8])
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return p, dberrors.ErrNoNamespace
	case err != nil:
		return p, err
	}
	if p.Layout, err = snow.ParseLayout(layout); err != nil {
		return p, fmt.Errorf("%w: %w", dberrors.ErrNamespaceMismatch, err)
	}
	for i, d := range []*time.Duration{&p.Loss, &p.Probation, &p.MinRenew, &p.Raise, &p.First, &p.Window, &p.Grace, &p.Pinned, &p.Claim} {
		*d = time.Duration(durations[i]) * time.Millisecond
	}
	return p, p.Check()
}

// Names returns the names of all namespaces, in the order of the database.
func Names(ctx context.Context, e *dbserver.Engine, q dbserver.Queryer) ([]string, error) {
	rows, err := q.QueryContext(ctx, compile(e, selectNamespaces).Text)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		all = append(all, name)
	}
	return all, rows.Err()
}

// Create makes the rows of a namespace: first the rows of its worker numbers, then its own. So if the namespace's row
// exists, all worker rows existed once, and numbers without a row may have been used: their first windows begin
// after the windows that they may have had. The same holds if only the namespace's row is gone. us is the
// database's clock.
func Create(ctx context.Context, e *dbserver.Engine, db *sql.DB, want protocol.Params, us int64) error {
	got, err := Read(ctx, e, db, want.Name)
	fresh, used := errors.Is(err, dberrors.ErrNoNamespace), int64(0)
	switch {
	case fresh:
		s := compile(e, selectUsed)
		if err := db.QueryRowContext(ctx, s.Text, s.Args(map[string]any{"namespace": want.Name})...).Scan(&used); err != nil {
			return err
		}
	case err != nil:
		return err
	default:
		if err := compare(want, got); err != nil {
			return err
		}
		want = got
	}
	if err := insertRows(ctx, e, db, want, !fresh || used > 0, us); err != nil || !fresh {
		return err
	}
	values := columns(&want)
	values["uuid"] = names.NewUUID()
	failed := e.Insert(ctx, db, use(&want), compile(e, insertNamespace), values)
	// Another process may have been faster, so read the row that is there.
	got, err = Read(ctx, e, db, want.Name)
	switch {
	case errors.Is(err, dberrors.ErrNoNamespace) && failed != nil:
		return failed
	case err != nil:
		return err
	case e.IsInTransaction(failed): // the row was read inside that transaction
		return failed
	}
	return compare(want, got)
}

// insertRows adds the missing rows of worker numbers. If used, the numbers may have been leased before, so their
// first windows begin after the longest window that could have been granted, as after Fence.
func insertRows(ctx context.Context, e *dbserver.Engine, db *sql.DB, p protocol.Params, used bool, us int64) error {
	const batch = 500 // the statement can count to a thousand
	values := map[string]any{
		"namespace": p.Name, "used": int64(0), "epoch": p.Layout.Epoch().UnixNano(), "tick": int64(p.Layout.Tick()),
		"window": p.LongestWindow(), "local": p.TickAt(time.Now().UnixMicro()),
	}
	if used {
		values["used"] = int64(1)
	}
	for first := int64(0); first < p.Workers; first += batch {
		end := min(first+batch, p.Workers)
		missing, err := missingRows(ctx, e, db, p.Name, first, end)
		if err != nil {
			return err
		}
		if len(missing) > 0 && used {
			if err := protocol.CheckClock(us, time.Now()); err != nil {
				return err
			}
		}
		for tries := 0; len(missing) > 0; tries++ {
			numbers := make([]string, len(missing))
			for i, worker := range missing {
				numbers[i] = strconv.FormatInt(worker, 10)
			}
			text := strings.NewReplacer("{digits}", digits, "{first}", strconv.FormatInt(first, 10), "{missing}", strings.Join(numbers, ", ")).Replace(insertWorkers)
			failed := e.Insert(ctx, db, use(&p), compile(e, text), values)
			if e.IsInTransaction(failed) {
				return failed
			}
			// Other processes may insert the same rows.
			if missing, err = missingRows(ctx, e, db, p.Name, first, end); err != nil {
				return err
			}
			if len(missing) > 0 && failed != nil && (tries == 10 || ctx.Err() != nil || e.IsBusy(failed)) {
				return failed
			}
		}
	}
	return nil
}

func missingRows(ctx context.Context, e *dbserver.Engine, db *sql.DB, name string, first, end int64) ([]int64, error) {
	s := compile(e, selectNumbers)
	rows, err := db.QueryContext(ctx, s.Text, s.Args(map[string]any{"namespace": name, "start": first, "end": end})...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	there := make([]bool, end-first)
	for rows.Next() {
		var worker int64
		if err := rows.Scan(&worker); err != nil {
			return nil, err
		}
		there[worker-first] = true
	}
	var missing []int64
	for i, ok := range there {
		if !ok {
			missing = append(missing, first+int64(i))
		}
	}
	return missing, rows.Err()
}

// columns returns the constants as the table has them.
func columns(p *protocol.Params) map[string]any {
	return map[string]any{
		"namespace": p.Name, "layout": p.Layout.String(), "uuid": p.UUID, "workers": p.Workers,
		"loss": p.Loss.Milliseconds(), "probation": p.Probation.Milliseconds(), "min_renew": p.MinRenew.Milliseconds(),
		"raise": p.Raise.Milliseconds(), "first": p.First.Milliseconds(), "window": p.Window.Milliseconds(),
		"grace_ms": p.Grace.Milliseconds(), "pinned": p.Pinned.Milliseconds(), "claim": p.Claim.Milliseconds(),
	}
}

// compare returns an error if got, the constants in the database, differ from
// want where a caller of Init chooses. The first Init computed the others.
func compare(want, got protocol.Params) error {
	wanted, have := columns(&want), columns(&got)
	for _, name := range []string{"layout", "workers", "loss", "window", "pinned"} {
		if wanted[name] != have[name] {
			return fmt.Errorf("%w: its %s is %v, not %v", dberrors.ErrNamespaceMismatch, name, have[name], wanted[name])
		}
	}
	return nil
}

// use returns the Use of a session that writes rows of a namespace.
func use(p *protocol.Params) dbserver.Use {
	if p.Loss > 0 {
		return dbserver.ForLossyLease
	}
	return dbserver.ForLease
}
