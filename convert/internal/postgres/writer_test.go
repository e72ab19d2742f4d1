//go:build unix

package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shardsnow/snow/convert/internal/job"
	"github.com/shardsnow/snow/convert/plan"
	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
)

// writtenTables and written are what writers write: each row says who owns it.
func writtenTables() []*plan.Table {
	column := func(name string) *plan.Column { return &plan.Column{Name: name, Type: "integer", To: "bigint"} }
	return []*plan.Table{
		{Name: "customers", Key: "id", Counter: "serial", Sequence: "customers_id_seq", Method: plan.Online, Group: 1, Columns: []*plan.Column{column("id"), column("referrer")}},
		{Name: "orders", Key: "id", Counter: "identity always", Method: plan.Online, Group: 1, Columns: []*plan.Column{column("id"), column("customer_id")}},
	}
}

var written = []string{
	`CREATE TABLE customers (id serial PRIMARY KEY, owner int NOT NULL, name text, referrer int REFERENCES customers ON DELETE SET NULL ON UPDATE CASCADE)`,
	`CREATE TABLE orders (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, owner int NOT NULL, total int, customer_id int NOT NULL REFERENCES customers ON DELETE CASCADE ON UPDATE CASCADE)`,
	`CREATE INDEX ON customers (referrer)`, `CREATE INDEX ON orders (customer_id, total)`, `CREATE VIEW totals AS SELECT customer_id, sum(total) AS total FROM orders GROUP BY 1`,
	`CREATE TABLE names (id int UNIQUE)`, `CREATE SCHEMA elsewhere`,
	`CREATE FUNCTION seen() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.total := NEW.total + 1000; RETURN NEW; END $$`,
	// A trigger that the copy must not let fire.
	`CREATE TRIGGER seen BEFORE UPDATE ON orders FOR EACH ROW WHEN (NEW.total < 1000) EXECUTE FUNCTION seen()`,
	`INSERT INTO customers (owner, name) SELECT -1, 'c' FROM generate_series(1, 3000) n`, `INSERT INTO orders (owner, total, customer_id) SELECT -1, 5, n FROM generate_series(1, 3000) n`,
}

// A writer writes rows of its own, and knows what they must be.
type writer struct {
	number    int
	db        *sql.DB
	options   *sql.TxOptions
	snow      func() int64 // gives ids; nil for programs that know of none
	cascades  bool         // whether foreign keys work in its sessions
	customers map[int64]int64
	orders    map[int64][2]int64 // customer, total
	errors    map[string]int
	done      int
	longest   time.Duration
}

func newWriter(w *world, number int, options string, isolation sql.IsolationLevel) *writer {
	dsn := w.dsn
	if options != "" {
		separator := "?"
		if strings.Contains(dsn, "?") {
			separator = "&"
		}
		dsn += separator + "options=" + options
	}
	db := w.open(dsn)
	db.SetMaxOpenConns(1)
	return &writer{
		number: number, db: db, options: &sql.TxOptions{Isolation: isolation}, cascades: !strings.Contains(options, "replica"),
		customers: map[int64]int64{}, orders: map[int64][2]int64{}, errors: map[string]int{},
	}
}

// once does one random transaction, and notes what it has done if it is committed.
func (w *writer) once(ctx context.Context) {
	customers, orders := maps.Clone(w.customers), maps.Clone(w.orders)
	begun := time.Now()
	err := w.transaction(ctx)
	if took := time.Since(begun); took > w.longest {
		w.longest = took
	}
	if err != nil {
		w.customers, w.orders = customers, orders
		code := sqldialect.Code(err)
		if code == "" {
			code = err.Error()
		}
		w.errors[code]++
		return
	}
	w.done++
}

