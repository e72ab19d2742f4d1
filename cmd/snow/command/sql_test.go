//go:build unix

package command

import (
	"os"
	"strings"
	"testing"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/cmd/snow/internal/database"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/internal/testkit/golden"
)

func TestSQL(t *testing.T) {
	golden.Check(t, "testdata/sql.txt", transcript(t,
		"sql functions --dialect postgres --layout javascript",
		"sql partitions --dialect mysql --table orders --first 2026-01 --months 2",
		"sql partitions --dialect mysql --table orders --first 2026-03 --months 1 --add",
		"sql partitions --dialect postgres --table orders --first 2026-03 --months 2 --add --layout clustered --json",
		"sql partitions --dialect postgres --table orders",
		"sql partitions --dialect mysql --table orders --first january",
		"sql partitions --dialect mysql --table orders --months 0",
		"sql partitions --dialect mysql",
		"sql functions --dialect sqlite",
		"sql functions",
	))
}

// The ids that a database makes are of the number that the command printed.
func TestSQLMaking(t *testing.T) {
	for _, product := range []string{"mariadb", "postgres"} {
		t.Run(product, func(t *testing.T) {
			server, dialect := dbtest.MariaDB, " --dialect mysql"
			if product == "postgres" {
				server, dialect = dbtest.Postgres, ""
			}
			running := server(t)
			t.Setenv("SNOW_DSN", running.DSN(running.CreateDatabase(t)))
			want := func(status int, output, line string) string {
				t.Helper()
				got := execute(t, strings.Fields(line+dialect)...)
				if got.status != status || !strings.Contains(got.stdout+got.stderr, output) {
					t.Fatalf("snow %s: exit status %d, stdout %q, stderr %q; want %d and %q", line, got.status, got.stdout, got.stderr, status, output)
				}
				return got.stdout
			}
			want(0, "", "migrate")
			want(0, "", "init --namespace shop --workers 4")
			want(2, "--namespace is missing", "sql install")
			want(0, "nothing was changed", "sql install --namespace shop --dry-run")
			want(4, "not confirmed", "sql install --namespace shop")
			first := want(0, "snow_next_id() makes ids of worker ", "sql install --namespace shop --yes")
			if again := want(0, "", "sql install --namespace shop --yes"); again != first {
				t.Errorf("installed again: %q, want %q", again, first)
			}
			renumbered := want(0, "snow_next_id() makes ids of worker ", "sql renumber --namespace shop --yes")
			if renumbered == first {
				t.Errorf("renumbered: %q", renumbered)
			}
			f := &databaseFlags{dsn: "env:SNOW_DSN", dialect: strings.TrimPrefix(dialect, " --dialect "), access: database.Existing, timeout: 10e9}
			db, err := f.open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			want(0, "", "audit") // of the tables of the functions nothing is to be said
			var id int64
			if err := db.QueryRowContext(t.Context(), "SELECT snow_next_id()").Scan(&id); err != nil {
				t.Fatal(err)
			}
			// The functions of another database have a number of their own, of the same namespace.
			t.Setenv("SNOW_LEASES", os.Getenv("SNOW_DSN"))
			t.Setenv("SNOW_DSN", running.DSN(running.CreateDatabase(t)))
			const leases = " --leases env:SNOW_LEASES --yes"
			want(2, "--leases", "sql install --namespace shop --yes --leases env:NOWHERE")
			want(1, "", "sql install --namespace shop --yes")
			elsewhere := want(0, "snow_next_id() makes ids of worker ", "sql install --namespace shop"+leases)
			if elsewhere == first || elsewhere == renumbered {
				t.Errorf("another database: %q", elsewhere)
			}
			explicit := leases
			if dialect != "" {
				explicit += " --leases-" + strings.TrimLeft(dialect, " -")
			}
			if again := want(0, "", "sql install --namespace shop"+explicit); again != elsewhere {
				t.Errorf("installed there again: %q, want %q", again, elsewhere)
			}
			t.Setenv("SNOW_DSN", os.Getenv("SNOW_LEASES"))
			want(0, "", "init --namespace other --workers 2")
			want(1, "only Move takes one of another namespace", "sql install --namespace other --yes")
			want(0, "of worker 1", "sql install --namespace other --yes --move")
			shown := execute(t, "id", "show", "--layout", "default", snow.ID(id).String()).stdout
			worker := renumbered[strings.LastIndex(renumbered, " worker ")+1 : len(renumbered)-1]
			if !strings.Contains(shown, worker+",") {
				t.Errorf("%s is not of %s", shown, worker)
			}
		})
	}
}
