//go:build unix

package postgres

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/shardsnow/snow/convert/internal/job"
	"github.com/shardsnow/snow/convert/plan"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
)

// TestTwoMillionRows prints how long the second columns of 2 million rows take, beside ALTER TABLE of a table with the
// same rows, and how long a program waited at most.
func TestTwoMillionRows(t *testing.T) {
	if os.Getenv("SNOW_MEASURE") == "" {
		t.Skip("a measurement: SNOW_MEASURE=1 makes it")
	}
	columns := []*plan.Column{{Name: "id", Type: "integer", To: "bigint"}, {Name: "customer_id", Type: "integer", To: "bigint"}}
	tables := []*plan.Table{{Name: "orders", Key: "id", Counter: "serial", Sequence: "orders_id_seq", Method: plan.Online, Group: 1, Columns: columns}}
	fill := func(name string) []string {
		return []string{
			`CREATE TABLE ` + name + ` (id serial PRIMARY KEY, customer_id int NOT NULL, status smallint, created timestamptz DEFAULT now(), note text)`,
			`INSERT INTO ` + name + ` (customer_id, status, note) SELECT n % 100000, n % 5, md5(n::text) FROM generate_series(1, 2000000) n`,
			`CREATE INDEX ON ` + name + ` (customer_id)`, `CREATE INDEX ON ` + name + ` (created)`, `VACUUM ANALYZE ` + name,
		}
	}
	w := newWorld(t, dbtest.Postgres(t, "shared_buffers=512MB", "max_wal_size=4GB"), tables, append(fill("orders"), fill("altered")...)...)
	altering := time.Now()
	w.exec("ALTER TABLE altered ALTER COLUMN id TYPE bigint, ALTER COLUMN customer_id TYPE bigint")
	alter := time.Since(altering)

	x := newWriter(w, 1, "", 0)
	stop, done := make(chan struct{}), make(chan time.Duration)
	go func() {
		var longest time.Duration
		for {
			select {
			case <-stop:
				done <- longest
				return
			default:
			}
			begun := time.Now()
			if _, err := x.db.Exec("WITH i AS (INSERT INTO orders (customer_id) VALUES (1)) UPDATE orders SET status = 1 WHERE id = 1 + (random() * 1999999)::int"); err != nil {
				t.Errorf("a writer failed: %v", err)
			}
			longest = max(longest, time.Since(begun))
		}
	}()
	begun := time.Now()
	for _, s := range w.steps() {
		if s.Phase != job.Widen {
			break
		}
		r, err := newRun(context.Background(), w.db, s)
		w.must(err)
		step := time.Now()
		w.must(s.Do(context.Background(), r))
		t.Logf("%s: %v", s.Name, time.Since(step).Round(time.Millisecond))
	}
	took := time.Since(begun)
	close(stop)
	t.Logf("2 million rows: online %v beside a writer, ALTER TABLE %v: %.2f times as long; the longest statement of the writer took %v",
		took.Round(time.Millisecond), alter.Round(time.Millisecond), took.Seconds()/alter.Seconds(), <-done)
}
