package convert

import (
	"strings"
	"testing"

	"github.com/shardsnow/snow/convert/internal/job"
	"github.com/shardsnow/snow/convert/plan"
)

func TestDescribe(t *testing.T) {
	p := &plan.Plan{Server: "MySQL 9.7.4", Steps: []*plan.Described{{Name: "of before"}}}
	describe(p, []job.Step{
		{Name: "one", Title: "The first.", Statements: []string{"ALTER TABLE `a` MODIFY `id` bigint", "SELECT 1"}, Blocks: "writers", Back: "always"},
		{Name: "two", Title: "The second.", Gate: "change programs", Back: "never"},
	})
	if len(p.Steps) != 2 || p.Steps[0].Name != "one" || p.Steps[0].Title != "The first." || p.Steps[0].Blocks != "writers" || p.Steps[1].Gate != "change programs" || p.Steps[1].Back != "never" {
		t.Errorf("got %+v", p.Steps)
	}
	if got, want := strings.Join(p.Steps[0].Statements, "; "), "ALTER TABLE `a` MODIFY `id` bigint -- MySQL 9.7.4: copies the table, and blocks writers meanwhile; SELECT 1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestHowAltered(t *testing.T) {
	for _, test := range []struct{ server, statement, want string }{
		{"MariaDB 10.11.19", "ALTER TABLE `a` MODIFY `id` bigint", "copies the table, and blocks writers meanwhile"},
		{"MariaDB 11.8.9", "ALTER TABLE `a` MODIFY `id` bigint", "copies the table"},
		{"MariaDB 10.11.19", "ALTER TABLE `a` MODIFY `id` … -- as it is, without AUTO_INCREMENT", "instant"},
		{"MySQL 9.7.4", "ALTER TABLE `a` MODIFY `id` … -- as it is, without AUTO_INCREMENT", "copies the table, and blocks writers meanwhile"},
		{"MySQL 9.7.4", "ALTER TABLE `a` ADD CONSTRAINT `k` FOREIGN KEY (`b`) REFERENCES `b` (`id`)", "in place"},
		{"MySQL 9.7.4", "ALTER TABLE `a` DROP FOREIGN KEY `k`", "in place"},
		{"MySQL 9.7.4", "ALTER TABLE `a` AUTO_INCREMENT = 5", "in place"},
		{"MySQL 9.7.4", "ALTER TABLE `_snow_a` MODIFY `id` bigint", ""},
		{"MySQL 9.7.4", "ALTER TABLE `a` RENAME KEY x TO y", ""},
		{"PostgreSQL 15.18", "ALTER TABLE a MODIFY id", ""},
		{"MySQL 9.7.4", "UPDATE a SET MODIFY = 1", ""},
	} {
		want := test.want
		if want != "" {
			want = " -- " + test.server + ": " + want
		}
		if got := howAltered(test.server, test.statement); got != want {
			t.Errorf("%s: %s: got %q, want %q", test.server, test.statement, got, want)
		}
	}
}
