package mergetest

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// A clashCase is one table of names in sources that all get new ids. Names have commas; an empty one is NULL.
type clashCase struct {
	name    string
	length  int // of names; zero means 20
	target  string
	sources []string // name=names
	unique  plan.Unique
	want    map[string]string // what is called otherwise: source/name, or target/name
	kept    bool              // no source gets new ids
	caseful bool              // only where texts that differ in case are one
}

func clashCases() []clashCase {
	suffix := plan.Unique{Rule: plan.RuleSuffix}
	return []clashCase{
		{name: "no clash", sources: []string{"a=Ann", "b=Bob"}, unique: plan.Unique{Rule: plan.RuleFail}},
		{name: "NULL never clashes", target: ",", sources: []string{"a=,", "b=,"}, unique: plan.Unique{Rule: plan.RuleFail}},
		{
			name: "three sources", sources: []string{"a=Bob", "b=Ann,Bob", "c=Bob,Cy"}, unique: suffix,
			want: map[string]string{"b/Bob": "Bob_b", "c/Bob": "Bob_c"},
		},
		{
			name: "the target comes first", target: "Bob", sources: []string{"a=Bob"}, unique: suffix,
			want: map[string]string{"a/Bob": "Bob_a"},
		},
		{
			name: "the new name is the target's", target: "Bob,Bob_a", sources: []string{"a=Bob"}, unique: suffix,
			want: map[string]string{"a/Bob": "Bob_a_2"},
		},
		{
			name: "the new name is another row's of the source", sources: []string{"a=Bob", "b=Bob,Bob_b,Bob_b_2"}, unique: suffix,
			want: map[string]string{"b/Bob": "Bob_b_3"},
		},
		{
			name: "the new name is a later source's", sources: []string{"a=Bob", "b=Bob", "c=Bob_b"}, unique: suffix,
			want: map[string]string{"b/Bob": "Bob_b_2"},
		},
		{
			name: "a renamed row has the new name already", sources: []string{"a=Bob,Bob_x", "x_y=Bob", "y=Bob_x"}, unique: suffix,
			want: map[string]string{"x_y/Bob": "Bob_x_y", "y/Bob_x": "Bob_x_y_2"},
		},
		{
			name: "one suffix for all", sources: []string{"a=Bob", "b=Bob", "c=Bob"}, unique: plan.Unique{Rule: plan.RuleSuffix, Suffix: ".x"},
			want: map[string]string{"b/Bob": "Bob.x", "c/Bob": "Bob.x_2"},
		},
		{
			name: "names are shortened", length: 6, sources: []string{"a=雪だるま一号,雪だるま二号", "b=雪だるま一号,雪だるま二号"}, unique: suffix,
			want: map[string]string{"b/雪だるま一号": "雪だるま_b", "b/雪だるま二号": "雪だ_b_2"},
		},
		{
			name: "another order", sources: []string{"a=Bob", "b=Bob"}, unique: plan.Unique{Rule: plan.RuleSuffix, Prefer: []string{"b"}},
			want: map[string]string{"a/Bob": "Bob_a"},
		},
		{
			name: "another case", caseful: true, target: "CY", sources: []string{"a=Bob,cy", "b=ann,bOB,dee", "c=BOB_B"}, unique: suffix,
			want: map[string]string{"a/cy": "cy_a", "b/bOB": "bOB_b_2"},
		},
		{
			name: "another order, kept", sources: []string{"a=Bob,Cy", "b=Bob,Dee"}, unique: plan.Unique{Rule: plan.RuleKeep, Prefer: []string{"b"}},
			want: map[string]string{"a/Bob": ""},
		},
		{
			name: "kept", target: "Ann", sources: []string{"a=Ann,Bob", "b=Ann,Bob,Cy", "c=Cy,Bob"}, unique: plan.Unique{Rule: plan.RuleKeep},
			want: map[string]string{"a/Ann": "", "b/Ann": "", "b/Bob": "", "c/Bob": "", "c/Cy": ""},
		},
	}
}

