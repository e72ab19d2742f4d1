package questions

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shardsnow/snow/cmd/snow/internal/database"
	"github.com/shardsnow/snow/internal/sqldialect"
	"github.com/shardsnow/snow/merge/plan"
)

// sourcesOf makes databases with the tables of schema, and returns them as the command opens them.
func sourcesOf(t *testing.T) Sources {
	t.Helper()
	all := Sources{Dialect: sqldialect.SQLite}
	for _, name := range []string{"eu", "us"} {
		file := filepath.Join(t.TempDir(), name+".db")
		open := func(access database.Access) *sql.DB {
			db, _, err := database.Open(t.Context(), "--source", file, "sqlite", access, 10*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = db.Close() })
			return db
		}
		db := open(database.Create)
		for _, table := range schema().Tables {
			var columns []string
			for _, c := range table.Columns {
				columns = append(columns, c.Name)
			}
			if _, err := db.ExecContext(t.Context(), fmt.Sprintf("CREATE TABLE %s (%s, token)", table.Name, strings.Join(columns, ", "))); err != nil {
				t.Fatal(err)
			}
		}
		for _, statement := range []string{
			"INSERT INTO players VALUES (1, 'Aragorn', 5, 'geheim'), (2, '" + name + " \x1b[31m', 6, 'geheim')",
			"INSERT INTO items VALUES (1, 0, NULL, 'x'), (2, 2, NULL, 'x'), (3, 1, NULL, 'x'), (4, 99, NULL, 'x'), (5, NULL, NULL, 'x')",
		} {
			if _, err := db.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		all.All = append(all.All, Source{Name: name, DB: open(database.ReadOnly)})
	}
	return all
}

func TestSamples(t *testing.T) {
	s, _ := opened(t, schema())
	sources := sourcesOf(t)
	of := func(q *Question) []Sample { return sources.Samples(t.Context(), s, q) }

	// A value that leads nowhere comes first, and what could control a terminal is an escape.
	items := of(s.All[0].Apart()[1])
	if len(items) != 2 || items[1].Source != "us" || items[1].Table != "items" {
		t.Fatalf("%+v", items)
	}
	if want := [][]string{{"4", "99", "no such row"}, {"2", "2", `2 us \x1b[31m`}}; fmt.Sprint(items[1].Rows) != fmt.Sprint(want) || !slices.Equal(items[1].Columns, []string{"id", "owner_id", "in players"}) {
		t.Errorf("%q %q, want %q", items[1].Columns, items[1].Rows, want)
	}
	if want := []string{"2 of 3 different values are ids of players"}; !slices.Equal(items[1].Found, want) {
		t.Errorf("%q", items[1].Found)
	}

	// Rows that clash, side by side.
	clashes := of(s.All[3].Apart()[1])
	if len(clashes) != 2 || fmt.Sprint(clashes[0].Rows, clashes[1].Rows) != "[[1 Aragorn]] [[1 Aragorn]]" {
		t.Errorf("%+v", clashes)
	}
	if none := of(s.All[3].Apart()[0]); len(none) != 2 || none[1].Why != "none of its first 0 rows clashes" {
		t.Errorf("%+v", none)
	}
	if empty := of(s.All[0].Apart()[0]); empty[0].Why != "no row has a value" {
		t.Errorf("%+v", empty)
	}

	// What a source does not answer is said, and is no error.
	if err := sources.All[1].DB.Close(); err != nil {
		t.Fatal(err)
	}
	for _, q := range s.All {
		for _, sample := range of(q) {
			if sample.Source == "us" && (sample.Rows != nil || !strings.HasPrefix(sample.Why, "no sample: ")) {
				t.Errorf("%+v", sample)
			}
			if strings.Contains(fmt.Sprint(sample), "geheim") {
				t.Errorf("a secret is shown: %+v", sample)
			}
		}
	}
}

// Values for no row are counted, and kinds that an answer leaves out.
func TestRowsApart(t *testing.T) {
	s, _ := opened(t, schema())
	part := *s.All[0].Parts[1]
	table := *part.table
	part.table = &table
	c := *table.Column("owner_id")
	c.None, c.Role, c.By = []string{"0"}, plan.RolePolymorphic, "id"
	c.Refers = []*plan.Reference{{Value: "2", Table: "players"}, {Value: "3"}}
	table.Columns = []*plan.Column{table.Columns[0], &c}
	got := rowsApart(&part, []string{"id", "owner_id"}, [][]string{{"1", "0"}, {"2", "2"}, {"3", "1"}, {"4", "99"}, {"NULL", "5"}})
	if want := []string{"1 of 5 rows have 0, which stands for no row", "1 of 5 rows have id 4, " + noKind}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}

	var out strings.Builder
	d := Dialogue{In: strings.NewReader("e\ns\n={by: id, kinds: {2: players, 3: plain, 1: plain}}\nq\n"), Out: &out, Width: 300, Sources: sourcesOf(t)}
	if _, err := d.Run(t.Context(), s); err != nil || !strings.Contains(out.String(), "! source eu, items: 1 of 4 rows have id 4, "+noKind) {
		t.Errorf("%v: %s", err, out.String())
	}
}

func TestElements(t *testing.T) {
	for value, want := range map[string][]string{"17,52": {"17", "52"}, "{8}": {"8"}, "1,22,3…": {"1", "22"}, "-3": {"-3"}, "a 1": {"a 1"}, "": {""}, "0": {"0"}} {
		if got := elements(value); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", value, got, want)
		}
	}
	found := map[string]string{"17": "17 Aragorn"}
	for value, want := range map[string]string{"17": "17 Aragorn", "17,52": "1 of 2", "5": "no such row", "": "no such row"} {
		if got := rowText(elements(value), found); got != want {
			t.Errorf("%q: got %q, want %q", value, got, want)
		}
	}
}

func TestValueText(t *testing.T) {
	for _, tt := range []struct {
		value any
		want  string
	}{
		{nil, "NULL"},
		{[]byte("Zoë"), "Zoë"},
		{[]byte{0xff, 0}, "0xff00"},
		{int64(-3), "-3"},
		{true, "true"},
		{time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC), "2025-01-02 03:04:05"},
		{"a\nb\u202ec", `a\nb\u202ec`},
		{strings.Repeat("ä", 60), strings.Repeat("ä", longest-1) + "…"},
	} {
		if got := valueText(tt.value); got != tt.want {
			t.Errorf("%v: got %q, want %q", tt.value, got, tt.want)
		}
	}
}

func TestNameOf(t *testing.T) {
	column := func(name, kind string) *plan.Column {
		return &plan.Column{Name: name, Type: kind, Role: plan.RolePlain}
	}
	for want, columns := range map[string][]*plan.Column{
		"":          {column("password", "varchar(60)"), column("session", "text"), column("name", "int")},
		"char_name": {column("token", "text"), column("code", "char(3)"), column("char_name", "varchar(20)")},
		"Name":      {column("char_name", "varchar(20)"), column("Name", "VARCHAR(20)")},
	} {
		if got := nameOf(&plan.Table{Columns: columns}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
