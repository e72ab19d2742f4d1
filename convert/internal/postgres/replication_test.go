//go:build unix

package postgres

import (
	"strings"
	"testing"

	"github.com/shardsnow/snow/convert/internal/job"
	"github.com/shardsnow/snow/convert/plan"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
)

// TestSubscription converts a subscriber, and then its publisher, while rows go from one to the other. A publication
// with a list of columns never has second columns.
func TestSubscription(t *testing.T) {
	server := dbtest.Postgres(t, "fsync=off", "wal_level=logical", "synchronous_commit=local")
	tables := func() []*plan.Table {
		return []*plan.Table{{
			Name: "t", Key: "id", Counter: "serial", Sequence: "t_id_seq", Method: plan.Online, Group: 1,
			Columns: []*plan.Column{{Name: "id", Type: "integer", To: "bigint"}, {Name: "ref", Type: "integer", To: "bigint"}},
		}}
	}
	const schema = "CREATE TABLE t (id serial PRIMARY KEY, ref int REFERENCES t, x text)"
	publisher := newWorld(t, server, tables(), schema, "CREATE PUBLICATION p FOR TABLE t (id, ref, x)", "SELECT pg_create_logical_replication_slot('slot', 'pgoutput')")
	subscriber := newWorld(t, server, tables(), schema)
	subscriber.exec("CREATE SUBSCRIPTION sub CONNECTION " + literal(publisher.dsn) + " PUBLICATION p WITH (create_slot = false, slot_name = 'slot', copy_data = false)")
	t.Cleanup(func() {
		for _, s := range []string{"ALTER SUBSCRIPTION sub DISABLE", "ALTER SUBSCRIPTION sub SET (slot_name = NONE)", "DROP SUBSCRIPTION sub"} {
			if _, err := subscriber.db.Exec(s); err != nil {
				t.Error(err)
			}
		}
	})
	publisher.exec("ALTER SYSTEM SET synchronous_standby_names = 'sub'", "SELECT pg_reload_conf()")
	writing := publisher.open(publisher.dsn)
	writing.SetMaxOpenConns(1)
	write := func(statements ...string) {
		t.Helper()
		// These commits wait until the subscriber has applied them.
		for _, s := range append([]string{"SET synchronous_commit = remote_apply"}, statements...) {
			if _, err := writing.Exec(s); err != nil {
				t.Fatalf("%s: %v", s, err)
			}
		}
		const rows = "SELECT string_agg(concat_ws(' ', id, COALESCE(ref, 0), x), ',' ORDER BY id) FROM t"
		if got, want := subscriber.text(rows), publisher.text(rows); got != want {
			t.Fatalf("after %q the subscriber has %q, the publisher %q", strings.Join(statements, "; "), got, want)
		}
	}
	// The name must be known before the first commit that waits for it.
	for publisher.text("SELECT current_setting('synchronous_standby_names')") != "sub" {
	}
	write("INSERT INTO t (ref, x) SELECT NULL, 'old' FROM generate_series(1, 50)")
	each := func(w *world, title string, last job.Phase) {
		t.Helper()
		for _, s := range w.steps() {
			if s.Phase > last {
				return
			}
			r, err := newRun(t.Context(), w.db, s)
			w.must(err)
			w.must(s.Do(t.Context(), r))
			w.must(s.Verify(t.Context(), r))
			write("INSERT INTO t (ref, x) VALUES (1, "+literal(title+s.Name)+"), (NULL, 'b')", "UPDATE t SET ref = id WHERE id % 7 = 1", "DELETE FROM t WHERE id = (SELECT max(id) FROM t)",
				"UPDATE t SET id = 1000000 + id WHERE id = (SELECT max(id) FROM t WHERE id < 1000000 AND ref IS NULL)")
		}
	}
	each(subscriber, "subscriber ", job.Count)
	each(publisher, "publisher ", job.Count)
	write("INSERT INTO t (id, ref, x) VALUES (1125899906842624, 1125899906842624, 'snow')")
	if _, err := writing.Exec("RESET synchronous_commit"); err != nil {
		t.Fatal(err)
	}
}
