//go:build unix

package merge_test

import (
	"database/sql"
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

var guildServer = []string{
	"CREATE TABLE heroes (id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, guild_id INT UNSIGNED, name VARCHAR(40) NOT NULL UNIQUE, origin VARCHAR(40), level INT)",
	"CREATE TABLE guilds (id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, name VARCHAR(40) NOT NULL UNIQUE)",
	"CREATE TABLE orders (id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, origin VARCHAR(40))", // nothing refers to it, so that its ids may be in packs
}

const chainRows, chainOrders = 150, 1200

// guildRows are rows whose column origin says which row of which server they are. Their names clash with the
// names of all others.
func guildRows(server string) []string {
	return []string{
		fmt.Sprintf("INSERT INTO heroes SELECT seq * 2, 1 + seq %% 5, CONCAT('h', seq), CONCAT('%s ', seq * 2), seq %% 50 FROM seq_1_to_%d", server, chainRows),
		"INSERT INTO guilds SELECT seq, CONCAT('g', seq) FROM seq_1_to_5",
		fmt.Sprintf("INSERT INTO orders SELECT seq * 3, CONCAT('%s ', seq * 3) FROM seq_1_to_%d", server, chainOrders),
	}
}

// decideGuilds decides on a plan for guild servers: heroes of one level go, guilds of one name become one.
func (f *fixture) decideGuilds(ids plan.IDs, level int, keeping ...string) {
	f.Helper()
	f.plan.Questions = nil
	for _, t := range f.plan.Tables {
		t.IDs = ids
		t.NewIDs = slices.DeleteFunc(slices.Clone(f.plan.Sources), func(name string) bool { return slices.Contains(keeping, name) })
	}
	guild := f.column("heroes", "guild_id")
	guild.Role, guild.Refers, guild.Suspects = plan.RoleReference, []*plan.Reference{{Table: "guilds"}}, nil
	f.column("heroes", "level").Role = plan.RolePlain
	f.table("heroes").WithoutRows = []*plan.Condition{{Where: fmt.Sprintf("level = %d", level)}}
	f.byName("heroes").Rule, f.byName("guilds").Rule = plan.RuleSuffix, plan.RuleKeep
	f.config.PackRows = 1000
	f.tables()
}

// byName returns the unique key of a table that is its name.
func (f *fixture) byName(table string) *plan.Unique {
	f.Helper()
	unique := f.table(table).Unique
	return unique[slices.IndexFunc(unique, func(u *plan.Unique) bool { return slices.Equal(u.Columns, []string{"name"}) })]
}

// again is a merge with the target of another one as its first source.
func (f *fixture) again(name string, schema []string, server string) *fixture {
	f.Helper()
	next := newFixture(f.T, "", schema, guildRows(server))
	next.sources = append([]merge.Source{{Name: name, DB: f.target}}, next.sources...)
	next.inspect()
	next.config.Registry = f.config.Registry // rows of both have ids of one namespace
	return next
}

// wantChain fails unless each row of a server from before is found by its old id, where its origin is.
func (f *fixture) wantChain(source, server string, levels ...int) {
	f.Helper()
	ids := map[string]string{}
	for _, line := range strings.Split(f.rows(f.target, "SELECT CONCAT('heroes ', origin), id FROM heroes UNION ALL SELECT CONCAT('orders ', origin), id FROM orders UNION ALL SELECT CONCAT('guilds x ', SUBSTR(name, 2)), id FROM guilds"), "\n") {
		at := strings.LastIndexByte(line, ' ')
		ids[line[:at]] = line[at+1:]
	}
	var text strings.Builder
	if err := merge.Export(f.Context(), sqlsnow.MySQL, f.target, &text); err != nil {
		f.Fatal(err)
	}
	lines, err := csv.NewReader(strings.NewReader(text.String())).ReadAll()
	if err != nil {
		f.Fatal(err)
	}
	exported := map[string]string{}
	for _, line := range lines {
		if line[0] == source {
			exported[line[1]+" "+line[2]] = line[3]
		}
	}
	check := func(table string, old, every int, origin string, gone bool) {
		want := ids[table+" "+origin]
		if gone {
			want = ""
		}
		if got, ok := exported[fmt.Sprint(table, " ", old)]; !ok || got != want {
			f.Errorf("export of %s %s %d: got %q, %t, want %q", source, table, old, got, ok, want)
		}
		if every > 1 && old%every != 0 {
			return
		}
		got, err := merge.Lookup(f.Context(), sqlsnow.MySQL, f.target, "/"+source, table, int64(old))
		if gone && !errors.Is(err, report.ErrNotFound) || !gone && (err != nil || strconv.FormatInt(int64(got), 10) != want) {
			f.Errorf("look-up of %s %s %d: got %d, %v, want %q", source, table, old, got, err, want)
		}
	}
	for n := 1; n <= chainRows; n++ {
		check("heroes", 2*n, 7, fmt.Sprint(server, " ", 2*n), slices.Contains(levels, n%50))
	}
	for n := 1; n <= chainOrders; n++ {
		check("orders", 3*n, 97, fmt.Sprint(server, " ", 3*n), false)
	}
	for n := 1; n <= 5; n++ {
		check("guilds", n, 1, fmt.Sprint("x ", n), false)
	}
	if _, err := merge.Lookup(f.Context(), sqlsnow.MySQL, f.target, "/"+source, "heroes", 3); !errors.Is(err, report.ErrNotFound) {
		f.Errorf("look-up of no row: %v", err)
	}
}

// A target that is a source of the next merge, and that one's of the next: old ids are found through all of them,
// when the sources are gone.
func TestChain(t *testing.T) {
	for _, tt := range []struct {
		first, second plan.IDs
		keeps         bool // the first source of the second merge keeps its ids
		phase         string
	}{
		{plan.IDsSnow, plan.IDsSnow, false, "inherit"},
		{plan.IDsSnow, plan.IDsSnow, true, ""},
		{plan.IDsOffset, plan.IDsDense, false, "inherit"},
		{plan.IDsDense, plan.IDsOffset, false, "mint"},
	} {
		t.Run(fmt.Sprint(tt.first, tt.second, tt.keeps, tt.phase), func(t *testing.T) {
			f := newFixture(t, "", guildServer, guildRows("eu"), guildRows("us"))
			f.decideGuilds(tt.first, 0)
			if err := f.run(); err != nil {
				t.Fatal(err)
			}
			if got := f.rows(f.target, "SELECT COUNT(*) FROM snow_merge_packs"); got == "0" {
				t.Error("no ids are in packs")
			}
			for _, s := range f.sources { // their servers are gone
				s.DB.Close()
			}

			second := f.again("m12", guildServer, "asia")
			var keeping []string
			if tt.keeps {
				keeping = []string{"m12"}
			}
			second.decideGuilds(tt.second, 1, keeping...)
			forecast, err := second.merge().DryRun(t.Context())
			if err == nil {
				err = forecast.Err()
			}
			if err != nil {
				t.Fatal(err)
			}
			if tt.phase != "" {
				second.interrupt(tt.phase, 1)
			}
			if err := second.run(); err != nil {
				t.Fatal(err)
			}
			if err := second.run(); err != nil { // again, it only verifies
				t.Fatal(err)
			}
			second.wantLedgers()
			f.target.Close()
			for source, server := range map[string]string{"m12/s1": "eu", "m12/s2": "us"} {
				second.wantChain(source, server, 0, 1)
			}

			third := second.again("m123", guildServer, "sa")
			third.decideGuilds(tt.second, 2)
			if err := third.run(); err != nil {
				t.Fatal(err)
			}
			second.target.Close()
			for source, server := range map[string]string{"m123/m12/s1": "eu", "m123/m12/s2": "us", "m123/s1": "asia"} {
				levels := []int{0, 1, 2}
				if server == "asia" {
					levels = levels[1:]
				}
				third.wantChain(source, server, levels...)
			}
			if server := "sa"; third.rows(third.target, "SELECT COUNT(*) FROM heroes WHERE origin LIKE '"+server+" %'") != "147" {
				t.Error("rows of the last server are missing")
			}
			third.wantNames()
		})
	}
}

// wantLedgers fails unless the ledgers of the first merge and of the second have the same of the first, by SQL
// of its own.
func (f *fixture) wantLedgers() {
	f.Helper()
	const had = "SELECT old_id, new_id, kind FROM snow_merge_map WHERE source_table %s ORDER BY 1, 2, 3"
	want := f.rows(f.sources[0].DB, fmt.Sprintf(had, "> 0"))
	if got := f.rows(f.target, fmt.Sprintf(had, "IN (SELECT source_table FROM snow_merge_earlier)")); got != want || got == "" {
		f.Errorf("the map of the first merge is not the same: %d characters, want %d", len(got), len(want))
	}
	const packs = "SELECT last_old, size, SHA2(old_ids, 256), SHA2(new_ids, 256) FROM snow_merge_packs WHERE source_table %s ORDER BY 1, 4"
	want = f.rows(f.sources[0].DB, fmt.Sprintf(packs, "> 0"))
	if got := f.rows(f.target, fmt.Sprintf(packs, "IN (SELECT source_table FROM snow_merge_earlier)")); got != want || got == "" {
		f.Errorf("the packs of the first merge are not the same: %d characters, want %d", len(got), len(want))
	}
}

// wantNames fails unless names tell the server and the merge that are meant, and lists have all merges.
func (f *fixture) wantNames() {
	f.Helper()
	_, err := merge.Lookup(f.Context(), sqlsnow.MySQL, f.target, "s1", "heroes", 4)
	var many *report.AmbiguousSourceError
	if !errors.As(err, &many) || !slices.Equal(many.Ways, []string{"/m123/m12/s1", "/m123/s1", "/s1"}) {
		f.Errorf("s1: got %v", err)
	} else {
		for _, way := range many.Ways {
			if _, err := merge.Lookup(f.Context(), sqlsnow.MySQL, f.target, way, "heroes", 8); err != nil {
				f.Errorf("%s: %v", way, err)
			}
		}
	}
	for name, want := range map[string]string{"s2": "us 8", "m12/s2": "us 8", "m12/s1": "eu 8", "m123/s1": "asia 8", "/s1": "sa 8"} {
		id, err := merge.Lookup(f.Context(), sqlsnow.MySQL, f.target, name, "heroes", 8)
		if err != nil {
			f.Errorf("%s: %v", name, err)
		} else if got := f.rows(f.target, fmt.Sprintf("SELECT origin FROM heroes WHERE id = %d", id)); got != want {
			f.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	for name, want := range map[string]string{"m12/s9": "was not merged", "2/s1": "was not merged", "/m12/s1": "was not merged"} {
		if _, err := merge.Lookup(f.Context(), sqlsnow.MySQL, f.target, name, "heroes", 8); err == nil || !strings.Contains(err.Error(), want) {
			f.Errorf("%s: got %v", name, err)
		}
	}
	var gone *report.LeftOutError
	// levels 0, 1 and 2: in the first, second and third merge
	for name, old := range map[string]int64{"m12/s1": 100, "m12/s2": 102, "m123/s1": 104} {
		if _, err := merge.Lookup(f.Context(), sqlsnow.MySQL, f.target, name, "heroes", old); !errors.As(err, &gone) || gone.Reason != "without_rows 1" {
			f.Errorf("%s %d: got %v", name, old, err)
		}
	}
	var left, renamed strings.Builder
	if err := errors.Join(merge.ExportLeftOut(f.Context(), sqlsnow.MySQL, f.target, &left), merge.ExportRenamed(f.Context(), sqlsnow.MySQL, f.target, &renamed)); err != nil {
		f.Fatal(err)
	}
	if !strings.Contains(left.String(), "\nm123/m12/s1,heroes,100,without_rows 1\n") || !strings.Contains(left.String(), "\nm123/m12,heroes,") {
		f.Errorf("rows left out:\n%s", left.String())
	}
	id, err := merge.Lookup(f.Context(), sqlsnow.MySQL, f.target, "m12/s2", "heroes", 8)
	if want := fmt.Sprintf("\nm123/m12/s2,heroes,8,%d,name,h4,h4_s2\n", id); err != nil || !strings.Contains(renamed.String(), want) {
		f.Errorf("%v: no line %q in\n%.500s", err, want, renamed.String())
	}
}

// What was changed in the ledger of either database is found, a row that was deleted between two merges has no id,
// and a source with an unfinished merge is refused.
func TestChainFaults(t *testing.T) {
	f := newFixture(t, "", guildServer, guildRows("eu"))
	f.decideGuilds(plan.IDsSnow, 0)
	f.interrupt("copy", 1)
	second := f.again("m1", guildServer, "asia")
	second.decideGuilds(plan.IDsDense, 1)
	forecast, err := second.merge().DryRun(t.Context())
	if err == nil {
		err = forecast.Err()
	}
	if err == nil || !strings.Contains(err.Error(), "another run is unfinished: it was to make this source") {
		t.Errorf("dry run: got %v", err)
	}
	if err := second.run(); !errors.Is(err, report.ErrUnfinished) {
		t.Errorf("run: got %v", err)
	}
	if err := f.run(); err != nil {
		t.Fatal(err)
	}
	f.exec(f.target, "DELETE FROM heroes WHERE origin = 'eu 8'")
	if err := second.run(); err != nil {
		t.Fatal(err)
	}
	if _, err := merge.Lookup(t.Context(), sqlsnow.MySQL, second.target, "m1/s1", "heroes", 8); !errors.Is(err, report.ErrNotFound) {
		t.Errorf("a row that was deleted: %v", err)
	}
	const earlier = " WHERE source_table IN (SELECT source_table FROM snow_merge_earlier)"
	for _, change := range []struct{ do, undo string }{
		{"UPDATE snow_merge_map SET new_id = new_id + 1" + earlier + " AND old_id = 20", "UPDATE snow_merge_map SET new_id = new_id - 1" + earlier + " AND old_id = 20"},
		{"UPDATE snow_merge_changes SET after_value = CONCAT(after_value, 'x')" + earlier + " AND row_key = '[100]'", "UPDATE snow_merge_changes SET after_value = 'without_rows 1'" + earlier + " AND row_key = '[100]'"},
		{"UPDATE snow_merge_earlier SET tbl = 'nothing' WHERE tbl = 'heroes'", "UPDATE snow_merge_earlier SET tbl = 'heroes' WHERE tbl = 'nothing'"},
	} {
		f.exec(second.target, change.do)
		var failed *report.VerifyError
		if err := second.run(); !errors.As(err, &failed) {
			t.Errorf("%s: got %v", change.do, err)
		}
		f.exec(second.target, change.undo)
		if err := second.run(); err != nil {
			t.Errorf("%s: got %v", change.undo, err)
		}
	}
}

// A third server comes into a target that is merged: the first two are found as before.
func TestChainAndThirdSource(t *testing.T) {
	f := newFixture(t, "", guildServer, guildRows("eu"), guildRows("us"))
	f.decideGuilds(plan.IDsDense, 0)
	f.table("heroes").Leave = 1000
	if err := f.run(); err != nil {
		t.Fatal(err)
	}
	second := f.again("m12", guildServer, "asia")
	second.decideGuilds(plan.IDsDense, 0)
	if err := second.run(); err != nil {
		t.Fatal(err)
	}
	later := newFixture(t, "", guildServer, guildRows("sa"))
	later.sources[0].Name, later.target = "s3", second.target
	later.inspect()
	later.plan.Questions = nil
	guild := later.column("heroes", "guild_id")
	guild.Role, guild.Refers, guild.Suspects = plan.RoleReference, []*plan.Reference{{Table: "guilds"}}, nil
	later.byName("heroes").Rule, later.byName("guilds").Rule = plan.RuleSuffix, plan.RuleKeep
	for _, table := range later.plan.Tables {
		table.IDs = plan.IDsDense
	}
	if err := later.run(); err != nil {
		t.Fatal(err)
	}
	second.wantChain("m12/s1", "eu", 0)
	second.wantChain("m12/s2", "us", 0)
	second.wantChain("s3", "sa")
}

// The source of the next merge has another database beside that which an earlier merge has made, and the plan has
// names for both.
func TestChainIntoDatabases(t *testing.T) {
	f := newFixture(t, "", guildServer, guildRows("eu"))
	f.decideGuilds(plan.IDsDense, 0)
	if err := f.run(); err != nil {
		t.Fatal(err)
	}
	f.exec(f.target, "CREATE DATABASE m1_auth", "CREATE TABLE m1_auth.accounts (id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY)", "INSERT INTO m1_auth.accounts VALUES (7)")
	auth, err := sql.Open("mysql", f.dsn("m1_auth"))
	if err != nil {
		t.Fatal(err)
	}
	defer auth.Close()
	databases := map[string]string{"auth": "m1_auth", "chars": f.rows(f.target, "SELECT DATABASE()")}

	second := newFixture(t, "", guildServer, nil)
	second.exec(second.target, "CREATE DATABASE t_auth", "CREATE DATABASE t_chars")
	second.config.Databases = map[string]string{"auth": "t_auth", "chars": "t_chars"}
	second.sources = []merge.Source{{Name: "m1", DB: f.target, Databases: databases}}
	second.inspect()
	second.plan.Questions = nil
	for _, table := range second.plan.Tables {
		table.IDs = plan.IDsDense
		for _, c := range table.Columns {
			if c.Suspects = nil; c.Role != plan.RoleKey {
				c.Role, c.Refers = plan.RolePlain, nil
			}
		}
	}
	statements, err := second.plan.SchemaIn(second.config.Databases)
	if err != nil {
		t.Fatal(err)
	}
	second.exec(second.target, statements...)
	second.sources[0].DB = auth
	if err := second.run(); err == nil || !strings.Contains(err.Error(), "has the ledger of an earlier merge: let the DSN of the source name that database") {
		t.Errorf("the ledger is in another database: got %v", err)
	}
	second.sources[0].DB = f.target
	if err := second.run(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"m1/s1", "s1"} {
		id, err := merge.Lookup(t.Context(), sqlsnow.MySQL, second.target, name, "heroes", 8)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := second.rows(second.target, fmt.Sprintf("SELECT origin FROM t_chars.heroes WHERE id = %d", id)); got != "eu 8" {
			t.Errorf("%s: got %s", name, got)
		}
	}
}
