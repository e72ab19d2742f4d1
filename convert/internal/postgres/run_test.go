//go:build unix

package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver

	"github.com/shardsnow/snow/convert/internal/job"
	"github.com/shardsnow/snow/convert/plan"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
)

// A world is a database, and a plan for it.
type world struct {
	*testing.T
	server *dbtest.Server
	dsn    string
	db     *sql.DB
	plan   *plan.Plan
}

// newWorld makes a database with these statements.
func newWorld(t *testing.T, server *dbtest.Server, tables []*plan.Table, schema ...string) *world {
	t.Helper()
	w := &world{T: t, server: server, dsn: server.DSN(server.CreateDatabase(t)), plan: &plan.Plan{Version: 1, Dialect: "PostgreSQL", Tables: tables}}
	w.db = w.open(w.dsn)
	w.exec(schema...)
	w.exec("CREATE TABLE IF NOT EXISTS snow_test_positions (step text PRIMARY KEY, position text NOT NULL)", "CREATE TABLE snow_test_done (step text PRIMARY KEY)")
	return w
}

func (w *world) open(dsn string) *sql.DB {
	w.Helper()
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { db.Close() })
	return db
}

func (w *world) exec(statements ...string) {
	w.Helper()
	for _, s := range statements {
		if _, err := w.db.Exec(s); err != nil {
			w.Fatalf("%s: %v", s, err)
		}
	}
}

// text returns the first value of a query.
func (w *world) text(statement string) string {
	w.Helper()
	text, err := one(context.Background(), w.db, statement)
	if err != nil {
		w.Fatalf("%s: %v", statement, err)
	}
	return text
}

func (w *world) steps() []job.Step {
	w.Helper()
	steps, err := Steps(w.plan)
	if err != nil {
		w.Fatal(err)
	}
	return steps
}

// newRun is a run on a pool, whose state is in the database.
func newRun(ctx context.Context, db *sql.DB, s job.Step) (*job.Run, error) {
	position, err := one(ctx, db, "SELECT position FROM snow_test_positions WHERE step = "+literal(s.Name))
	return &job.Run{
		DB: db, Position: position,
		Store: func(ctx context.Context, tx *sql.Tx, position string) error {
			return execute(ctx, tx, fmt.Sprintf("INSERT INTO snow_test_positions VALUES (%s, %s) ON CONFLICT (step) DO UPDATE SET position = excluded.position", literal(s.Name), literal(position)))
		},
		Check: func(context.Context) error { return nil },
		Wait:  func(context.Context, int64, int64) error { return nil },
	}, err
}

// forth does the steps that are not done, up to the end of a phase.
func (w *world) forth(db *sql.DB, last job.Phase) error {
	ctx := context.Background()
	for _, s := range w.steps() {
		if s.Phase > last {
			return nil
		}
		done, err := one(ctx, db, "SELECT 1 FROM snow_test_done WHERE step = "+literal(s.Name))
		if err != nil {
			return err
		}
		if done != "" {
			continue
		}
		r, err := newRun(ctx, db, s)
		if err != nil {
			return err
		}
		if err := s.Do(ctx, r); err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		if err := s.Verify(ctx, r); err != nil {
			return fmt.Errorf("%s: verify: %w", s.Name, err)
		}
		if err := execute(ctx, db, "INSERT INTO snow_test_done VALUES ("+literal(s.Name)+") ON CONFLICT DO NOTHING"); err != nil {
			return err
		}
	}
	return nil
}

// back takes the steps back, the last first.
func (w *world) back(db *sql.DB) error {
	ctx := context.Background()
	steps := w.steps()
	slices.Reverse(steps)
	for _, s := range steps {
		r, err := newRun(ctx, db, s)
		if err != nil {
			return err
		}
		if s.Undo != nil {
			if err := s.Undo(ctx, r); err != nil {
				return fmt.Errorf("%s: undo: %w", s.Name, err)
			}
		}
		if err := execute(ctx, db, "DELETE FROM snow_test_done WHERE step = "+literal(s.Name), "DELETE FROM snow_test_positions WHERE step = "+literal(s.Name)); err != nil {
			return err
		}
	}
	return nil
}

