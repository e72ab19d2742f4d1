package registry

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/dbserver"
	"github.com/shardsnow/snow/internal/protocol"
	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/internal/testkit/golden"
)

// The statements as the databases get them are in testdata, for people to read
// and for changes to show.
func TestStatements(t *testing.T) {
	for _, d := range []sqldialect.Dialect{sqldialect.MySQL, sqldialect.Postgres, sqldialect.SQLite} {
		t.Run(d.String(), func(t *testing.T) {
			e, err := dbserver.For(d)
			if err != nil {
				t.Fatal(err)
			}
			if d != sqldialect.SQLite {
				e = e.In(dbserver.Info{Schema: "shop"})
			}
			var b strings.Builder
			for _, ask := range protocol.Asks() {
				if ask == protocol.AskServer {
					continue
				}
				s := compile(e, texts[ask])
				fmt.Fprintf(&b, "\n-- %s: %s\n%s;\n", ask, strings.Join(s.Names(), ", "), s.Text)
				if n := strings.Count(s.Text, d.Placeholder(len(s.Names()))); len(s.Names()) == 0 || n == 0 {
					t.Errorf("%s: %d parameters in %s", ask, len(s.Names()), s.Text)
				}
				if strings.ContainsAny(s.Text, "{}:") {
					t.Errorf("%s: not compiled: %s", ask, s.Text)
				}
			}
			fmt.Fprintf(&b, "\n-- fence\n%s;\n%s;\n", compile(e, updateFence).Text, compile(e, updateFenced).Text)
			golden.Check(t, "testdata/statements-"+strings.ToLower(d.String())+".sql", b.String())
		})
	}
}

// Every value that a statement asks for is there.
func TestStatementValues(t *testing.T) {
	e, err := dbserver.For(sqldialect.MySQL)
	if err != nil {
		t.Fatal(err)
	}
	params := protocol.NewParams(0, time.Minute, time.Minute, time.Millisecond)
	params.Layout, params.Workers = snow.DefaultLayout(), 1024
	r := Registry{Engine: e, Params: params}
	values := r.values(protocol.Request{})
	values["mark"] = int64(0) // of a session
	for ask, text := range texts {
		for _, name := range compile(e, text).Names() {
			if _, ok := values[name]; !ok {
				t.Errorf("%s: no value for %q", ask, name)
			}
		}
	}
}
