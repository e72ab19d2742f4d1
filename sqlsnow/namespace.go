package sqlsnow

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/shardsnow/snow"
)

// A Namespace is one space of ids, whose worker numbers are leased to the
// processes that make them. Bind it to the tables that share keys: two
// namespaces that make ids for one table are two people with one number.
type Namespace struct {
	// Name has 1 to 64 characters: letters, digits, and . _ - : / of ASCII. Case counts.
	Name string

	// Layout is that of the ids. It can't change afterwards.
	Layout snow.Layout

	// Workers is how many worker numbers there are to lease, from 0 on. Zero
	// means all that the layout has, at most 1024.
	Workers int

	// LossWindow is how much confirmed history the database may lose in a
	// failover, as one with asynchronous replication does. It is at most ten
	// minutes, and zero means none: a single server that syncs, a cluster that
	// confirms what a majority has.
	//
	// Where it is not zero, the first id of a process comes LossWindow and a
	// second after it has found a number, and the window of a number grows up to
	// Window as it is renewed. It needs ticks of a second or less and a Window of
	// at least 30 s.
	LossWindow time.Duration

	// Window is how long ids can be made without reaching the database. It is
	// 3 ticks to 24 hours; zero means 10 minutes, or 3 ticks if that is longer.
	// A number whose process crashed is not leased again before its window ends.
	Window time.Duration

	// PinnedWindow is Window for those who ask for a certain number, and who
	// have to wait for it after a crash. Zero means 30 s, or 3 ticks or Window
	// if that is longer or shorter.
	PinnedWindow time.Duration
}

const (
	defaultWindow = 10 * time.Minute
	defaultPinned = 30 * time.Second
	longestWindow = 24 * time.Hour
	longestLoss   = 10 * time.Minute
	mostWorkers   = 1024 // by default
)

// terms checks n and fills in what is left out.
func (n Namespace) terms() (terms, error) {
	if err := checkName("namespace", n.Name); err != nil {
		return terms{}, err
	}
	if n.Layout == (snow.Layout{}) {
		return terms{}, &snow.FieldError{Field: "Layout", Value: "zero", Bound: "want one of snow.NewLayout or a preset"}
	}
	tick := n.Layout.Tick()
	all := n.Layout.Workers()
	switch {
	case n.Workers < 0 || int64(n.Workers) > all:
		return terms{}, &snow.FieldError{Field: "Workers", Value: strconv.Itoa(n.Workers), Bound: "the layout has " + strconv.FormatInt(all, 10)}
	case n.Workers == 0:
		n.Workers = int(min(all, mostWorkers))
	}
	if n.Window == 0 {
		n.Window = max(defaultWindow, 3*tick)
	}
	if n.PinnedWindow == 0 {
		n.PinnedWindow = max(min(defaultPinned, n.Window), 3*tick)
	}
	shortest := max(3*tick, time.Millisecond)
	if n.LossWindow > 0 {
		shortest = 30 * time.Second
	}
	for _, d := range []struct {
		field             string
		value             time.Duration
		shortest, longest time.Duration
	}{
		{"LossWindow", n.LossWindow, 0, longestLoss},
		{"Window", n.Window, shortest, max(longestWindow, 3*tick)},
		{"PinnedWindow", n.PinnedWindow, shortest, max(longestWindow, 3*tick)},
	} {
		if d.value < d.shortest || d.value > d.longest || d.value%time.Millisecond != 0 {
			return terms{}, &snow.FieldError{
				Field: d.field, Value: d.value.String(),
				Bound: fmt.Sprintf("want whole milliseconds from %v to %v", d.shortest, d.longest),
			}
		}
	}
	if n.LossWindow > 0 && tick > time.Second {
		return terms{}, &snow.FieldError{Field: "LossWindow", Value: n.LossWindow.String(), Bound: "needs a layout with ticks of a second or less"}
	}
	t := termsFor(n.LossWindow, n.Window, n.PinnedWindow, tick)
	t.name, t.layout, t.workers = n.Name, n.Layout, int64(n.Workers)
	return t, nil
}