// must fails the test on an error.
func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// describe returns the definitions of all that the schema has, one a line.
func (w *world) describe() []string {
	w.Helper()
	ctx := context.Background()
	tx, err := w.db.BeginTx(ctx, nil)
	w.must(err)
	defer tx.Rollback() //nolint:errcheck // it only reads
	w.must(execute(ctx, tx, "SET LOCAL search_path = ''"))
	all, err := query[struct{ Line string }](ctx, tx, `
		WITH c AS (SELECT c.*, format('%I.%I', n.nspname, c.relname) AS full FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
			WHERE n.nspname !~ '^(pg_|information_schema)' AND c.relname !~ '^_snow_|^snow_test')
		SELECT concat_ws(' ', 'column', c.full, a.attname, format_type(a.atttypid, a.atttypmod), CASE WHEN a.attnotnull THEN 'not null' END, 'identity' || NULLIF(a.attidentity::text, ''),
			'generated' || NULLIF(a.attgenerated::text, ''), 'default ' || pg_get_expr(d.adbin, d.adrelid), a.attacl::text, col_description(c.oid, a.attnum), NULLIF(NULLIF(a.attstattarget, -1), NULL)::text,
			(SELECT string_agg(o, ',') FROM unnest(a.attoptions) o WHERE o NOT LIKE 'pg\_%')) AS "Line"
		FROM c JOIN pg_attribute a ON a.attrelid = c.oid LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
		WHERE c.relkind IN ('r', 'p', 'v', 'm') AND a.attnum > 0 AND NOT a.attisdropped AND a.attname NOT LIKE '\_snow\_%'
		UNION ALL SELECT concat_ws(' ', 'relation', c.full, c.relkind, c.reloptions::text, c.relacl::text, pg_get_userbyid(c.relowner), obj_description(c.oid, 'pg_class'), 'identity', c.relreplident,
			CASE WHEN c.relkind IN ('v', 'm') THEN pg_get_viewdef(c.oid) END) FROM c
		UNION ALL SELECT concat_ws(' ', 'index', pg_get_indexdef(x.indexrelid), x.indisvalid, x.indisprimary, x.indisclustered, x.indisreplident, x.indimmediate)
		FROM pg_index x JOIN c ON c.oid = x.indexrelid
		UNION ALL SELECT concat_ws(' ', 'constraint', c.full, k.conname, pg_get_constraintdef(k.oid), k.convalidated, obj_description(k.oid, 'pg_constraint')) FROM pg_constraint k JOIN c ON c.oid = k.conrelid
		UNION ALL SELECT concat_ws(' ', 'trigger', pg_get_triggerdef(g.oid), g.tgenabled, obj_description(g.oid, 'pg_trigger')) FROM pg_trigger g JOIN c ON c.oid = g.tgrelid
		WHERE NOT g.tgisinternal AND g.tgname !~ '^~snow'
		UNION ALL SELECT concat_ws(' ', 'rule', pg_get_ruledef(w.oid), w.ev_enabled) FROM pg_rewrite w JOIN c ON c.oid = w.ev_class WHERE w.rulename <> '_RETURN'
		UNION ALL SELECT concat_ws(' ', 'policy', p.*::text, obj_description(q.oid, 'pg_policy')) FROM pg_policies p JOIN pg_policy q ON q.polname = p.policyname
		UNION ALL SELECT concat_ws(' ', 'statistics', pg_get_statisticsobjdef(oid), NULLIF(NULLIF(stxstattarget, -1), NULL)::text, obj_description(oid, 'pg_statistic_ext')) FROM pg_statistic_ext
		UNION ALL SELECT concat_ws(' ', 'publication', p.pubname, p.tablename, ARRAY(SELECT unnest(p.attnames) ORDER BY 1)::text, p.rowfilter) FROM pg_publication_tables p
		UNION ALL SELECT concat_ws(' ', 'sequence', s.seqrelid::regclass, format_type(s.seqtypid, NULL), s.seqstart, s.seqincrement, s.seqmax, s.seqmin, s.seqcache, s.seqcycle,
			(SELECT string_agg(concat_ws('.', d.refobjid::regclass, a.attname), ',') FROM pg_depend d JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
				WHERE d.classid = 'pg_class'::regclass AND d.objid = s.seqrelid AND d.deptype IN ('a', 'i'))) FROM pg_sequence s
		UNION ALL SELECT concat_ws(' ', 'function', proname) FROM pg_proc JOIN pg_namespace n ON n.oid = pronamespace WHERE n.nspname !~ '^(pg_|information_schema)' AND proname LIKE '\_snow%'
		ORDER BY 1`)
	w.must(err)
	var lines []string
	for _, l := range all {
		lines = append(lines, l.Line)
	}
	return lines
}

// differences are the lines that only one of the lists has.
func differences(before, after []string) string {
	var b strings.Builder
	for _, l := range before {
		if !slices.Contains(after, l) {
			b.WriteString("- " + l + "\n")
		}
	}
	for _, l := range after {
		if !slices.Contains(before, l) {
			b.WriteString("+ " + l + "\n")
		}
	}
	return b.String()
}

var errLost = errors.New("the connection was lost")