// An arena is the databases of many cases. Each case has a table of its own.
type arena struct {
	Engine
	target  *sql.DB
	sources map[string]*sql.DB
	tables  int
}

// Clashes sees what becomes of rows that clash.
func Clashes(t *testing.T, e Engine) {
	a := &arena{Engine: e, target: e.Open(t), sources: map[string]*sql.DB{}}
	if err := sqlsnow.Migrate(t.Context(), a.target, e.Dialect); err != nil {
		t.Fatal(err)
	}
	if err := sqlsnow.Init(t.Context(), a.target, e.Dialect, sqlsnow.Namespace{Name: namespace, Layout: layout(t), Workers: 256}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b", "c", "x_y", "y"} {
		a.sources[name] = e.Open(t)
	}
	for i, c := range clashCases() {
		onlySome := c.caseful || c.length > 0
		if !e.has(i) && !onlySome || c.caseful && e.Dialect == sqlsnow.Postgres || c.length > 0 && e.Dialect == sqlsnow.SQLite {
			continue
		}
		t.Run(c.name, func(t *testing.T) { c.run(t, a) })
	}
	t.Run("many", func(t *testing.T) { manyClashes(t, a) })
	t.Run("failing", func(t *testing.T) { failingClashes(t, a) })
	t.Run("leftovers", func(t *testing.T) { leftovers(t, a) })
	t.Run("with a row that is left out", func(t *testing.T) { droppedRows(t, e) })
}

