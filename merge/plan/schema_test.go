package plan_test

import (
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge/plan"
)

// TestSchemaText compares the statements of a small plan. The reference has got
// its role from people, who left its type as it was.
func TestSchemaText(t *testing.T) {
	value := "now()"
	plan := func(dialect, options string) *plan.Plan {
		return &plan.Plan{
			Version: 1, Dialect: dialect, Sources: []string{"a"}, Types: []string{"CREATE TYPE mood"},
			Tables: []*plan.Table{
				{
					Name: "items", PrimaryKey: []string{"id", "n"}, Options: options,
					Columns: []*plan.Column{
						{Name: "id", Type: "bigint", Role: plan.RoleReference, Refers: []*plan.Reference{{Table: "players"}}},
						{Name: "n", Type: "int", Role: plan.RolePlain},
						{Name: "at", Type: "timestamp", Nullable: true, Default: &value, Role: plan.RolePlain},
						{Name: "up", Type: "text", Nullable: true, Collation: "c", Generated: "(upper(n)) STORED", Role: plan.RolePlain},
					},
					Unique: []*plan.Unique{
						{Columns: []string{"id", "n"}, Rule: plan.RuleFail},
						{Name: "u", Columns: []string{"n"}, Rule: plan.RuleFail},
						{Columns: []string{"at"}, Rule: plan.RuleFail},
					},
					ForeignKeys: []*plan.ForeignKey{
						{Name: "f", Columns: []string{"id"}, Table: "players", Refers: []string{"id"}, OnDelete: "CASCADE", OnUpdate: "SET NULL"},
						{Columns: []string{"n"}, Table: "gone", Refers: []string{"n"}},
					},
					Indexes: []*plan.Index{{Name: "i", Columns: []string{"n", "at"}}, {Name: "j", Statement: "CREATE INDEX j"}},
				},
				{
					Name: "players", PrimaryKey: []string{"id"}, NewIDs: []string{"a"}, Comment: "it's",
					Columns: []*plan.Column{{Name: "id", Type: "bigint unsigned", Role: plan.RoleKey, Options: "INVISIBLE", Comment: `a \`}},
				},
				{Name: "gone", Skip: true},
			},
		}
	}
	tests := []struct{ dialect, options, want string }{
		{
			"MySQL", "COLLATE=x", "CREATE TYPE mood;CREATE TABLE `items` (`id` bigint unsigned NOT NULL, `n` int NOT NULL, `at` timestamp NULL DEFAULT now()," +
				" `up` text COLLATE c GENERATED ALWAYS AS (upper(n)) STORED, PRIMARY KEY (`id`, `n`), UNIQUE KEY `u` (`n`), UNIQUE (`at`) ) COLLATE=x;" +
				"CREATE TABLE `players` (`id` bigint unsigned NOT NULL INVISIBLE COMMENT 'a \\\\', PRIMARY KEY (`id`) ) COMMENT='it''s';CREATE INDEX `i` ON `items` (`n`, `at`);CREATE INDEX j;" +
				"ALTER TABLE `items` ADD CONSTRAINT `f` FOREIGN KEY (`id`) REFERENCES `players` (`id`) ON DELETE CASCADE ON UPDATE SET NULL",
		},
		{
			"PostgreSQL", "", `CREATE TYPE mood;CREATE TABLE "items" ("id" bigint unsigned NOT NULL, "n" int NOT NULL, "at" timestamp DEFAULT now(),` +
				` "up" text COLLATE c GENERATED ALWAYS AS (upper(n)) STORED, PRIMARY KEY ("id", "n"), CONSTRAINT "u" UNIQUE ("n"), UNIQUE ("at") );` +
				`CREATE TABLE "players" ("id" bigint unsigned NOT NULL, PRIMARY KEY ("id") );CREATE INDEX "i" ON "items" ("n", "at");CREATE INDEX j;` +
				`COMMENT ON TABLE "players" IS 'it''s';COMMENT ON COLUMN "players"."id" IS 'a \';ALTER TABLE "items" ADD CONSTRAINT "f" FOREIGN KEY ("id") REFERENCES "players" ("id") ON DELETE CASCADE ON UPDATE SET NULL`,
		},
		{
			"SQLite", "STRICT", `CREATE TYPE mood;CREATE TABLE "items" ("id" bigint NOT NULL, "n" int NOT NULL, "at" timestamp DEFAULT (now()),` +
				` "up" text COLLATE c GENERATED ALWAYS AS (upper(n)) STORED, PRIMARY KEY ("id", "n"), UNIQUE ("at"),` +
				` CONSTRAINT "f" FOREIGN KEY ("id") REFERENCES "players" ("id") ON DELETE CASCADE ON UPDATE SET NULL ) STRICT;` +
				`CREATE TABLE "players" ("id" bigint unsigned NOT NULL, PRIMARY KEY ("id") );CREATE UNIQUE INDEX "u" ON "items" ("n");` +
				`CREATE INDEX "i" ON "items" ("n", "at");CREATE INDEX j`,
		},
	}
	for _, test := range tests {
		t.Run(test.dialect, func(t *testing.T) {
			statements, err := plan(test.dialect, test.options).Schema()
			if err != nil {
				t.Fatal(err)
			}
			got := strings.ReplaceAll(strings.Join(strings.Fields(strings.Join(statements, ";")), " "), "( ", "(")
			if got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
	undecided := plan("MySQL", "")
	undecided.Tables[0].Columns[1].Suspects = []string{"who?"}
	if _, err := undecided.Schema(); len(faults(err)) != 1 {
		t.Errorf("got %v, want the error of Check", err)
	}
}
