//go:build unix

package mergetest_test

import (
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
	"github.com/shardsnow/snow/internal/testkit/mergetest"
	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// Sources may have tables without transactions, with the keys that only those have. A target must not.
func TestMyISAM(t *testing.T) {
	server := dbtest.MariaDB(t)
	open := func(statements ...string) *sql.DB {
		t.Helper()
		db := mergetest.Open(t, "mysql", server.DSN(server.CreateDatabase(t)))
		for _, text := range statements {
			if _, err := db.ExecContext(t.Context(), text); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
		}
		return db
	}
	old, target := open(
		"CREATE TABLE guilds (realm INT NOT NULL, guild_id INT UNSIGNED NOT NULL AUTO_INCREMENT, master INT UNSIGNED, PRIMARY KEY (realm, guild_id), UNIQUE (guild_id)) ENGINE=MyISAM",
		"CREATE TABLE bags (guild_id INT UNSIGNED, item VARCHAR(20)) ENGINE=MyISAM",
		"INSERT INTO guilds VALUES (2, 1, 17), (1, 2, NULL), (1, 7, 17)",
		"INSERT INTO bags VALUES (1, 'bow'), (1, 'bow'), (7, 'bow'), (0, NULL)",
	), open()
	source := merge.Source{Name: "old", DB: old}
	p, err := merge.Inspect(t.Context(), sqlsnow.MySQL, source)
	if err != nil {
		t.Fatal(err)
	}
	guilds, bags := p.Table("guilds"), p.Table("bags")
	if key := guilds.Key(); key == nil || key.Name != "guild_id" || len(key.Suspects) > 0 || len(guilds.NewIDs) != 1 {
		t.Errorf("got the key %+v and new ids for %q, want guild_id, which the source counts up", key, guilds.NewIDs)
	}
	if !strings.Contains(strings.Join(guilds.Notes, "; "), "engine MyISAM, without transactions") {
		t.Errorf("got the notes %q, want one on the engine", guilds.Notes)
	}
	for _, table := range p.Tables {
		for _, c := range table.Columns {
			c.Decided = true
			if c.Role != plan.RoleKey {
				c.Role, c.Refers = plan.RolePlain, nil
			}
		}
	}
	of := bags.Column("guild_id")
	of.Role, of.Refers, of.None = plan.RoleReference, []*plan.Reference{{Table: "guilds"}}, []string{"0"}
	statements, err := p.Schema()
	if err != nil {
		t.Fatal(err)
	}
	if err := sqlsnow.Migrate(t.Context(), target, sqlsnow.MySQL); err != nil {
		t.Fatal(err)
	}
	if err := sqlsnow.Init(t.Context(), target, sqlsnow.MySQL, sqlsnow.Namespace{Name: "game", Layout: snow.DefaultLayout(), Workers: 16}); err != nil {
		t.Fatal(err)
	}
	for _, text := range append(statements, "ALTER TABLE bags ENGINE=MyISAM") {
		if _, err := target.ExecContext(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	m, err := merge.New(sqlsnow.MySQL, target, []merge.Source{source}, p, merge.Config{Namespace: "game"})
	if err != nil {
		t.Fatal(err)
	}
	var bad *plan.Error
	forecast, err := m.DryRun(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := forecast.Err(); !errors.As(err, &bad) || bad.Table != "bags" || len(forecast.Stops) != 1 {
		t.Errorf("dry run: got %v, want an error of table bags alone", err)
	}
	if _, err := m.Run(t.Context()); !errors.As(err, &bad) || bad.Table != "bags" {
		t.Errorf("run: got %v, want an error of table bags", err)
	}
	if _, err := target.ExecContext(t.Context(), "ALTER TABLE bags ENGINE=InnoDB"); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	var got string
	const query = `SELECT GROUP_CONCAT(line ORDER BY line SEPARATOR '; ') FROM (SELECT CONCAT_WS(' ', COALESCE(g.realm, b.guild_id), g.master, b.item, COUNT(*)) AS line
		FROM bags AS b LEFT JOIN guilds AS g ON g.guild_id = b.guild_id GROUP BY b.guild_id, g.realm, g.master, b.item) AS found`
	if err := target.QueryRowContext(t.Context(), query).Scan(&got); err != nil || got != "0 1; 1 17 bow 1; 2 17 bow 2" {
		t.Errorf("got %q (%v)", got, err)
	}
	for _, id := range []int64{1, 2, 7} {
		if after, err := merge.Lookup(t.Context(), sqlsnow.MySQL, target, "old", "guilds", id); err != nil || after < 1<<40 {
			t.Errorf("guild %d: got %d (%v)", id, after, err)
		}
	}
	for _, write := range []string{"UPDATE bags SET item = 'axe' WHERE guild_id = 7", "UPDATE guilds SET master = 18 WHERE guild_id = 2"} {
		if _, err := old.ExecContext(t.Context(), write); err != nil {
			t.Fatal(err)
		}
		table := strings.Fields(write)[1]
		found, err := m.Verify(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		noticed := false
		for _, f := range found.Failures {
			noticed = noticed || f.Table == table && f.Check == report.CheckSource
		}
		if !noticed {
			t.Errorf("%s: got %v, want a change of the source", write, found.Failures)
		}
	}
}
