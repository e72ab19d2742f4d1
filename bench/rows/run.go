package rows

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"testing"
	"time"
)

const (
	batch     = 500              // rows of a statement
	reads     = 5_000            // rows read after the load
	readLimit = 20 * time.Second // for all of them, in case the disk is slow
)

// A run loads one table and reads from it.
type run struct {
	engine  *engine
	key     key
	batches int
	limit   time.Duration // of the load; 0 for none
	reading time.Duration // the limit of all reads; 0 for readLimit
	report  func(format string, args ...any)
}

// serve does the run on a server of its own.
func (r run) serve(ctx context.Context) (result Result, err error) {
	r.report("starting the server")
	err = Hosted(func(tb testing.TB) error {
		s := r.engine.start(tb, r.engine.options(poolSize(r.batches*batch))...)
		db, err := sql.Open(r.engine.driver, s.DSN(s.CreateDatabase(tb)))
		if err != nil {
			return err
		}
		defer db.Close()
		result, err = r.measure(ctx, db)
		return err
	})
	return result, err
}

// measure does the run in an empty database.
func (r run) measure(ctx context.Context, db *sql.DB) (Result, error) {
	result := Result{
		Engine: r.engine.name,
		Key:    r.key.name,
		Column: r.engine.columns[r.key.name],
		Target: r.batches * batch,
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return result, fmt.Errorf("connect: %w", err)
	}
	defer conn.Close()
	if err := conn.QueryRowContext(ctx, r.engine.info).Scan(&result.Version, &result.Pool); err != nil {
		return result, fmt.Errorf("ask the server: %w", err)
	}
	if err := execute(ctx, conn, r.engine.schema(result.Column)); err != nil {
		return result, fmt.Errorf("create the table: %w", err)
	}
	marks, sample, err := r.load(ctx, conn)
	if err != nil {
		return result, fmt.Errorf("load: %w", err)
	}
	result.Rows = len(marks) * batch
	result.RowsPerSecond = points(marks, max(1, r.batches/50))
	result.Overall = rate(marks, 0)
	result.LastQuarter = rate(marks, len(marks)*3/4)

	r.report("writing to disk and reading")
	if err := execute(ctx, conn, r.engine.flush); err != nil {
		return result, fmt.Errorf("flush: %w", err)
	}
	if err := conn.QueryRowContext(ctx, r.engine.size).Scan(&result.Bytes); err != nil {
		return result, fmt.Errorf("size: %w", err)
	}
	took, err := r.read(ctx, conn, sample)
	if err != nil {
		return result, fmt.Errorf("read: %w", err)
	}
	slices.Sort(took)
	result.Reads = len(took)
	result.ReadP50 = percentile(took, 50)
	result.ReadP99 = percentile(took, 99)
	return result, nil
}

func execute(ctx context.Context, conn *sql.Conn, statements []string) error {
	for _, s := range statements {
		if _, err := conn.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// load fills the table. It returns how long after the start each statement was done, and a sample of the keys.
func (r run) load(ctx context.Context, conn *sql.Conn) (marks []time.Duration, sample []any, err error) {
	stmt, err := conn.PrepareContext(ctx, r.engine.insert(batch, !r.key.database))
	if err != nil {
		return nil, nil, err
	}
	defer stmt.Close()
	orders, pick := newOrders(r.batches*batch, 2), newReservoir(reads)
	ids, args := make([]any, batch), make([]any, 0, batch*columns)
	// Make some keys first: a new generator may wait or gather entropy before its first one.
	if err := r.key.fill(ctx, 0, ids); err != nil {
		return nil, nil, err
	}
	start := time.Now()
	var shown time.Duration // since start, when shownTo statements were done
	var shownTo int
	for i := range r.batches {
		if err := r.key.fill(ctx, i*batch, ids); err != nil {
			return nil, nil, err
		}
		args = args[:0]
		for _, id := range ids {
			if !r.key.database {
				args = append(args, id)
			}
			args = orders.append(args)
		}
		result, err := stmt.ExecContext(ctx, args...)
		if err != nil {
			return nil, nil, err
		}
		if n, err := result.RowsAffected(); err != nil {
			return nil, nil, err
		} else if n != batch {
			return nil, nil, fmt.Errorf("%d of %d rows inserted", n, batch)
		}
		pick.offer(ids)
		elapsed := time.Since(start)
		marks = append(marks, elapsed)
		if elapsed-shown >= time.Second {
			r.progress(len(marks), rate(marks, shownTo), elapsed)
			shown, shownTo = elapsed, len(marks)
		}
		if r.limit > 0 && elapsed >= r.limit {
			break
		}
	}
	return marks, pick.shuffled(), nil
}

// progress reports how far the load is, and how long it will take at the present rate or until its limit.
func (r run) progress(done int, perSecond float64, elapsed time.Duration) {
	left := time.Duration(float64((r.batches-done)*batch) / perSecond * float64(time.Second))
	if r.limit > 0 {
		left = min(left, max(0, r.limit-elapsed))
	}
	r.report("%d of %d rows, %.0f rows/s, %v left", done*batch, r.batches*batch, perSecond, left.Round(time.Second))
}

// read reads the rows with the given keys and returns how long each took.
func (r run) read(ctx context.Context, conn *sql.Conn, ids []any) ([]time.Duration, error) {
	stmt, err := conn.PrepareContext(ctx, r.engine.read())
	if err != nil {
		return nil, err
	}
	defer stmt.Close()
	var (
		buyer, amount int64
		status        int
		created       time.Time
		item          string
		took          []time.Duration
	)
	for end := time.Now().Add(cmp.Or(r.reading, readLimit)); len(took) < len(ids) && time.Now().Before(end); {
		start := time.Now()
		if err := stmt.QueryRowContext(ctx, ids[len(took)]).Scan(&buyer, &status, &created, &amount, &item); err != nil {
			return nil, err
		}
		took = append(took, time.Since(start))
	}
	return took, nil
}