func checkName(field, name string) error {
	bad := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._-:/", r)
	}
	if name == "" || len(name) > 64 || strings.ContainsFunc(name, bad) {
		return &snow.FieldError{
			Field: field, Value: strconv.Quote(name[:min(len(name), 80)]),
			Bound: "want 1 to 64 letters, digits, dots, underscores, hyphens, colons or slashes of ASCII",
		}
	}
	return nil
}

// Init makes a namespace, with a row for each of its worker numbers. Where it
// exists already with the same constants, Init makes the rows that are missing
// and returns nil: so every process may call it at its start. With others it
// returns [ErrNamespaceMismatch].
//
// Rows that are missing in a namespace that is there, or whose other rows are,
// were deleted while their windows may go on: they are made so that nobody gets
// them before the longest window is over. Of a namespace that is gone with all of
// its rows the database knows nothing: call [Fence] right after Init where it is
// made again and processes may still use it.
//
// A database that may forget what it has confirmed, by its settings of
// innodb_flush_log_at_trx_commit, sync_binlog (where the binary log is on),
// fsync or PRAGMA synchronous, for longer than LossWindow allows, is
// [ErrNotDurable]. A field out of bounds is a [*snow.FieldError]; without the
// tables it is [ErrNotMigrated], and on a replica [ErrReadOnly]. Any other
// error of the database is a [*DatabaseError].
func Init(ctx context.Context, db *sql.DB, d Dialect, ns Namespace) error {
	if err := initNamespace(ctx, db, d, ns); err != nil {
		return fmt.Errorf("sqlsnow: init namespace %q: %w", ns.Name, err)
	}
	return nil
}

func initNamespace(ctx context.Context, db *sql.DB, d Dialect, ns Namespace) error {
	e, err := engineOf(d)
	if err != nil {
		return err
	}
	want, err := ns.terms()
	if err != nil {
		return err
	}
	f, err := e.askFacts(ctx, db)
	if err != nil {
		return mistaken(ctx, db, d, e.database("init", err))
	}
	if err := f.check(want.loss); err != nil {
		return err
	}
	for tries := 0; ; tries++ {
		if err = e.named("init", e.initRows(ctx, db, want, f.us)); !e.isBusy(err) || tries == mostTries || pause(ctx, 100*time.Millisecond) != nil {
			return err
		}
	}
}

// initRows makes the rows of a namespace, its own after those of the worker numbers: so where it is there, all of them were,
// and those that are missing have been used. They begin when the windows that they may have had are over, and so do those
// of a namespace whose own row is gone.
func (e *engine) initRows(ctx context.Context, db *sql.DB, want terms, us int64) error {
	got, err := e.readTerms(ctx, db, want.name)
	fresh, used := errors.Is(err, ErrNoNamespace), int64(0)
	switch {
	case fresh:
		s := e.compile("SELECT COUNT(*) FROM snow_workers WHERE namespace = :namespace AND (state <> 0 OR fence > 0 OR ceiling_tick > 0)")
		if err := db.QueryRowContext(ctx, s.text, s.arguments(map[string]any{"namespace": want.name})...).Scan(&used); err != nil {
			return err
		}
	case err != nil:
		return err
	default:
		if err := want.compare(got); err != nil {
			return err
		}
		want = got
	}
	if err := e.insertRows(ctx, db, want, !fresh || used > 0, us); err != nil || !fresh {
		return err
	}
	values := want.row()
	values["uuid"] = newUUID()
	failed := e.insert(ctx, db, want.need(), e.compile(insertNamespace), values)
	// Another process may have been faster: what counts is the row.
	got, err = e.readTerms(ctx, db, want.name)
	switch {
	case errors.Is(err, ErrNoNamespace) && failed != nil:
		return failed
	case err != nil:
		return err
	case errors.Is(failed, ErrInTransaction): // which is where the row was read
		return failed
	}
	return want.compare(got)
}

