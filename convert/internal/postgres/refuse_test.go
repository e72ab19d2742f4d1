//go:build unix

package postgres

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/shardsnow/snow/convert/internal/job"
	"github.com/shardsnow/snow/convert/plan"
	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
)

// TestUnfit finds what a method cannot do, before anything is written.
func TestUnfit(t *testing.T) {
	server := dbtest.Postgres(t, "fsync=off", "wal_level=logical")
	const base = "CREATE TABLE t (id int PRIMARY KEY, ref int, x text)"
	both := []plan.Method{plan.Online, plan.Alter}
	online := []plan.Method{plan.Online}
	for name, test := range map[string]struct {
		schema  []string
		want    string
		methods []plan.Method // the ones that can't
	}{
		"an ordinary table":   {[]string{base}, "", nil},
		"an array":            {[]string{"CREATE TABLE t (id int[] PRIMARY KEY, ref int)"}, "its type is integer[]", both},
		"a domain":            {[]string{"CREATE DOMAIN d AS int", "CREATE TABLE t (id d PRIMARY KEY, ref int)"}, "the domain d", online},
		"a key of partitions": {[]string{"CREATE TABLE t (id int PRIMARY KEY, ref int) PARTITION BY HASH (id)"}, "rows are divided", both},
		"partitions":          {[]string{"CREATE TABLE t (id int, ref int, x int) PARTITION BY HASH (x)", "CREATE TABLE t0 PARTITION OF t FOR VALUES WITH (MODULUS 1, REMAINDER 0)"}, "it has partitions", online},
		"an heir":             {[]string{"CREATE TABLE p (id int, ref int)", "CREATE TABLE t () INHERITS (p)"}, "inherits from another", both},
		"an elder":            {[]string{base, "CREATE TABLE p () INHERITS (t)"}, "other tables inherit", online},
		"a computed column":   {[]string{base, "ALTER TABLE t ADD twice int GENERATED ALWAYS AS (id * 2) STORED"}, "computed from a column", online},
		"an exclusion":        {[]string{base, "ALTER TABLE t ADD EXCLUDE USING hash (ref WITH =)"}, "excludes", online},
		"a deferrable key":    {[]string{base, "ALTER TABLE t ADD UNIQUE (ref) DEFERRABLE"}, "is deferrable", online},
		"another deferrable":  {[]string{base, "ALTER TABLE t ADD UNIQUE (x) DEFERRABLE"}, "", nil},
		"a materialized view": {[]string{base, "CREATE MATERIALIZED VIEW m AS SELECT id FROM t"}, "materialized view m", online},
		"a routine":           {[]string{base, "CREATE FUNCTION f() RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT max(id) FROM t; END"}, "function f()", both},
		"a rule":              {[]string{base, "CREATE RULE r AS ON UPDATE TO t DO INSTEAD NOTHING"}, "changes an UPDATE", online},
		"a publication":       {[]string{base, "CREATE PUBLICATION p FOR TABLE t"}, "with the list id, ref", online},
		"one of all":          {[]string{base, "CREATE PUBLICATION p FOR ALL TABLES"}, "publication p", online},
		"one with a list":     {[]string{base, "CREATE PUBLICATION p FOR TABLE t (id, x)"}, "", nil},
		"a set default":       {[]string{base, "ALTER TABLE t ADD FOREIGN KEY (ref) REFERENCES t ON DELETE SET DEFAULT"}, "sets defaults", online},
		"a trigger of all": {[]string{
			base, "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
			"CREATE TRIGGER g BEFORE UPDATE ON t FOR EACH ROW EXECUTE FUNCTION f()", "ALTER TABLE t ENABLE ALWAYS TRIGGER g",
		}, "trigger g fires in all sessions", online},
	} {
		t.Run(name, func(t *testing.T) {
			kind := "integer"
			if name == "a domain" {
				kind = "d"
			}
			table := &plan.Table{Name: "t", Columns: []*plan.Column{{Name: "id", Type: kind, To: "bigint"}, {Name: "ref", Type: "integer", To: "bigint"}}, Group: 1}
			w := newWorld(t, server, []*plan.Table{table}, test.schema...)
			before := w.describe()
			for _, table.Method = range both {
				err := w.forth(w.db, job.Widen)
				if !slices.Contains(test.methods, table.Method) {
					w.must(err)
					w.must(w.back(w.db))
				} else {
					var unfit *Unfit
					if !errors.As(err, &unfit) || !strings.Contains(err.Error(), test.want) {
						t.Errorf("%s: got %v, want %q", table.Method, err, test.want)
					}
				}
				sameButGenerated := func(line string) bool { return strings.Contains(line, " twice ") }
				if diff := differences(slices.DeleteFunc(slices.Clone(before), sameButGenerated), slices.DeleteFunc(w.describe(), sameButGenerated)); diff != "" {
					t.Errorf("%s: definitions changed:\n%s", table.Method, diff)
				}
			}
		})
	}
}

