package mergetest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

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
		cfg := r.cfg
		cfg.Databases = map[string]string{"auth": r.target.names["characters"], "characters": r.target.names["auth"]}
		m, err := merge.New(r.Dialect, r.target.db, r.sources(), r.plan, cfg)
		if err != nil {
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
