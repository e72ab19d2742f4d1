package steps

import (
	"fmt"
	"testing"

	"github.com/shardsnow/snow/merge/internal/ledger"
	"github.com/shardsnow/snow/merge/internal/work"
	"github.com/shardsnow/snow/merge/plan"
)

// A table waits for the tables that its foreign keys refer to, by whatever columns: ids, codes or several.
func TestTogether(t *testing.T) {
	key := func(table string, columns ...string) *plan.ForeignKey {
		return &plan.ForeignKey{Columns: columns, Table: table, Refers: columns}
	}
	tables := []*plan.Table{
		{Name: "guilds"},
		// not a foreign key
		{Name: "logs", Columns: []*plan.Column{{Name: "guild", Refers: []*plan.Reference{{Table: "guilds"}}}}},
		{Name: "ranks", ForeignKeys: []*plan.ForeignKey{key("ranks", "above")}},
		{Name: "members", ForeignKeys: []*plan.ForeignKey{key("ranks", "guild", "rank")}},
		{Name: "places"},
		{Name: "titles", ForeignKeys: []*plan.ForeignKey{key("guilds", "code")}},
		{Name: "houses", ForeignKeys: []*plan.ForeignKey{key("guilds", "guild"), key("places", "code")}},
	}
	var feeds []*feed
	for _, table := range tables {
		for _, source := range []string{"a", "b"} {
			feeds = append(feeds, &feed{Chunks: &work.Chunks{Table: &ledger.SourceTable{Source: source, Table: table}}})
		}
	}
	for unchecked, want := range map[bool]string{
		false: "[[guilds guilds logs logs ranks ranks] [members members places places titles titles] [houses houses]]",
		true:  "[[guilds guilds logs logs ranks ranks members members places places titles titles houses houses]]",
	} {
		var groups [][]string
		for _, group := range together(feeds, unchecked) {
			var names []string
			for _, f := range group {
				names = append(names, f.Table.Table.Name)
			}
			groups = append(groups, names)
		}
		if got := fmt.Sprint(groups); got != want {
			t.Errorf("unchecked %t: %s, want %s", unchecked, got, want)
		}
	}
}