// insertRows adds the rows of worker numbers that have none. Used ones begin when the longest window is over that could have
// been granted before, as after Fence.
func (e *engine) insertRows(ctx context.Context, db *sql.DB, t terms, used bool, us int64) error {
	const batch = 500 // of the thousand that the statement can count
	values := map[string]any{
		"namespace": t.name, "used": int64(0), "epoch": t.layout.Epoch().UnixNano(), "tick": int64(t.layout.Tick()),
		"window": t.ticks(max(t.window, t.pinned) + defaultMaxSkew),
	}
	if used {
		values["used"] = int64(1)
	}
	for first := int64(0); first < t.workers; first += batch {
		end := min(first+batch, t.workers)
		missing, err := e.missingRows(ctx, db, t.name, first, end)
		if err != nil {
			return err
		}
		if len(missing) > 0 && used {
			clock := vote{maxSkew: defaultMaxSkew}
			if err := clock.take(us, 0, reading{wall: time.Now()}); err != nil {
				return err
			}
		}
		for tries := 0; len(missing) > 0; tries++ {
			numbers := make([]string, len(missing))
			for i, worker := range missing {
				numbers[i] = strconv.FormatInt(worker, 10)
			}
			text := strings.NewReplacer("{digits}", digits, "{first}", strconv.FormatInt(first, 10), "{missing}", strings.Join(numbers, ", ")).Replace(insertWorkers)
			s := e.compile(text)
			failed := e.insert(ctx, db, t.need(), s, values)
			if errors.Is(failed, ErrInTransaction) {
				return failed
			}
			// Others may insert the same rows: see what is still missing.
			if missing, err = e.missingRows(ctx, db, t.name, first, end); err != nil {
				return err
			}
			if len(missing) > 0 && failed != nil && (tries == 10 || ctx.Err() != nil || e.isBusy(e.named("init", failed))) {
				return failed
			}
		}
	}
	return nil
}

func (e *engine) missingRows(ctx context.Context, db *sql.DB, name string, first, end int64) ([]int64, error) {
	s := e.compile("SELECT worker_id FROM snow_workers WHERE namespace = :namespace AND worker_id >= :start AND worker_id < :end" + noLimit)
	rows, err := db.QueryContext(ctx, s.text, s.arguments(map[string]any{"namespace": name, "start": first, "end": end})...)
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

// row returns the constants as the table has them.
func (t *terms) row() map[string]any {
	return map[string]any{
		"namespace": t.name, "layout": t.layout.String(), "uuid": t.uuid, "workers": t.workers,
		"loss": t.loss.Milliseconds(), "probation": t.probation.Milliseconds(), "min_renew": t.minRenew.Milliseconds(),
		"raise": t.raise.Milliseconds(), "first": t.first.Milliseconds(), "window": t.window.Milliseconds(),
		"grace_ms": t.grace.Milliseconds(), "pinned": t.pinned.Milliseconds(), "claim": t.claim.Milliseconds(),
	}
}

// compare says in what got, which is in the database, differs from what a
// caller of Init can choose. The rest is as Init once computed it.
func (t *terms) compare(got terms) error {
	want, have := t.row(), got.row()
	for _, name := range []string{"layout", "workers", "loss", "window", "pinned"} {
		if want[name] != have[name] {
			return fmt.Errorf("%w: its %s is %v, not %v", ErrNamespaceMismatch, name, have[name], want[name])
		}
	}
	return nil
}

// readTerms reads the constants of a namespace.
func (e *engine) readTerms(ctx context.Context, q queryer, name string) (terms, error) {
	s := e.compile(selectNamespace)
	t := terms{name: name}
	var layout string
	durations := make([]int64, 9)
	err := q.QueryRowContext(ctx, s.text, s.arguments(map[string]any{"namespace": name})...).Scan(&layout, &t.uuid, &t.workers,
		&durations[0], &durations[1], &durations[2], &durations[3], &durations[4], &durations[5], &durations[6], &durations[7], &durations[8])
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return t, ErrNoNamespace
	case err != nil:
		return t, e.database("read the namespace", err)
	}
	if t.layout, err = snow.ParseLayout(layout); err != nil {
		return t, fmt.Errorf("%w: %w", ErrNamespaceMismatch, err)
	}
	for i, d := range []*time.Duration{&t.loss, &t.probation, &t.minRenew, &t.raise, &t.first, &t.window, &t.grace, &t.pinned, &t.claim} {
		*d = time.Duration(durations[i]) * time.Millisecond
	}
	return t, t.check()
}

// newUUID returns a random UUID (RFC 9562, version 4).
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