// TestRefusals are what the database refuses while it is converted, and what the steps refuse.
func TestRefusals(t *testing.T) {
	w := newWorld(t, dbtest.Postgres(t, "fsync=off"), writtenTables(), written...)
	refused := func(statement, code string) {
		t.Helper()
		if _, err := w.db.Exec(statement); sqldialect.Code(err) != code {
			t.Errorf("%s: got %v, want code %s", statement, err, code)
		}
	}
	w.must(w.forth(w.db, job.Widen))
	// The old columns come first: the values would go to wrong columns.
	refused("INSERT INTO customers VALUES (9999, 1, 'x')", "23001")
	refused("INSERT INTO orders VALUES (DEFAULT, 1, 5, 7)", "23001")
	w.exec("INSERT INTO customers (id, owner) VALUES (9999, 1)")
	if same := w.text("SELECT _snow_old_id = id FROM customers WHERE id = 9999"); same != "true" {
		t.Errorf("the old column is equal: %s", same)
	}
	w.must(w.forth(w.db, job.Count))
	w.exec("INSERT INTO customers (id, owner) VALUES (1125899906842624, 1)")
	if old := w.text("SELECT _snow_old_id FROM customers WHERE id = 1125899906842624"); old != "" {
		t.Errorf("the old column has %q", old)
	}
	// Rails and Django call this after they loaded rows.
	refused("SELECT setval('customers_id_seq', (SELECT max(id) FROM customers))", "22003")
	w.exec("ALTER SEQUENCE customers_id_seq NO MAXVALUE", "SELECT setval('customers_id_seq', (SELECT max(id) FROM customers))")
	var fault *Fault
	for _, s := range w.steps() {
		if s.Name == "count customers" {
			r, err := newRun(context.Background(), w.db, s)
			w.must(err)
			if err := s.Verify(context.Background(), r); !errors.As(err, &fault) || !strings.Contains(err.Error(), "setval") {
				t.Errorf("verify after setval: got %v", err)
			}
			if err := s.Do(context.Background(), r); !errors.As(err, &fault) {
				t.Errorf("count after setval: got %v", err)
			}
		}
	}
	// A snow id does not fit: nothing is changed.
	before := w.describe()
	var wide *TooWideError
	for _, s := range w.steps() {
		if s.Name == "widen group 1: swap" {
			r, err := newRun(context.Background(), w.db, s)
			w.must(err)
			if err := s.Undo(context.Background(), r); !errors.As(err, &wide) || wide.Table != "customers" || wide.Rows != "1" {
				t.Errorf("back with a snow id: got %v", err)
			}
		}
	}
	if diff := differences(before, w.describe()); diff != "" {
		t.Errorf("the way back that is none changed:\n%s", diff)
	}
}

// TestAlterBack alters a table back, as long as values fit.
func TestAlterBack(t *testing.T) {
	tables := writtenTables()
	for _, table := range tables {
		table.Method = plan.Alter
	}
	w := newWorld(t, dbtest.Postgres(t, "fsync=off"), tables, written...)
	before := w.describe()
	w.must(w.forth(w.db, job.Widen))
	w.must(w.back(w.db))
	if diff := differences(before, w.describe()); diff != "" {
		t.Errorf("after the way back:\n%s", diff)
	}
	w.must(w.forth(w.db, job.Count))
	w.exec("INSERT INTO customers (id, owner) VALUES (1125899906842624, 1)")
	before = w.describe()
	s := w.steps()[1]
	r, err := newRun(context.Background(), w.db, s)
	w.must(err)
	var wide *TooWideError
	if err := s.Undo(context.Background(), r); !errors.As(err, &wide) || wide.Table != "customers" {
		t.Errorf("%s: back with a snow id: got %v", s.Name, err)
	}
	if diff := differences(before, w.describe()); diff != "" {
		t.Errorf("the way back that is none changed:\n%s", diff)
	}
}

