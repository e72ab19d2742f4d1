package mergetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// forecast looks for a reference to no row of the other database, and for what would stop a run.
func (r *realms) forecast() {
	dry := func() *report.Forecast {
		r.Helper()
		f, err := r.merge(r.target.db).DryRun(r.Context())
		if err != nil {
			r.Fatal(err)
		}
		return f
	}
	eu := r.all["eu"]
	was := r.number(eu, "SELECT account FROM {characters}.hero WHERE guid = 7")
	r.exec(eu, "UPDATE {characters}.hero SET account = 99999 WHERE guid = 7")
	if f := dry(); len(f.Orphans) != 1 || f.Orphans[0].Table != "characters.hero" || f.Orphans[0].Rows != 1 || !errors.As(f.Err(), new(*report.OrphanError)) {
		r.Errorf("an orphan: got %+v and %v", f.Orphans, f.Err())
	}
	r.exec(eu, fmt.Sprintf("UPDATE {characters}.hero SET account = %d WHERE guid = 7", was))
	r.exec(r.target, "ALTER TABLE {auth}.kinds RENAME TO "+map[sqlsnow.Dialect]string{sqlsnow.MySQL: "{auth}.gone", sqlsnow.Postgres: "gone"}[r.Dialect])
	if f := dry(); !strings.Contains(fmt.Sprint(f.Stops), "auth.kinds") {
		r.Errorf("a missing table: got %q", f.Stops)
	}
	r.exec(r.target, "ALTER TABLE {auth}.gone RENAME TO "+map[sqlsnow.Dialect]string{sqlsnow.MySQL: "{auth}.kinds", sqlsnow.Postgres: "kinds"}[r.Dialect])
	if r.Dialect == sqlsnow.MySQL {
		r.exec(r.target, "ALTER TABLE {auth}.kinds ENGINE = MyISAM")
		if f := dry(); !strings.Contains(fmt.Sprint(f.Stops), "auth.kinds\": in the target it has the engine MyISAM") {
			r.Errorf("an engine without transactions: got %q", f.Stops)
		}
		r.exec(r.target, "ALTER TABLE {auth}.kinds ENGINE = InnoDB")
	}
	r.exec(r.target, map[sqlsnow.Dialect]string{
		sqlsnow.MySQL:    "CREATE TRIGGER {characters}.changes BEFORE INSERT ON {characters}.hero FOR EACH ROW SET NEW.gold = 5",
		sqlsnow.Postgres: "CREATE FUNCTION changes() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'; CREATE TRIGGER changes BEFORE INSERT ON {characters}.hero FOR EACH ROW EXECUTE FUNCTION changes()",
	}[r.Dialect])
	if f := dry(); !slices.ContainsFunc(f.Open, func(o report.Open) bool { return o.Table == "characters.hero" && strings.Contains(o.Reason, "changes") }) {
		r.Errorf("a trigger: got %+v", f.Open)
	}
	r.exec(r.target, map[sqlsnow.Dialect]string{sqlsnow.MySQL: "DROP TRIGGER {characters}.changes", sqlsnow.Postgres: "DROP TRIGGER changes ON {characters}.hero"}[r.Dialect])
	if f := dry(); f.Err() != nil {
		r.Errorf("dry run: %v", f.Err())
	}
}

// refusals are what can't be merged: each is an error before anything is written.
func (r *realms) refusals() {
	shared := r.sources()
	if r.Dialect == sqlsnow.MySQL { // the realms have one database of accounts
		shared[1].Databases = map[string]string{"auth": shared[0].Databases["auth"], "characters": shared[1].Databases["characters"]}
	} else {
		shared[1].DB = shared[0].DB
	}
	if shared[0].DB != shared[1].DB && r.apart(shared) {
		shared[1].DB = shared[0].DB
	}
	if _, err := merge.Inspect(r.Context(), r.Dialect, shared...); !errors.Is(err, report.ErrSameDatabase) || !strings.Contains(fmt.Sprint(err), "have one in common") {
		r.Errorf("a shared database: inspect returned %v", err)
	}
	m, err := merge.New(r.Dialect, r.target.db, shared, r.plan, r.cfg)
	if err != nil {
		r.Fatal(err)
	}
	if _, err := m.Run(r.Context()); !errors.Is(err, report.ErrSameDatabase) {
		r.Errorf("a shared database: run returned %v", err)
	}
	fault := func(what string, sources []merge.Source, cfg merge.Config, part string) {
		r.Helper()
		m, err := merge.New(r.Dialect, r.target.db, sources, r.plan, cfg)
		if err == nil {
			_, err = m.Run(r.Context())
		}
		var bad *plan.Error
		var field *snow.FieldError
		if !errors.As(err, &bad) && !errors.As(err, &field) || !strings.Contains(fmt.Sprint(err), part) {
			r.Errorf("%s: got %v, want %q", what, err, part)
		}
	}
	one := r.sources()
	one[1].Databases = nil
	fault("a source of one database", one, r.cfg, "those of the plan are auth, characters")
	elsewhere := r.sources()
	elsewhere[1].Databases = map[string]string{"auth": "nowhere", "characters": r.all["us"].names["characters"]}
	if r.Dialect == sqlsnow.Postgres {
		fault("a schema of another name", elsewhere, r.cfg, "called alike")
		r.exec(r.all["us"], "ALTER SCHEMA auth RENAME TO hidden")
		elsewhere = r.sources()
		defer r.exec(r.all["us"], "ALTER SCHEMA hidden RENAME TO auth")
	}
	fault("a database on another server", elsewhere, r.cfg, "on one server")
	if r.Dialect == sqlsnow.MySQL {
		ledger := r.sources() // a source has the database that the ledger is in
		var own string
		if err := r.target.db.QueryRowContext(r.Context(), "SELECT DATABASE()").Scan(&own); err != nil {
			r.Fatal(err)
		}
		ledger[1].Databases = map[string]string{"auth": own, "characters": r.all["us"].names["characters"]}
		m, err := merge.New(r.Dialect, r.target.db, ledger, r.plan, r.cfg)
		if err != nil {
			r.Fatal(err)
		}
		if _, err := m.Run(r.Context()); err == nil || !r.apart(ledger) && !errors.Is(err, report.ErrSameDatabase) {
			r.Errorf("the database of the ledger: run returned %v", err)
		}
		cfg := r.cfg
		cfg.Databases = map[string]string{"auth": r.target.names["characters"], "characters": r.target.names["auth"]}
		if m, err = merge.New(r.Dialect, r.target.db, r.sources(), r.plan, cfg); err != nil {
			r.Fatal(err)
		}
		if _, err := m.Verify(r.Context()); !errors.As(err, new(*snow.FieldError)) {
			r.Errorf("other databases of the target: verify returned %v", err)
		}
	}
}

// apart reports whether the second source can't see a database that is given for it: it is on another server.
func (r *realms) apart(sources []merge.Source) bool {
	var n int
	err := sources[1].DB.QueryRowContext(r.Context(), "SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = "+r.Dialect.Literal(sources[1].Databases["auth"])).Scan(&n)
	return err != nil || n == 0
}
