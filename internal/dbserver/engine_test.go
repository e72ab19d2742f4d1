package dbserver

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/internal/testkit/golden"
)

// What servers are asked about themselves and their sessions is in testdata, for people to read and for changes to
// show.
func TestQuestions(t *testing.T) {
	for _, d := range []sqldialect.Dialect{sqldialect.MySQL, sqldialect.Postgres, sqldialect.SQLite} {
		t.Run(d.String(), func(t *testing.T) {
			e, err := For(d)
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			fmt.Fprintf(&b, "-- server info\n%s;\n", e.question())
			if d != sqldialect.SQLite {
				e = e.In(Info{Schema: "shop"})
			}
			fmt.Fprintf(&b, "\n-- later\n%s;\n", e.question())
			if d == sqldialect.MySQL {
				for _, use := range []Use{ForMigration, ForReading, ForLease, ForSegments} {
					fmt.Fprintf(&b, "\n-- look at a session\n%s;\n", e.setMark(use, 1, true))
					if use == ForLease {
						fmt.Fprintf(&b, "\n-- look at a session of MariaDB\n%s;\n", e.lookAtOnce(use, 1))
					}
				}
			}
			golden.Check(t, "testdata/questions-"+strings.ToLower(d.String())+".sql", b.String())
		})
	}
}

func TestCompile(t *testing.T) {
	for _, test := range []struct {
		dialect    sqldialect.Dialect
		text, want string
		names      []string
	}{
		{sqldialect.MySQL, "a = :b AND c = ':' || :long_name", "a = ? AND c = '?' || ?", []string{"b", "", "long_name"}},
		{sqldialect.SQLite, "SET n = n + {one next_id} WHERE x = :x {returning next_id, y}", "SET n = n + 1 WHERE x = ?1 RETURNING next_id, y", []string{"x"}},
		{
			sqldialect.MySQL,
			"SET n = n + {one next_id} WHERE x = :x {returning next_id, y}",
			"SET n = n + 1 + 0 * LAST_INSERT_ID(IF(" + mysqlWrites + ", next_id, 0)) WHERE x = ?",
			[]string{"x"},
		},
	} {
		e, err := For(test.dialect)
		if err != nil {
			t.Fatal(err)
		}
		if s := e.In(Info{}).Compile(test.text); s.Text != test.want || !slices.Equal(s.Names(), test.names) {
			t.Errorf("%v: compiled %q with %q, want %q with %q", test.dialect, s.Text, s.Names(), test.want, test.names)
		}
	}
}
