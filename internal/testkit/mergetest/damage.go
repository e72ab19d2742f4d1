package mergetest

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/report"
)

// A damage is something that verification must find. Each statement of undo
// undoes one of do.
type damage struct {
	name     string
	in       *sql.DB
	do, undo []string
	check    report.Check
	table    string
	source   string
	column   string
	row      string
	reason   string // part of it
}

func (g *game) damages(t *testing.T, m *merge.Merge) {
	ids := map[string]int64{}
	for _, name := range []string{"Ann_old", "Cy", "Bobby"} {
		var id int64
		if err := g.target.QueryRowContext(t.Context(), "SELECT id FROM players WHERE name = '"+name+"'").Scan(&id); err != nil {
			t.Fatal(err)
		}
		ids[name] = id
	}
	var bag, table string
	if err := g.target.QueryRowContext(t.Context(), "SELECT bag FROM players WHERE name = 'Ann_old'").Scan(&bag); err != nil {
		t.Fatal(err)
	}
	if err := g.target.QueryRowContext(t.Context(), "SELECT source_table FROM snow_merge_source_tables WHERE source = 'old' AND tbl = 'players'").Scan(&table); err != nil {
		t.Fatal(err)
	}
	in := func(text string) string {
		for name, id := range ids {
			text = strings.ReplaceAll(text, "{"+name+"}", fmt.Sprint(id))
		}
		return strings.NewReplacer("{table}", table, "{bag}", bag).Replace(text)
	}
	for i, d := range []damage{
		{
			name: "another value", in: g.target, check: report.CheckRows, source: "old", table: "players", column: "gold", row: "[3]", reason: "want ",
			do: []string{"UPDATE players SET gold = gold + 1 WHERE id = {Cy}"}, undo: []string{"UPDATE players SET gold = gold - 1 WHERE id = {Cy}"},
		}, {
			name: "NULL", in: g.target, check: report.CheckRows, source: "new", table: "items", column: "kind", row: "[3000001]", reason: "got NULL",
			do: []string{"UPDATE items SET kind = NULL WHERE id = 3000001"}, undo: []string{"UPDATE items SET kind = 'sword' WHERE id = 3000001"},
		}, {
			name: "a row is missing", in: g.target, check: report.CheckRows, source: "new", table: "items", row: "[3000001]", reason: "missing",
			do: []string{"DELETE FROM items WHERE id = 3000001"}, undo: []string{"INSERT INTO items VALUES (3000001, 2000001, 'sword')"},
		}, {
			name: "a row too many", in: g.target, check: report.CheckRows, table: "items", reason: "1 rows are there that no source has",
			do: []string{"INSERT INTO items VALUES (3, 2000001, 'shield')"}, undo: []string{"DELETE FROM items WHERE id = 3"},
		}, {
			name: "a row from before is gone", in: g.target, check: report.CheckRows, table: "players", reason: "1 rows are gone that the target had before",
			do: []string{"DELETE FROM players WHERE id = 77"}, undo: []string{"INSERT INTO players VALUES (77, NULL, 1, 'Dee', 1, NULL, NULL, NULL, NULL)"},
		}, {
			name: "an old id in a column", in: g.target, check: report.CheckReference, source: "old", table: "players", column: "inviter", row: "[3]",
			reason: `no row of table "players" has the id "1": it is an old id, whose row has {Ann_old} now`,
			do:     []string{"UPDATE players SET inviter = 1 WHERE id = {Cy}"}, undo: []string{"UPDATE players SET inviter = 2000001 WHERE id = {Cy}"},
		}, {
			name: "the id of another row", in: g.target, check: report.CheckRows, source: "old", table: "players", column: "inviter", row: "[3]", reason: "want 2000001, got 77",
			do: []string{"UPDATE players SET inviter = 77 WHERE id = {Cy}"}, undo: []string{"UPDATE players SET inviter = 2000001 WHERE id = {Cy}"},
		}, {
			name: "an old id in JSON", in: g.target, check: report.CheckReference, source: "old", table: "players", column: "bag", row: "[1]", reason: `"3"`,
			do: []string{`UPDATE players SET bag = '{"pet": {"from": 2000001}, "seen": ["3", "{Ann_old}"]}' WHERE id = {Ann_old}`}, undo: []string{"UPDATE players SET bag = '{bag}' WHERE id = {Ann_old}"},
		}, {
			name: "no JSON", in: g.target, check: report.CheckReference, source: "old", table: "players", reason: "column \"bag\"",
			do: []string{`UPDATE players SET bag = '{"pet"' WHERE id = {Ann_old}`}, undo: []string{"UPDATE players SET bag = '{bag}' WHERE id = {Ann_old}"},
		}, {
			name: "an old id in a list", in: g.target, check: report.CheckReference, source: "old", table: "players", column: "friends", row: "[4]", reason: `"1"`,
			do: []string{"UPDATE players SET friends = '{Ann_old},1' WHERE id = {Bobby}"}, undo: []string{"UPDATE players SET friends = '{Ann_old}' WHERE id = {Bobby}"},
		}, {
			name: "the row that others were merged into is missing", in: g.target, check: report.CheckMap, source: "old", table: "accounts", row: "[2]", reason: "merged into",
			do: []string{"DELETE FROM accounts WHERE id = 1000001"}, undo: []string{"INSERT INTO accounts VALUES (1000001, 'b@x', 'fr')"},
		}, {
			name: "two rows with one id", in: g.target, check: report.CheckMap, table: "players", reason: "2 rows have got this id",
			do: []string{"UPDATE snow_merge_map SET new_id = {Ann_old} WHERE source_table = {table} AND old_id = 3"}, undo: []string{"UPDATE snow_merge_map SET new_id = {Cy} WHERE source_table = {table} AND old_id = 3"},
		}, {
			name: "ids in another order", in: g.target, check: report.CheckOrder, source: "old", table: "players", row: "[3]", reason: "not above",
			do: []string{"UPDATE snow_merge_map SET new_id = 5 WHERE source_table = {table} AND old_id = 3"}, undo: []string{"UPDATE snow_merge_map SET new_id = {Cy} WHERE source_table = {table} AND old_id = 3"},
		}, {
			name: "the map has too many", in: g.target, check: report.CheckMap, source: "old", table: "players", reason: "the map says that 4 rows have a new id, but the source has 3 such rows",
			do: []string{"INSERT INTO snow_merge_map (source_table, old_id, new_id, kind) VALUES ({table}, 9, 9, 0)"}, undo: []string{"DELETE FROM snow_merge_map WHERE source_table = {table} AND old_id = 9"},
		}, {
			name: "a source changes", in: g.old, check: report.CheckSource, source: "old", table: "players", row: "[4]", reason: "have changed since they were copied",
			do: []string{"UPDATE players SET gold = 31 WHERE id = 3"}, undo: []string{"UPDATE players SET gold = 30 WHERE id = 3"},
		}, {
			name: "a source has a row more", in: g.old, check: report.CheckSource, source: "old", table: "items", row: "[4]", reason: "the row is new",
			do: []string{"INSERT INTO items VALUES (4, 1, 'shield')"}, undo: []string{"DELETE FROM items WHERE id = 4"},
		}, {
			name: "a source has a row less", in: g.old, check: report.CheckSource, source: "old", table: "items", row: "[3]", reason: "there were 3 and are 2",
			do: []string{"DELETE FROM items WHERE id = 1"}, undo: []string{"INSERT INTO items VALUES (1, 2, 'sword')"},
		}, {
			name: "an assertion", in: g.target, check: report.CheckAssertion, reason: "hats: want 1, got 2",
			do: []string{"UPDATE items SET kind = 'hat' WHERE id = 3000001"}, undo: []string{"UPDATE items SET kind = 'sword' WHERE id = 3000001"},
		}, {
			name: "a batch was never copied", in: g.target, check: report.CheckComplete, source: "old", table: "players", row: "[4]", reason: "not copied",
			do:   []string{"UPDATE snow_merge_chunks SET seq = 9 WHERE source_table = {table} AND phase = 'copy'"},
			undo: []string{"UPDATE snow_merge_chunks SET seq = 1 WHERE source_table = {table} AND phase = 'copy'"},
		},
	} {
		if !g.has(i) {
			continue
		}
		t.Run(d.name, func(t *testing.T) {
			for _, text := range d.do {
				g.exec(t, d.in, in(text))
			}
			result, err := m.Verify(t.Context())
			for _, text := range d.undo {
				g.exec(t, d.in, in(text))
			}
			if err != nil {
				t.Fatal(err)
			}
			var failed *report.VerifyError
			if err := result.Err(); !errors.As(err, &failed) {
				t.Fatalf("got %v, want a *VerifyError", err)
			}
			found := false
			for _, f := range result.Failures {
				found = found || f.Check == d.check && f.Table == d.table && f.Source == d.source && f.Column == d.column && f.Row == d.row &&
					strings.Contains(f.Reason, in(d.reason))
			}
			if !found {
				text, _ := json.MarshalIndent(result.Failures, "", "\t")
				t.Errorf("got %s\nwant check %q, source %q, table %q, column %q, row %q, with the reason %q", text, d.check, d.source, d.table, d.column, d.row, in(d.reason))
			}
		})
	}
	if result, err := m.Verify(t.Context()); err != nil || result.Err() != nil {
		t.Errorf("after all is undone: got %v, %v", err, result.Err())
	}
}
