//go:build unix

package convert_test

import (
	"errors"
	"testing"

	"github.com/shardsnow/snow/convert"
	"github.com/shardsnow/snow/convert/plan"
	"github.com/shardsnow/snow/convert/report"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/sqlsnow"
)

// What Inspect plans can be carried out, up to the end.
func TestRunInspected(t *testing.T) {
	for _, test := range []struct {
		name       string
		dialect    sqlsnow.Dialect
		driver     string
		server     func(testing.TB) *dbtest.Server
		statements []string
	}{
		{"mysql", sqlsnow.MySQL, "mysql", func(tb testing.TB) *dbtest.Server { return dbtest.SharedMariaDB(tb) }, mysqlShop},
		{"postgres", sqlsnow.Postgres, "pgx", func(tb testing.TB) *dbtest.Server { return dbtest.Postgres(tb) }, postgresShop},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := test.server(t)
			db := open(t, test.driver, server, test.statements...)
			p, err := convert.Inspect(t.Context(), test.dialect, db, convert.InspectConfig{})
			if err != nil {
				t.Fatal(err)
			}
			p.Guards = nil // databases of other tests
			for _, q := range p.Questions {
				q.Answer = plan.Widen
			}
			p.Resolve()
			cfg := convert.Config{}
			for {
				c, err := convert.New(test.dialect, db, p, cfg)
				if err != nil {
					t.Fatal(err)
				}
				err = c.Run(t.Context())
				var gate *report.GateError
				if errors.As(err, &gate) {
					cfg.Gates = append(cfg.Gates, gate.Gate)
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				break
			}
			left, err := convert.Inspect(t.Context(), test.dialect, db, convert.InspectConfig{DeclaredOnly: true})
			if err != nil {
				t.Fatal(err)
			}
			for _, table := range left.Tables {
				if len(table.Columns) > 0 {
					t.Errorf("table %q is still to be changed: %s", table.Name, plain(t, left))
				}
			}
		})
	}
}
