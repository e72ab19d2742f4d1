//go:build unix

package merge_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/sqlsnow"
)

// Inspect finds the column that says when rows were made by its name, its type and its values.
func TestCreated(t *testing.T) {
	tests := []struct {
		// of 100 rows, with %d for the seconds since 1970 of a row, %[2]d for its number, and %[3]s for its text
		columns string
		want    string
		asks    string
	}{
		{"joindate INT = %d", "joindate", ""},
		{"created BIGINT = %d * 1000", "created", ""},
		{"creation_date DATETIME = %[3]s, updated_at DATETIME = %[3]s", "creation_date", ""},
		{"date_add DATETIME = %[3]s, date_upd DATETIME = %[3]s", "date_add", ""},
		{"created_at DATETIME = %[3]s, reg_date INT = %d", "created_at", ""},
		{"inserted INT = %d - %[2]d * 7777777 %% 99999, registered INT = %d - %[2]d * 5555555 %% 77777", "inserted", "or registered?"},
		{"inserted INT = %d - %[2]d * 7777777 %% 99999, registered INT = %d", "registered", ""},
		{"inserted INT = %d, registered INT = %d", "inserted", ""},
		{"time INT = %d", "time", ""},
		{"time INT = %d - %[2]d * 7777777 %% 99999", "time", "does it say when a row was made?"},
		{"time INT = %[2]d * 60", "", ""},
		{"reg_date INT = 20240100 + %[2]d %% 28", "", ""},
		{"birth DATE = '1970-01-01'", "", ""},
		{"created_at DATETIME = NULL", "created_at", ""},
		{"registered INT = 0", "", ""},
		{"joined INT = CASE WHEN %[2]d %% 3 = 0 THEN 0 ELSE %d END", "joined", ""},
	}
	source := opened(t, "sqlite3", "file:"+filepath.Join(t.TempDir(), "source.db"))
	for n, test := range tests {
		var names, values []string
		for _, part := range strings.Split(test.columns, ", ") {
			name, value, _ := strings.Cut(part, " = ")
			names, values = append(names, name), append(values, value)
		}
		statements := []string{fmt.Sprintf("CREATE TABLE t%d (id INTEGER PRIMARY KEY, %s)", n, strings.Join(names, ", "))}
		for i := range 100 {
			at := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(i) * time.Minute)
			row := fmt.Sprintf("INSERT INTO t%d VALUES (%d", n, i+1)
			for _, value := range values {
				row += ", " + strings.NewReplacer("%d", fmt.Sprint(at.Unix()), "%[2]d", fmt.Sprint(i), "%[3]s", "'"+at.Format(time.DateTime)+"'", "%%", "%").Replace(value)
			}
			statements = append(statements, row+")")
		}
		for _, text := range statements {
			if _, err := source.ExecContext(t.Context(), text); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
		}
	}
	p, err := merge.Inspect(t.Context(), sqlsnow.SQLite, merge.Source{Name: "s1", DB: source})
	if err != nil {
		t.Fatal(err)
	}
	for n, test := range tests {
		table := p.Table(fmt.Sprintf("t%d", n))
		var asked []string
		for _, c := range table.Columns {
			if c.Name == table.Created || strings.Contains(fmt.Sprint(c.Suspects), "was made") {
				asked = append(asked, c.Suspects...)
			}
		}
		if table.Created != test.want || (test.asks == "") != (len(asked) == 0) || !strings.Contains(fmt.Sprint(asked), test.asks) {
			t.Errorf("%s: got %q and %q, want %q and %q", test.columns, table.Created, asked, test.want, test.asks)
		}
	}
}
