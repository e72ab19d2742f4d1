package segments

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/internal/dbserver"
)

var update = flag.Bool("update", false, "write the files in testdata")

// The statements as the databases get them are in testdata, for people to read and for changes to show.
func TestStatements(t *testing.T) {
	for _, d := range []sqlsnow.Dialect{sqlsnow.MySQL, sqlsnow.Postgres, sqlsnow.SQLite} {
		t.Run(d.String(), func(t *testing.T) {
			e, err := dbserver.For(d)
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			for _, text := range []string{updateTake, selectRow, insertRow, updateSeal, updateFence, updateRaise} {
				s := e.Compile(text)
				fmt.Fprintf(&b, "\n-- %s\n%s;\n", strings.Join(s.Names(), ", "), s.Text)
				if strings.ContainsAny(s.Text, "{}:") {
					t.Errorf("not compiled: %s", s.Text)
				}
			}

			file := filepath.Join("testdata", "statements-"+strings.ToLower(d.String())+".sql")
			if *update {
				if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got := b.String(); got != string(want) {
				t.Errorf("%s differs: see what changed with go test -run TestStatements -update", file)
			}
		})
	}
}
