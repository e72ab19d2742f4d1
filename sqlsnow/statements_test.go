package sqlsnow

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the files in testdata")

// The statements as the databases get them are in testdata, for people to read
// and for changes to show.
func TestStatements(t *testing.T) {
	for _, d := range []Dialect{MySQL, Postgres, SQLite} {
		t.Run(d.String(), func(t *testing.T) {
			e, err := engineOf(d)
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			fmt.Fprintf(&b, "-- facts\n%s;\n", e.facts)
			if d == MySQL {
				for _, n := range []need{toMigrate, toLease, toNumber} {
					fmt.Fprintf(&b, "\n-- look at a session\n%s;\n", setMark(n, 1))
				}
			}
			for ask := askFree; ask <= askAbandon; ask++ {
				s := e.statements[ask]
				fmt.Fprintf(&b, "\n-- %s: %s\n%s;\n", ask, strings.Join(s.names, ", "), s.text)
				if n := strings.Count(s.text, e.dialect.Placeholder(len(s.names))); len(s.names) == 0 || n == 0 {
					t.Errorf("%s: %d parameters in %s", ask, len(s.names), s.text)
				}
				if strings.ContainsAny(s.text, "{}:") {
					t.Errorf("%s: not compiled: %s", ask, s.text)
				}
			}
			fmt.Fprintf(&b, "\n-- fence\n%s;\n", e.compile(updateFence).text)
			for _, text := range []string{updateSegment, selectSegment, insertSegment, updateSegmentSeal, updateSegmentFence, updateSegmentRaise} {
				s := e.compile(text)
				fmt.Fprintf(&b, "\n-- segments: %s\n%s;\n", strings.Join(s.names, ", "), s.text)
				if strings.ContainsAny(s.text, "{}:") {
					t.Errorf("segments: not compiled: %s", s.text)
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

// Every value that a statement asks for is there.
func TestStatementValues(t *testing.T) {
	e, err := engineOf(MySQL)
	if err != nil {
		t.Fatal(err)
	}
	want, err := Namespace{Name: "n", Layout: layout(t, 41, 10, 12)}.terms()
	if err != nil {
		t.Fatal(err)
	}
	r := registry{engine: e, terms: want}
	values := r.values(request{})
	values["mark"] = int64(0) // of a session
	for ask, s := range e.statements {
		for _, name := range s.names {
			if _, ok := values[name]; !ok {
				t.Errorf("%s: no value for %q", ask, name)
			}
		}
	}
	s := e.compile("a = :b AND c = ':' || :long_name")
	if s.text != "a = ? AND c = '?' || ?" || !slices.Equal(s.names, []string{"b", "", "long_name"}) {
		t.Errorf("compiled %q with %q", s.text, s.names)
	}
}