func (w *writer) transaction(ctx context.Context) error {
	tx, err := w.db.BeginTx(ctx, w.options)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // of a transaction that failed
	for range 1 + rand.IntN(3) {
		if err := w.statement(ctx, tx); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func (w *writer) statement(ctx context.Context, tx *sql.Tx) error {
	keys := slices.Sorted(maps.Keys(w.customers))
	if len(keys) < 5 {
		return w.insertCustomers(ctx, tx)
	}
	one := keys[rand.IntN(len(keys))]
	switch rand.IntN(9) {
	case 0:
		return w.insertCustomers(ctx, tx)
	case 1, 2, 3:
		return w.insertOrders(ctx, tx, one)
	case 4: // a reference changes
		for id, o := range w.orders {
			w.orders[id] = [2]int64{one, w.total(o[1])}
			_, err := tx.ExecContext(ctx, "UPDATE public.orders SET customer_id = $1 WHERE id = $2", one, id)
			return err
		}
	case 5: // a key changes
		if !w.cascades {
			return nil
		}
		other := 1_000_000 + one%1_000_000 + rand.Int64N(1000)*2_000_000
		if _, taken := w.customers[other]; taken || w.snow != nil {
			return nil
		}
		w.customers[other] = w.customers[one]
		delete(w.customers, one)
		for id, referrer := range w.customers {
			if referrer == one {
				w.customers[id] = other
			}
		}
		for id, o := range w.orders {
			if o[0] == one {
				w.orders[id] = [2]int64{other, w.total(o[1])}
			}
		}
		_, err := tx.ExecContext(ctx, "UPDATE public.customers SET id = $1 WHERE id = $2", other, one)
		return err
	case 6: // a row goes, and others with it
		if !w.cascades {
			return nil
		}
		delete(w.customers, one)
		for id, referrer := range w.customers {
			if referrer == one {
				w.customers[id] = 0
			}
		}
		maps.DeleteFunc(w.orders, func(_ int64, o [2]int64) bool { return o[0] == one })
		_, err := tx.ExecContext(ctx, "DELETE FROM public.customers WHERE id = $1", one)
		return err
	case 7:
		other := keys[rand.IntN(len(keys))]
		w.customers[one] = other
		_, err := tx.ExecContext(ctx, "UPDATE public.customers SET referrer = $1, name = 'new' WHERE id = $2", other, one)
		return err
	case 8:
		var sum sql.NullInt64
		return tx.QueryRowContext(ctx, "SELECT sum(total) FROM public.totals WHERE customer_id = $1", one).Scan(&sum)
	}
	return nil
}

// total is what the trigger of orders makes of an update.
func (w *writer) total(t int64) int64 {
	if t < 1000 && w.cascades {
		return t + 1000
	}
	return t
}

func (w *writer) insertCustomers(ctx context.Context, tx *sql.Tx) error {
	query := "INSERT INTO public.customers (owner, name) VALUES ($1, 'a'), ($1, 'b') ON CONFLICT (id) DO NOTHING RETURNING id"
	args := []any{w.number}
	if w.snow != nil {
		query = "INSERT INTO public.customers (owner, id) VALUES ($1, $2), ($1, $3) ON CONFLICT (id) DO UPDATE SET name = 'twice' RETURNING id"
		args = append(args, w.snow(), w.snow())
	}
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return err
		}
		w.customers[id] = 0
	}
	return rows.Err()
}

func (w *writer) insertOrders(ctx context.Context, tx *sql.Tx, customer int64) error {
	columns, values, args := "owner, total, customer_id", "$1, 1, $2), ($1, 2, $2", []any{w.number, customer}
	if w.snow != nil {
		columns, values, args = "owner, total, customer_id, id", "$1, 1, $2, $3), ($1, 2, $2, $4", append(args, w.snow(), w.snow())
	}
	rows, err := tx.QueryContext(ctx, "INSERT INTO public.orders ("+columns+") VALUES ("+values+") RETURNING id, total", args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id, total int64
		if err := rows.Scan(&id, &total); err != nil {
			return err
		}
		w.orders[id] = [2]int64{customer, total}
	}
	return rows.Err()
}

// compare fails if a writer's rows are not what it wrote.
func (w *writer) compare(t *world) {
	t.Helper()
	var customers, orders []string
	for id, referrer := range w.customers {
		customers = append(customers, fmt.Sprint(id, " ", referrer))
	}
	for id, o := range w.orders {
		orders = append(orders, fmt.Sprint(id, " ", o[0], " ", o[1]))
	}
	slices.Sort(customers)
	slices.Sort(orders)
	for what, list := range map[string][]string{
		"SELECT string_agg(x, ',' ORDER BY x COLLATE \"C\") FROM (SELECT id || ' ' || COALESCE(referrer, 0) AS x FROM customers WHERE owner = %d) q":  customers,
		"SELECT string_agg(x, ',' ORDER BY x COLLATE \"C\") FROM (SELECT concat_ws(' ', id, customer_id, total) AS x FROM orders WHERE owner = %d) q": orders,
	} {
		if got, want := t.text(fmt.Sprintf(what, w.number)), strings.Join(list, ","); got != want {
			t.Errorf("writer %d:\n%s\nhas rows: %s\nwrote:    %s", w.number, what, got, want)
		}
	}
}