// leftovers has names that look like ids.
func leftovers(t *testing.T, a *arena) {
	for _, tt := range []struct {
		last int
		want bool
	}{{40, true}, {10, false}} { // 10 are too few to say anything
		c := clashCase{sources: []string{"a="}, unique: plan.Unique{Rule: plan.RuleFail}}
		for i := range tt.last {
			c.sources[0] += fmt.Sprint(tt.last-i, ",")
		}
		m, table := c.merge(t, a, false)
		forecast, err := m.DryRun(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		found, err := m.Run(t.Context())
		if tt.want != errors.As(err, new(*report.OpenError)) || !tt.want && err != nil {
			t.Fatalf("%d names: got %v, want something open: %v", tt.last, err, tt.want)
		}
		for _, open := range [][]report.Open{forecast.Open, found.Open} {
			if got := len(open) == 1 && open[0].Table == table && open[0].Column == "name"; got != tt.want || !tt.want && len(open) > 0 {
				t.Errorf("%d names: got %q open, want the names: %v", tt.last, open, tt.want)
			}
		}
	}
}

// run merges the case twice: at once, and in transactions of one row with a run
// that ends and another one that goes on after some of them.
func (c clashCase) run(t *testing.T, a *arena) {
	want := map[string]string{}
	for _, name := range splitNames("target=" + c.target) {
		want[name] = name[len("target/"):]
	}
	for _, s := range c.sources {
		for _, name := range splitNames(s) {
			_, want[name], _ = strings.Cut(name, "/")
		}
	}
	maps.Copy(want, c.want)
	maps.DeleteFunc(want, func(_, is string) bool { return is == "" })
	for _, stutter := range []bool{false, true} {
		m, table := c.merge(t, a, stutter)
		var forecast *report.Forecast
		if !stutter {
			var err error
			if forecast, err = m.DryRun(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		found, err := m.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := readNames(t, a.target, table); !maps.Equal(got, want) {
			t.Errorf("stutter %v: got %v, want %v", stutter, got, want)
		}
		if stutter {
			continue
		}
		for _, row := range found.Tables {
			f := forecast.Tables[slices.IndexFunc(forecast.Tables, func(f report.TableForecast) bool { return f.Source == row.Source })]
			if f.Merged != row.Merged || f.Renamed != row.Renamed || f.Rekeyed != row.Rekeyed {
				t.Errorf("dry run says %+v, and the run did %+v", f, row)
			}
		}
		if _, err := m.DryRun(t.Context()); err == nil {
			t.Error("a dry run after the run: got no error")
		}
	}
}

func splitNames(s string) (names []string) {
	source, list, _ := strings.Cut(s, "=")
	for _, name := range strings.Split(list, ",") {
		names = append(names, source+"/"+name)
	}
	if s == "target=" {
		return nil
	}
	return names
}

// merge returns the merge of a case, and its table. A merge that stutters has
// been interrupted many times before.
func (c clashCase) merge(t *testing.T, a *arena, stutter bool) (m *merge.Merge, table string) {
	t.Helper()
	for _, db := range a.sources { // or the plan would have to name it
		if _, err := db.ExecContext(t.Context(), fmt.Sprintf("DROP TABLE IF EXISTS players_%d", a.tables)); err != nil {
			t.Fatal(err)
		}
	}
	a.tables++
	table = fmt.Sprintf("players_%d", a.tables)
	length := cmp.Or(c.length, 20)
	typ := fmt.Sprintf("VARCHAR(%d)", length)
	if a.Dialect == sqlsnow.SQLite {
		typ += " COLLATE NOCASE"
	}
	create := "CREATE TABLE " + table + " (id BIGINT NOT NULL PRIMARY KEY, tag VARCHAR(80) NOT NULL, name " + typ + ", UNIQUE (name))"
	fill := func(db *sql.DB, names []string) {
		if _, err := db.ExecContext(t.Context(), create); err != nil {
			t.Fatal(err)
		}
		var rows []string
		for i, name := range names {
			_, called, _ := strings.Cut(name, "/")
			value := "'" + called + "'"
			if called == "" {
				value = "NULL"
			}
			rows = append(rows, fmt.Sprintf("(%d, '%s', %s)", i+1, name, value))
		}
		for part := range slices.Chunk(rows, 500) {
			if _, err := db.ExecContext(t.Context(), "INSERT INTO "+table+" VALUES "+strings.Join(part, ", ")); err != nil {
				t.Fatal(err)
			}
		}
	}
	fill(a.target, splitNames("target="+c.target))
	var sources []merge.Source
	var names []string
	for _, s := range c.sources {
		name, _, _ := strings.Cut(s, "=")
		names = append(names, name)
		sources = append(sources, merge.Source{Name: name, DB: a.sources[name]})
		fill(sources[len(sources)-1].DB, splitNames(s))
	}
	unique := c.unique
	unique.Columns = []string{"name"}
	minting := names
	if c.kept {
		minting = nil
	}
	p := &plan.Plan{Version: 1, Dialect: a.Dialect.String(), Sources: names, Tables: []*plan.Table{{
		Name: table, PrimaryKey: []string{"id"}, NewIDs: minting, Unique: []*plan.Unique{&unique}, Columns: []*plan.Column{
			{Name: "id", Type: "bigint", Role: plan.RoleKey},
			{Name: "tag", Type: "varchar(80)", Role: plan.RolePlain},
			{Name: "name", Type: fmt.Sprintf("varchar(%d)", length), Nullable: true, Role: plan.RolePlain},
		},
	}}}
	cfg := merge.Config{Namespace: namespace}
	for batches := 1; stutter && batches < 8; batches++ {
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		cfg.ChunkRows = 1
		cfg.Events = func(e report.Event) {
			if e.Kind == report.EventChunk && e.Phase != "dry-run" {
				if n++; n == 1+batches%3 {
					cancel()
				}
			}
		}
		m, err := merge.New(a.Dialect, a.target, sources, p, cfg)
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.Run(ctx)
		cancel()
		if err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	cfg.Events = nil
	m, err := merge.New(a.Dialect, a.target, sources, p, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return m, table
}

// readNames returns what rows are called, by their tags.
func readNames(t *testing.T, db *sql.DB, table string) map[string]string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SELECT tag, name FROM "+table+" WHERE name IS NOT NULL")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	names := map[string]string{}
	for rows.Next() {
		var tag, name string
		if err := rows.Scan(&tag, &name); err != nil {
			t.Fatal(err)
		}
		names[tag] = name
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return names
}

// manyClashes has more than one statement can look for. Every third name
// clashes, and of those every other in another case only, and on MySQL some in
// another letter.
func manyClashes(t *testing.T, arena *arena) {
	var a, b []string
	want := map[string]string{}
	for i := range 1500 {
		name := fmt.Sprintf("a%d", i)
		a = append(a, name)
		want["a/"+name] = name
		switch {
		case i%3 != 0:
			name = fmt.Sprintf("b%d", i)
			want["b/"+name] = name
		case i%5 == 0 && arena.Dialect == sqlsnow.MySQL:
			name = strings.Replace(name, "a", "ä", 1)
			want["b/"+name] = name + "_b"
		case i%2 == 0 && arena.Dialect != sqlsnow.Postgres:
			name = strings.ToUpper(name)
			fallthrough
		default:
			want["b/"+name] = name + "_b"
		}
		b = append(b, name)
	}
	c := clashCase{sources: []string{"a=" + strings.Join(a, ","), "b=" + strings.Join(b, ",")}, unique: plan.Unique{Rule: plan.RuleSuffix}}
	m, table := c.merge(t, arena, false)
	if _, err := m.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := readNames(t, arena.target, table)
	for tag, name := range want {
		if got[tag] != name {
			t.Fatalf("%s: got %q, want %q", tag, got[tag], name)
		}
	}
}

// failingClashes stop a run, before anything is copied.
func failingClashes(t *testing.T, a *arena) {
	for _, tt := range []struct {
		clashCase
		want report.ClashError
	}{
		{
			clashCase{sources: []string{"a=Ann,Bob", "b=Cy,Bob"}, unique: plan.Unique{Rule: plan.RuleFail}},
			report.ClashError{Unique: []string{"name"}, Values: []string{"Bob"}, Source: "b", Row: "[2]", With: "a"},
		},
		{
			clashCase{target: "Bob", sources: []string{"a=Bob"}, unique: plan.Unique{Rule: plan.RuleFail}},
			report.ClashError{Unique: []string{"name"}, Values: []string{"Bob"}, Source: "a", Row: "[1]"},
		},
		{
			clashCase{sources: []string{"a=Bob", "b=Bob"}, unique: plan.Unique{Rule: plan.RuleMatch}}, // other tags
			report.ClashError{Unique: []string{"name"}, Values: []string{"Bob"}, Source: "b", Row: "[1]", With: "a", Column: "tag"},
		},
		{
			clashCase{kept: true, sources: []string{"a=Ann", "b=Bob"}, unique: plan.Unique{Rule: plan.RuleSuffix}},
			report.ClashError{Unique: []string{"id"}, Values: []string{"1"}, Source: "b", Row: "[1]", With: "a"},
		},
		{
			clashCase{kept: true, target: "Cy", sources: []string{"a=Ann"}, unique: plan.Unique{Rule: plan.RuleSuffix}},
			report.ClashError{Unique: []string{"id"}, Values: []string{"1"}, Source: "a", Row: "[1]"},
		},
	} {
		m, table := tt.merge(t, a, false)
		tt.want.Table = table
		forecast, err := m.DryRun(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		before := readNames(t, a.target, table)
		_, run := m.Run(t.Context())
		for by, err := range map[string]error{"dry run": forecast.Err(), "run": run} {
			var clash *report.ClashError
			if !errors.As(err, &clash) || fmt.Sprint(*clash) != fmt.Sprint(tt.want) {
				t.Errorf("%s: got %v, want %v", by, err, &tt.want)
			}
		}
		if after := readNames(t, a.target, table); !maps.Equal(before, after) || forecast.Problems != 1 {
			t.Errorf("got %v and %d problems, want %v and 1", after, forecast.Problems, slices.Sorted(maps.Keys(before)))
		}
	}
}
