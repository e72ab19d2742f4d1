package rows

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/shardsnow/snow"
)

// A Turn compares snow's keys with auto-increment on one engine, more precisely than two loads one after the other
// can. One server has a table of each, and their statements take turns, so that other work on the machine affects
// both.
type Turn struct {
	Engine  string
	Version string
	Pool    int64     // size of the buffer pool in bytes, for the two tables
	Rows    int       // in each table
	Ratio   float64   // snow's rows/s over auto-increment's
	Blocks  []float64 // the same for each twentieth of the load
}

const blocks = 20

// Turns measures with the Rows, Engines and Progress of opts. Otherwise it is as [Measure].
func Turns(ctx context.Context, opts Options) ([]Turn, error) {
	var turns []Turn
	var failed error
	engines, err := choose(opts.Engines, &mariadb, &postgres)
	if err != nil {
		return nil, fmt.Errorf("rows: %w", err)
	}
	for _, e := range engines {
		t, err := opts.turn(ctx, e)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("rows: %s in turns: %w", e.name, err))
			continue
		}
		turns = append(turns, t)
	}
	return turns, failed
}

func (o Options) turn(ctx context.Context, e *engine) (t Turn, err error) {
	if o.Rows == 0 {
		o.Rows = defaultRows
	}
	worker, err := snow.Fixed(snow.DefaultLayout(), 0)
	if err != nil {
		return t, err
	}
	gen, err := snow.NewGenerator(worker, snow.Config{})
	if err != nil {
		return t, err
	}
	t.Engine, t.Rows = e.name, (o.Rows+batch-1)/batch*batch
	err = Hosted(func(tb testing.TB) error {
		server := e.start(tb, e.options(2*poolSize(t.Rows))...)
		var sides [2]side
		for i, k := range []key{{name: AutoIncrement, database: true, fill: count}, {name: Snow, fill: fillSnow(gen)}} {
			db, err := sql.Open(e.driver, server.DSN(server.CreateDatabase(tb)))
			if err != nil {
				return err
			}
			defer db.Close()
			if err := sides[i].prepare(ctx, e, k, db, t.Rows); err != nil {
				return err
			}
			if err := db.QueryRowContext(ctx, e.info).Scan(&t.Version, &t.Pool); err != nil {
				return err
			}
		}
		return t.load(ctx, &sides, o.Progress)
	})
	return t, err
}

// load inserts into both tables in turns.
func (t *Turn) load(ctx context.Context, sides *[2]side, progress func(string)) error {
	var took, block [2]time.Duration
	for n, done := t.Rows/batch, 0; done < n; {
		for i := range sides {
			i ^= done & 1 // each goes first as often as the other
			d, err := sides[i].insert(ctx, done)
			if err != nil {
				return err
			}
			took[i] += d
			block[i] += d
		}
		done++
		if done*blocks/n > (done-1)*blocks/n {
			t.Blocks = append(t.Blocks, block[0].Seconds()/block[1].Seconds())
			block = [2]time.Duration{}
		}
		if progress != nil {
			progress(fmt.Sprintf("%s in turns: %d of %d rows", t.Engine, done*batch, t.Rows))
		}
	}
	t.Ratio = took[0].Seconds() / took[1].Seconds()
	return nil
}

// A side is one of the tables.
type side struct {
	key    key
	stmt   *sql.Stmt
	orders *orders
	ids    []any
	args   []any
}

func (s *side) prepare(ctx context.Context, e *engine, k key, db *sql.DB, rows int) error {
	db.SetMaxOpenConns(1)
	for _, statement := range e.schema(e.columns[k.name]) {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("create the table: %w", err)
		}
	}
	s.key, s.orders, s.ids = k, newOrders(rows, 2), make([]any, batch)
	var err error
	s.stmt, err = db.PrepareContext(ctx, e.insert(batch, !k.database))
	return err
}

// insert sends the next statement, and returns how long it took, including the making of its keys.
func (s *side) insert(ctx context.Context, done int) (time.Duration, error) {
	start := time.Now()
	if err := s.key.fill(ctx, done*batch, s.ids); err != nil {
		return 0, err
	}
	s.args = s.args[:0]
	for _, id := range s.ids {
		if !s.key.database {
			s.args = append(s.args, id)
		}
		s.args = s.orders.append(s.args)
	}
	_, err := s.stmt.ExecContext(ctx, s.args...)
	return time.Since(start), err
}