// TestWriters converts a database while programs write: forth, back, and forth to the end.
func TestWriters(t *testing.T) {
	w := newWorld(t, dbtest.Postgres(t, "fsync=off", "max_connections=60"), writtenTables(), written...)
	var ids struct {
		sync.Mutex
		last int64
	}
	ids.last = 1 << 50
	snow := func() int64 {
		ids.Lock()
		defer ids.Unlock()
		ids.last++
		return ids.last
	}
	old := []*writer{
		newWriter(w, 1, "", sql.LevelReadCommitted), newWriter(w, 2, "", sql.LevelReadCommitted), newWriter(w, 3, "", sql.LevelRepeatableRead), newWriter(w, 4, "", sql.LevelSerializable),
		newWriter(w, 5, "-csession_replication_role%3Dreplica", sql.LevelReadCommitted), newWriter(w, 6, "-csearch_path%3Delsewhere,pg_catalog", sql.LevelReadCommitted),
	}
	all := old
	// during runs writers beside something, which begins when each has done some transactions, and compares.
	during := func(title string, transactions int, do func() error, writers ...*writer) {
		t.Helper()
		ctx, stop := context.WithCancel(context.Background())
		var group sync.WaitGroup
		for _, x := range writers {
			before := x.done
			started := make(chan struct{})
			group.Go(func() {
				for begun := false; ctx.Err() == nil; {
					x.once(context.Background())
					if x.done >= before+transactions && !begun {
						close(started)
						begun = true
					}
				}
			})
			<-started
		}
		var err error
		if do != nil {
			err = do()
		}
		stop()
		group.Wait()
		for _, x := range writers {
			t.Logf("%s: writer %d: %d transactions, the longest %v, errors %v", title, x.number, x.done, x.longest.Round(time.Millisecond), x.errors)
			x.longest = 0
			for code := range x.errors {
				// A prepared statement learns that its columns have another type, and is prepared anew. Transactions
				// with snapshots must be tried again by programs in any case.
				if code != "0A000" && (code != "40001" || x.options.Isolation == sql.LevelReadCommitted) {
					t.Errorf("%s: writer %d got error %s", title, x.number, code)
				}
			}
			clear(x.errors)
		}
		w.must(err)
		for _, x := range all {
			x.compare(w)
		}
		if astray := w.text("SELECT count(*) FROM orders o WHERE NOT EXISTS (SELECT FROM customers c WHERE c.id = o.customer_id)"); astray != "0" {
			t.Errorf("%s: %s orders have no customer", title, astray)
		}
		if changed := w.text("SELECT count(*) FROM orders WHERE owner = -1 AND total <> 5"); changed != "0" {
			t.Errorf("%s: a trigger fired for %s rows of the copy", title, changed)
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	during("widen", 3, func() error { return w.forth(w.db, job.Widen) }, old...)
	during("back", 3, func() error { return w.back(w.db) }, old...)
	during("again", 3, func() error { return w.forth(w.db, job.Count) }, old...)
	young := []*writer{newWriter(w, 7, "", sql.LevelReadCommitted), newWriter(w, 8, "", sql.LevelSerializable)}
	for _, y := range young {
		y.snow = snow
	}
	all = slices.Concat(old, young)
	during("both", 100, nil, all...)
	if highest := w.text("SELECT last_value FROM customers_id_seq"); parse(highest) > narrowEnd {
		t.Errorf("the sequence was lifted to %s", highest)
	}
	if _, err := w.db.Exec("SELECT setval('customers_id_seq', (SELECT max(id) FROM customers))"); sqldialect.Code(err) != "22003" {
		t.Errorf("setval(max(id)): got %v, want it to fail", err)
	}
	during("finish", 3, func() error { return w.forth(w.db, job.Finish) }, young...)
}
