//go:build unix

package merge_test

import (
	"errors"
	"testing"

	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// wide is a source with an id packed in 32 bits, which new ids do not fit in, and a row that goes because of an id
// that is left out.
func wide(t *testing.T) *fixture {
	f := newFixture(t, "", guilds, []string{
		"INSERT INTO members VALUES (1, 1, NULL, 2, NULL, NULL), (2, 3, NULL, NULL, NULL, NULL), (3, 3, NULL, 2, NULL, NULL)",
	})
	for _, table := range f.plan.Tables {
		for _, c := range table.Columns {
			c.Suspects, c.Decided = nil, true
		}
	}
	guild := f.column("members", "guild_id")
	guild.Role, guild.Refers, guild.Gone = plan.RoleReference, []*plan.Reference{{Table: "guilds"}}, plan.OrphansDrop
	thing := f.column("members", "thing_id")
	thing.Role, thing.Format, thing.Refers = plan.RolePacked, "bits 32", []*plan.Reference{{Table: "guilds", Path: "0"}}
	f.table("guilds").WithoutRows = []*plan.Condition{{Where: "id = 3"}}
	for _, table := range f.plan.Tables {
		for _, c := range table.Columns {
			if c.Role != plan.RolePlain {
				c.Type = "bigint"
			}
		}
	}
	f.tables()
	return f
}

// isTooWide reports whether an error names the row whose id does not fit. Row 3 goes, so it is not refused.
func isTooWide(err error) bool {
	var row *report.RowError
	return errors.As(err, new(*report.FitError)) && errors.As(err, &row) && row.Row == "[1]"
}

func TestWideIDInRun(t *testing.T) {
	f := wide(t)
	if err := f.run(); !isTooWide(err) {
		t.Fatalf("got %v, want a FitError of row 1", err)
	}
	if got := f.rows(f.target, "SELECT SUM(dropped) FROM snow_merge_chunks WHERE phase = 'mint'"); got != "3" {
		t.Errorf("got %s rows that go, want 3", got)
	}
}

func TestWideIDInDryRun(t *testing.T) {
	forecast, err := wide(t).merge().DryRun(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := forecast.Err(); !isTooWide(err) || forecast.Problems != 1 {
		t.Errorf("got %v, want a FitError of row 1", err)
	}
	if len(forecast.Gone) != 1 || forecast.Gone[0].Rows != 2 {
		t.Errorf("got %+v, want two rows that go", forecast.Gone)
	}
}
