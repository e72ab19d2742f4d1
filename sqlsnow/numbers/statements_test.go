package numbers

import (
	"fmt"
	"strings"
	"testing"

	"github.com/shardsnow/snow/internal/dbserver"
	"github.com/shardsnow/snow/internal/testkit/golden"
	"github.com/shardsnow/snow/sqlsnow"
)

// The statements as the databases get them are in testdata, for people to read and for changes to show.
func TestStatements(t *testing.T) {
	for _, d := range []sqlsnow.Dialect{sqlsnow.MySQL, sqlsnow.Postgres, sqlsnow.SQLite} {
		t.Run(d.String(), func(t *testing.T) {
			e, err := dbserver.NumbersFor(d)
			if err != nil {
				t.Fatal(err)
			}
			if d != sqlsnow.SQLite {
				e = e.In(dbserver.Info{Schema: "shop"})
			}
			all := []dbserver.Statement{upsert(e)}
			for _, text := range []string{
				selectNow, selectSeries, insertSeries, updateTake, updateTurn, updateSeries, insertCounter, selectCounter, updateFence, updateRaise, selectAll,
			} {
				all = append(all, e.Compile(text))
			}
			var b strings.Builder
			for _, s := range all {
				fmt.Fprintf(&b, "\n-- %s\n%s;\n", strings.Join(s.Names(), ", "), s.Text)
				if strings.ContainsAny(s.Text, "{}:") {
					t.Errorf("not compiled: %s", s.Text)
				}
			}
			golden.Check(t, "testdata/statements-"+strings.ToLower(d.String())+".sql", b.String())
		})
	}
}
