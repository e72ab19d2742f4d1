//go:build unix

package ledger

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/shardsnow/snow/sqlsnow"
)

// Whatever one transaction copies, the pages of a part of the ledger have each of its rows once, and begin again after
// any of them.
func TestParts(t *testing.T) {
	db, s, _ := leased(t)
	var entries, packs, changes []string
	for _, table := range []int{1, 2, 3} {
		for i := range 7 {
			entries = append(entries, fmt.Sprintf("(%d, %d, %d, 0)", table, i*3-9, 100+i))
			packs = append(packs, fmt.Sprintf("(%d, %d, %d, 1, '', '%d')", table, i, i, i))
			for _, column := range []string{"", "name", "note"} {
				changes = append(changes, fmt.Sprintf("(%d, 'row %d', '%s', 'renamed', 1, NULL, 'x')", table, i, column))
			}
		}
	}
	for _, text := range []string{
		"INSERT INTO snow_merge_map VALUES " + strings.Join(entries, ", "), "INSERT INTO snow_merge_packs VALUES " + strings.Join(packs, ", "),
		"INSERT INTO snow_merge_changes VALUES " + strings.Join(changes, ", "),
	} {
		if _, err := db.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	for _, part := range Parts(sqlsnow.MySQL) {
		all, err := part.Read(t.Context(), Of(s), 2, nil)
		if err != nil {
			t.Fatal(err)
		}
		if want := map[string]int{"snow_merge_map": 7, "snow_merge_packs": 7, "snow_merge_changes": 21}[part.table]; len(all) != want {
			t.Errorf("%v: got %d rows, want %d", part.table, len(all), want)
		}
		last, err := part.Last(t.Context(), Of(s), 2)
		if err != nil || !reflect.DeepEqual(last, part.Key(all[len(all)-1])) {
			t.Errorf("%v: got the last key %v, %v, want %v", part.table, last, err, part.Key(all[len(all)-1]))
		}
		if last, err := part.Last(t.Context(), Of(s), 9); err != nil || last != nil {
			t.Errorf("%v: of no rows: got the last key %v, %v", part.table, last, err)
		}
		for part.rows = 1; part.rows < 6; part.rows++ {
			for begin := range all {
				var got [][]any
				for after := part.Key(all[begin]); len(got) <= len(all); {
					rows, err := part.Read(t.Context(), Of(s), 2, after)
					if err != nil {
						t.Fatal(err)
					}
					if len(rows) == 0 {
						break
					}
					got, after = append(got, rows...), part.Key(rows[len(rows)-1])
				}
				if want := all[begin+1:]; len(got) != len(want) || len(want) > 0 && !reflect.DeepEqual(got, want) {
					t.Fatalf("%v by %d, after %v: got %v, want %v", part.table, part.rows, all[begin], got, want)
				}
			}
		}
	}
}
