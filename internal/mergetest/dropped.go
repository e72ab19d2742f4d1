package mergetest

import (
	"database/sql"
	"fmt"
	"slices"
	"testing"

	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// droppedRows has rows that clash with others which are left out, in a table whose rows have no ids: no row is merged into one
// that is not copied.
func droppedRows(t *testing.T, e Engine) {
	g := &game{Engine: e}
	target, eu, us := e.Open(t), e.Open(t), e.Open(t)
	for _, db := range []*sql.DB{target, eu, us} {
		g.exec(t, db, "CREATE TABLE players (id BIGINT NOT NULL PRIMARY KEY)",
			"CREATE TABLE settings (name VARCHAR(20) NOT NULL, place INT NOT NULL, owner_id BIGINT NOT NULL, PRIMARY KEY (name, place))")
	}
	g.exec(t, eu, "INSERT INTO players VALUES (1)", "INSERT INTO settings VALUES ('sound', 1, 99), ('music', 1, 1)")
	g.exec(t, us, "INSERT INTO players VALUES (5)", "INSERT INTO settings VALUES ('sound', 1, 5), ('music', 1, 5)")
	p := &plan.Plan{Version: 1, Dialect: e.Dialect.String(), Sources: []string{"eu", "us"}, Tables: []*plan.Table{
		{Name: "players", PrimaryKey: []string{"id"}, Columns: []*plan.Column{{Name: "id", Type: "bigint", Role: plan.RoleKey}}},
		{
			Name: "settings", PrimaryKey: []string{"name", "place"}, Unique: []*plan.Unique{{Columns: []string{"name", "place"}, Rule: plan.RuleKeep}},
			Columns: []*plan.Column{
				{Name: "name", Type: "varchar(20)", Role: plan.RolePlain, Decided: true},
				{Name: "place", Type: "int", Role: plan.RolePlain, Decided: true},
				{Name: "owner_id", Type: "bigint", Role: plan.RoleReference, Refers: []*plan.Reference{{Table: "players"}}, Orphans: plan.OrphansDrop},
			},
		},
	}}
	m, err := merge.New(e.Dialect, target, []merge.Source{{Name: "eu", DB: eu}, {Name: "us", DB: us}}, p, merge.Config{})
	if err != nil {
		t.Fatal(err)
	}
	forecast, err := m.DryRun(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found, err := m.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range found.Tables {
		f := forecast.Tables[slices.IndexFunc(forecast.Tables, func(f report.TableForecast) bool { return f.Table == row.Table && f.Source == row.Source })]
		if got, want := fmt.Sprint(f.Table, f.Source, f.Merged, f.Dropped), fmt.Sprint(row.Table, row.Source, row.Merged, row.Dropped); got != want {
			t.Errorf("dry run says %s, and the run did %s", got, want)
		}
	}
	for name, want := range map[string]int64{"sound": 5, "music": 1} {
		var got sql.NullInt64
		if err := target.QueryRowContext(t.Context(), "SELECT MAX(owner_id) FROM settings WHERE name = '"+name+"'").Scan(&got); err != nil || got.Int64 != want {
			t.Errorf("%s: got the owner %v, %v; want %d", name, got, err, want)
		}
	}
}
