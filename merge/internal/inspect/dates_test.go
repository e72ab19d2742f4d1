package inspect

import (
	"testing"

	"github.com/shardsnow/snow/merge/plan"
)

func TestCreationRank(t *testing.T) {
	for _, test := range []struct {
		column, table string
		want          int
	}{
		{"created_at", "players", 0},
		{"createdAt", "players", 0},
		{"creation_date", "guilds", 0},
		{"date_created", "orders", 0},
		{"create_time", "players", 0},
		{"created_on", "players", 0},
		{"createtime", "players", 0},
		{"account_created", "accounts", 0},
		{"created_at_ms", "events", 0},
		{"date_add", "ps_customer", 1},
		{"joindate", "account", 1},
		{"reg_date", "users", 1},
		{"registered", "users", 1},
		{"user_registered", "wp_users", 1},
		{"inserted", "mail", 1},
		{"sent_at", "mails", 1},
		{"time", "auctions", 2},
		{"timestamp", "log", 2},
		{"birth", "characters", 3},
		{"created_by", "players", -1},
		{"create_ip", "players", -1},
		{"add", "players", -1},
		{"join", "players", -1},
		{"updated_at", "players", -1},
		{"date_upd", "orders", -1},
		{"last_login", "players", -1},
		{"birthdate", "players", -1},
		{"play_time", "players", -1},
		{"", "players", -1},
	} {
		if got := creationRank(test.column, newVocabulary(&plan.Plan{}).thing(test.table)); got != test.want {
			t.Errorf("%s of %s: got %d, want %d", test.column, test.table, got, test.want)
		}
	}
}
