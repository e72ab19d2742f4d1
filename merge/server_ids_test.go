//go:build unix

package merge_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge/report"
)

// What is wrong with rows and their new ids is found where the server compares them.
func TestServerVerifiesIDs(t *testing.T) {
	f := newFixture(t, "", []string{"CREATE TABLE orders (id INT PRIMARY KEY, created_at DATETIME, note VARCHAR(9))"}, []string{
		"INSERT INTO orders SELECT seq * 2, TIMESTAMPADD(MINUTE, seq, '2024-05-01'), seq FROM seq_1_to_3000",
	})
	f.plan.Tables[0].Created = "created_at"
	f.tables()
	if err := f.run(); err != nil {
		t.Fatal(err)
	}
	id := func(old string) string {
		return f.rows(f.target, "SELECT new_id FROM snow_merge_map WHERE old_id = "+old)
	}
	move := func(to string) [2]string { // with its row, so that nothing else is wrong
		was := id("1000")
		to = f.rows(f.target, "SELECT "+to)
		return [2]string{
			"UPDATE orders, snow_merge_map SET orders.id = " + to + ", new_id = " + to + " WHERE orders.id = " + was + " AND new_id = " + was,
			"UPDATE orders, snow_merge_map SET orders.id = " + was + ", new_id = " + was + " WHERE orders.id = " + to + " AND new_id = " + to,
		}
	}
	for name, test := range map[string]struct {
		do    [2]string // and undo
		check report.Check
		row   string
		text  string
	}{
		"order":           {move(id("996") + " + 1"), report.CheckOrder, "[1000]", "not above"},
		"another worker":  {move(id("1000") + " + 4096"), report.CheckMap, "[1000]", "not one of those that were reserved"},
		"below the range": {move("7"), report.CheckMap, "[1000]", "not one of those that were reserved"},
		"a value":         {[2]string{"UPDATE orders SET note = 'x' WHERE note = '500'", "UPDATE orders SET note = '500' WHERE note = 'x'"}, report.CheckRows, "[1000]", `got "x"`},
		"no row of the source": {[2]string{
			"INSERT INTO snow_merge_map SELECT source_table, 1001, 3, 1 FROM snow_merge_source_tables", "DELETE FROM snow_merge_map WHERE old_id = 1001",
		}, report.CheckMap, "", "1 rows are merged"},
		"after the last row": {[2]string{
			"INSERT INTO snow_merge_map SELECT source_table, 9001, 3, 0 FROM snow_merge_source_tables", "DELETE FROM snow_merge_map WHERE old_id = 9001",
		}, report.CheckMap, "", "3001 rows have a new id"},
	} {
		t.Run(name, func(t *testing.T) {
			f.exec(f.target, test.do[0])
			found, err := f.merge().Verify(t.Context())
			f.exec(f.target, test.do[1])
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(found.Failures, func(got report.Failure) bool {
				return got.Check == test.check && got.Row == test.row && strings.Contains(got.Reason, test.text)
			}) {
				t.Errorf("got %v, want %s at %s: %s", found.Failures, test.check, test.row, test.text)
			}
			if found, err = f.merge().Verify(t.Context()); err != nil || found.Err() != nil || found.Tables[0].Hash != "" {
				t.Fatalf("after it is undone: got %v, %v", err, found.Err())
			}
		})
	}
}
