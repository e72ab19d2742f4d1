package migrations_test

import (
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shardsnow/snow/migrations"
)

var dialects = map[string]fs.FS{"mysql": migrations.MySQL(), "postgres": migrations.Postgres(), "sqlite": migrations.SQLite()}

func list(t *testing.T, files fs.FS) []string {
	t.Helper()
	names, err := fs.Glob(files, "*")
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// read returns a file without its comments.
func read(t *testing.T, files fs.FS, name string) string {
	t.Helper()
	text, err := fs.ReadFile(files, name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(regexp.MustCompile(`(?m)--.*$`).ReplaceAllString(string(text), ""))
}

func TestPairsWithoutGaps(t *testing.T) {
	for dialect, files := range dialects {
		names := list(t, files)
		if len(names) == 0 {
			t.Errorf("%s has no files", dialect)
		}
		for i, name := range names {
			ending := []string{"down", "up"}[i%2]
			if want := fmt.Sprintf(`^%04d_[a-z_]+\.%s\.sql$`, i/2+1, ending); !regexp.MustCompile(want).MatchString(name) {
				t.Errorf("%s: file %d is %s, want %s", dialect, i, name, want)
			}
			if up := strings.TrimSuffix(name, ".down.sql") + ".up.sql"; ending == "down" && !slices.Contains(names, up) {
				t.Errorf("%s: %s has no %s", dialect, name, up)
			}
		}
	}
}

func TestSameFilesInEachDialect(t *testing.T) {
	want := list(t, dialects["mysql"])
	for dialect, files := range dialects {
		if got := list(t, files); !slices.Equal(got, want) {
			t.Errorf("%s has %q, MySQL has %q", dialect, got, want)
		}
	}
}

// sqlsnow.Migrate takes the table of this name for the proof that a file was applied, and runs it again if in
// doubt. A file that makes no table needs another rule there first.
func TestOneStatementThatCanRunAgain(t *testing.T) {
	for dialect, files := range dialects {
		for _, name := range list(t, files) {
			_, rest, _ := strings.Cut(name, "_")
			table, ending, _ := strings.Cut(rest, ".")
			want := map[string]string{
				"up.sql":   "CREATE TABLE IF NOT EXISTS " + table + " (",
				"down.sql": "DROP TABLE IF EXISTS " + table + ";",
			}[ending]
			statement := read(t, files, name)
			if !strings.HasPrefix(statement, want) {
				t.Errorf("%s/%s begins with %.60q, want %q", dialect, name, statement, want)
			}
			if strings.Index(statement, ";") != len(statement)-1 {
				t.Errorf("%s/%s is not one statement with a semicolon at its end:\n%s", dialect, name, statement)
			}
		}
	}
}

// columns returns a table's columns with whether they can be NULL, and its last lines.
func columns(statement string) (columns []string, rest string) {
	column := regexp.MustCompile(`^    ([a-z_]+) +[A-Z].* (NOT NULL|NULL)( DEFAULT '')?,$`)
	for line := range strings.Lines(statement) {
		if m := column.FindStringSubmatch(strings.TrimSuffix(line, "\n")); m != nil {
			columns = append(columns, m[1]+" "+m[2]+m[3])
		} else {
			rest += line
		}
	}
	return columns, rest
}

func TestSameColumnsInEachDialect(t *testing.T) {
	ends := map[string]string{"mysql": ") ENGINE=InnoDB;", "postgres": ");", "sqlite": ") STRICT, WITHOUT ROWID;"}
	for table, key := range map[string]string{"0001_snow_namespaces": "namespace", "0002_snow_workers": "namespace, worker_id", "0003_snow_segments": "tag", "0004_snow_numbers": "series, scope"} {
		want, _ := columns(read(t, dialects["mysql"], table+".up.sql"))
		if len(want) < 7 {
			t.Errorf("%s: got the columns %q only", table, want)
		}
		for _, dialect := range slices.Sorted(maps.Keys(dialects)) {
			got, rest := columns(read(t, dialects[dialect], table+".up.sql"))
			if !slices.Equal(got, want) {
				t.Errorf("%s of %s has the columns\n%q, of MySQL\n%q", table, dialect, got, want)
			}
			if end := "    PRIMARY KEY (" + key + ")\n" + ends[dialect]; !strings.HasSuffix(rest, end) {
				t.Errorf("%s of %s ends with\n%s\nwant\n%s", table, dialect, rest, end)
			}
		}
	}
}
