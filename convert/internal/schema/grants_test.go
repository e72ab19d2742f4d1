package schema

import (
	"slices"
	"testing"
)

func TestGrants(t *testing.T) {
	for _, test := range []struct {
		name, line string
		missing    []string // of SELECT and TRIGGER
	}{
		{"nothing", "GRANT USAGE ON *.* TO `app`@`%`", []string{"SELECT", "TRIGGER"}},
		{"all", "GRANT ALL PRIVILEGES ON *.* TO `root`@`localhost` WITH GRANT OPTION", nil},
		{"all of the database", "GRANT ALL PRIVILEGES ON `shop_1`.* TO `app`@`%`", nil},
		{"an underscore of its own", "GRANT ALL PRIVILEGES ON `shop\\_1`.* TO `app`@`%`", nil},
		{"a pattern", "GRANT ALL PRIVILEGES ON `sh%`.* TO `app`@`%`", nil},
		{"another database", "GRANT ALL PRIVILEGES ON `shop_2`.* TO `app`@`%`", []string{"SELECT", "TRIGGER"}},
		{"another pattern", "GRANT ALL PRIVILEGES ON `shop\\_`.* TO `app`@`%`", []string{"SELECT", "TRIGGER"}},
		{"some", "GRANT SELECT, INSERT ON `shop_1`.* TO `app`@`%`", []string{"TRIGGER"}},
		{"some everywhere", "GRANT TRIGGER, FILE ON *.* TO `app`@`%`", []string{"SELECT"}},
		{"a table", "GRANT SELECT, TRIGGER ON `shop_1`.`users` TO `app`@`%`", []string{"SELECT", "TRIGGER"}},
		{"columns", "GRANT SELECT (`a`, `b`), INSERT ON `shop_1`.`users` TO `app`@`%`", []string{"SELECT", "TRIGGER"}},
		{"a role", "GRANT `writer`@`%` TO `app`@`%`", []string{"SELECT", "TRIGGER"}},
		{"a database with that word in its name", "GRANT ALL PRIVILEGES ON `shop TO 1`.* TO `app`@`%`", []string{"SELECT", "TRIGGER"}},
		{"no grant", "REVOKE ALL PRIVILEGES ON *.* FROM app", []string{"SELECT", "TRIGGER"}},
	} {
		g := &grants{database: "shop_1", global: map[string]bool{}, own: map[string]bool{}}
		g.add(test.line)
		if got := g.missing([]string{"TRIGGER", "SELECT"}); !slices.Equal(got, test.missing) {
			t.Errorf("%s: missing %q, want %q", test.name, got, test.missing)
		}
	}
}

func FuzzGrants(f *testing.F) {
	f.Add("GRANT SELECT, INSERT ON `shop\\_1`.* TO `app`@`%`")
	f.Fuzz(func(t *testing.T, line string) {
		if len(line) > 200 {
			return
		}
		g := &grants{database: "a", global: map[string]bool{}, own: map[string]bool{}}
		g.add(line)
		if line == "" && len(g.missing(needed)) != len(needed) {
			t.Error("nothing grants something")
		}
	})
}