// TestDisabledTrigger fills rows anew that a session wrote while the trigger was disabled.
func TestDisabledTrigger(t *testing.T) {
	w := newWorld(t, dbtest.Postgres(t, "fsync=off"), writtenTables(), written...)
	for _, s := range w.steps() {
		r, err := newRun(context.Background(), w.db, s)
		w.must(err)
		if s.Name == "widen customers: compare" {
			w.exec("ALTER TABLE customers DISABLE TRIGGER ALL", "INSERT INTO customers (id, owner) VALUES (77777, 5)", "UPDATE customers SET id = 88888 WHERE id = 3000",
				"UPDATE customers SET referrer = 5 WHERE id < 10", "ALTER TABLE customers ENABLE TRIGGER ALL", `ALTER TABLE customers ENABLE ALWAYS TRIGGER "~snow_convert"`, "UPDATE orders SET customer_id = 88888 WHERE customer_id = 3000")
		}
		w.must(s.Do(context.Background(), r))
		if s.Name == "widen group 1: swap" {
			break
		}
	}
	if got := w.text("SELECT string_agg(id || ' ' || COALESCE(referrer, 0), ',' ORDER BY id) FROM customers WHERE id > 70000 OR id < 3"); got != "1 5,2 5,77777 0,88888 0" {
		t.Errorf("rows: %s", got)
	}
}

// TestLongTransaction lets a step wait for a transaction that reads. Nobody queues behind the step.
func TestLongTransaction(t *testing.T) {
	w := newWorld(t, dbtest.Postgres(t, "fsync=off"), writtenTables(), written...)
	ctx := context.Background()
	tx, err := w.db.BeginTx(ctx, nil)
	w.must(err)
	w.must(execute(ctx, tx, "SELECT 1 FROM customers"))
	s := w.steps()[1]
	r, err := newRun(ctx, w.db, s)
	w.must(err)
	checks := make(chan struct{}, 1000)
	r.Check = func(context.Context) error { checks <- struct{}{}; return nil }
	done := make(chan error, 1)
	go func() { done <- s.Do(ctx, r) }()
	// Each check is an attempt: the step has waited, and given up.
	for range 3 {
		<-checks
		w.exec("INSERT INTO customers (owner) VALUES (1)")
	}
	select {
	case err := <-done:
		t.Fatalf("the step did not wait for a reader: %v", err)
	default:
	}
	w.must(tx.Commit())
	w.must(<-done)
	w.must(s.Verify(ctx, r))
}

// TestJudge changes the methods of a plan to ones that the tables allow.
func TestJudge(t *testing.T) {
	column := func() []*plan.Column { return []*plan.Column{{Name: "id", Type: "integer", To: "bigint"}} }
	tables := []*plan.Table{
		{Name: "a", Columns: column(), Method: plan.Online},
		{Name: "b", Columns: column(), Method: plan.Online},
		{Name: "c", Columns: column(), Method: plan.Alter, Why: "it is small"},
		{Name: "d", Columns: column(), Method: plan.Online, Why: "somebody wants it"},
	}
	w := newWorld(t, dbtest.Postgres(t, "fsync=off"), tables, "CREATE TABLE a (id int PRIMARY KEY)", "CREATE TABLE b (id int UNIQUE DEFERRABLE)",
		"CREATE TABLE c (id int[] PRIMARY KEY)", "CREATE TABLE d (id int) PARTITION BY HASH (id)")
	w.must(Judge(context.Background(), w.db, w.plan))
	var got []string
	for _, t := range tables {
		got = append(got, string(t.Method)+": "+t.Why)
	}
	got = append(got, w.plan.Notes...)
	want := []string{
		"online: ", "alter: constraint b_id_key is deferrable: a copy of it would not be", "alter: it is small",
		"alter: somebody wants it; column id: rows are divided between partitions by it: PostgreSQL changes no such column; make a table with other partitions; it has partitions",
		"by hand: table c: column id: its type is integer[]: only smallint and integer become bigint; change arrays by hand",
		"by hand: table d: column id: rows are divided between partitions by it: PostgreSQL changes no such column; make a table with other partitions",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
