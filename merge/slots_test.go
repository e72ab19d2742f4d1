//go:build unix

package merge_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// slotted is three sources whose accounts are one where their names are, so that slots of their heroes and bags
// clash.
func slotted(t *testing.T, old string) *fixture {
	t.Helper()
	const heroes = "INSERT INTO heroes (id, account_id, slot, name) VALUES "
	const bags = "INSERT INTO bags (account_id, slot, size) VALUES "
	f := newFixture(t, "", []string{
		"CREATE TABLE accounts (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(9) NOT NULL UNIQUE, mail VARCHAR(20) UNIQUE)",
		"CREATE TABLE heroes (id INT AUTO_INCREMENT PRIMARY KEY, account_id INT NOT NULL, slot TINYINT UNSIGNED, name VARCHAR(9), UNIQUE (account_id, slot), FOREIGN KEY (account_id) REFERENCES accounts (id))",
		"CREATE TABLE bags (account_id INT NOT NULL, slot TINYINT UNSIGNED NOT NULL, size INT, doubled INT AS (slot * 2) VIRTUAL, PRIMARY KEY (account_id, slot), FOREIGN KEY (account_id) REFERENCES accounts (id))",
	},
		[]string{
			"INSERT INTO accounts VALUES (1, 'ann', 'm'), (2, 'bob', NULL)",
			heroes + "(1, 1, 0, 'a0'), (2, 1, 3, 'a3'), (3, 2, 1, 'b1'), (4, 2, NULL, 'b-')", bags + "(1, 0, 10), (2, 7, 17)",
		},
		[]string{ // two accounts of the source become one, and rows do not come in the order of their slots
			"INSERT INTO accounts VALUES (7, 'Ann', NULL), (8, 'cid', 'm'), (9, 'bob', 'n')",
			heroes + "(1, 8, 2, 'c2'), (2, 7, 4, 'A4'), (3, 7, 0, 'A0'), (4, 9, 5, 'B5'), (5, 7, NULL, 'A-')", bags + "(7, 1, 21), (7, 0, 20), (8, 0, 30), (9, 8, 18)",
		},
		[]string{
			"INSERT INTO accounts VALUES (1, 'ann', NULL), (3, 'dan', NULL)", heroes + "(1, 1, 9, 'x9'), (2, 1, 1, 'x1'), (3, 3, 250, 'd')", bags + "(1, 200, 40), (3, 0, 50)",
		},
	)
	for _, table := range f.plan.Tables {
		for _, u := range table.Unique {
			if u.Rule = plan.RuleKeep; table.Name != "accounts" {
				u.Rule, u.Decided, u.Suspects = plan.RuleRenumber, true, nil
			}
		}
	}
	f.plan.Questions = nil
	f.tables()
	if old != "" {
		f.exec(f.target, "INSERT INTO accounts VALUES (100, 'ann', NULL), (101, 'eve', NULL)", old)
	}
	return f
}

const (
	heroesBySlot = "SELECT a.name, h.slot, h.name FROM heroes h JOIN accounts a ON a.id = h.account_id ORDER BY a.name, h.slot IS NULL, h.slot, h.name"
	bagsBySlot   = "SELECT a.name, b.slot, b.size, b.doubled FROM bags b JOIN accounts a ON a.id = b.account_id ORDER BY a.name, b.slot"
)

// Of an account of several sources, heroes of the first keep their slots, and heroes of the others get free ones in
// their order.
func TestSlotsAreNumberedAnew(t *testing.T) {
	for _, rows := range []int{1, 2, 1000} {
		f := slotted(t, "")
		f.config.ChunkRows = rows
		forecast, err := f.merge().DryRun(t.Context())
		if err != nil || forecast.Problems > 0 {
			t.Fatal(err, forecast.Err())
		}
		if err := f.run(); err != nil {
			t.Fatal(err)
		}
		const wantHeroes = `ann 0 a0
ann 1 A0
ann 2 A4
ann 3 a3
ann 4 c2
ann 5 x1
ann 6 x9
ann - A-
bob 1 b1
bob 5 B5
bob - b-
dan 250 d`
		if got := f.rows(f.target, heroesBySlot); got != wantHeroes {
			t.Errorf("%d rows a chunk: got\n%s\nwant\n%s", rows, got, wantHeroes)
		}
		const wantBags = "ann 0 10 0\nann 1 20 2\nann 2 21 4\nann 3 30 6\nann 200 40 400\nbob 7 17 14\nbob 8 18 16\ndan 0 50 0"
		if got := f.rows(f.target, bagsBySlot); got != wantBags {
			t.Errorf("%d rows a chunk: got\n%s\nwant\n%s", rows, got, wantBags)
		}
		found, err := f.merge().Verify(t.Context())
		if err != nil || found.Err() != nil {
			t.Errorf("%+v, %v", found, err)
		}
		clashed := map[string]int64{}
		for _, c := range found.Clashes {
			if c.Rule == plan.RuleRenumber {
				clashed[fmt.Sprintf("%s %v.%s of %s, %d lines", c.Table, c.Unique, c.Column, c.Source, len(c.How))] = c.Rows
			}
		}
		want := map[string]int64{"heroes [[account_id slot]].slot of s2, 1 lines": 3, "heroes [[account_id slot]].slot of s3, 1 lines": 2, "bags [[account_id slot]].slot of s2, 1 lines": 3}
		if !maps.Equal(clashed, want) {
			t.Errorf("%d rows a chunk: reported %v, want %v", rows, clashed, want)
		}
		f.exec(f.target, "UPDATE heroes SET slot = 77 WHERE BINARY name = 'A0'")
		if found, err := f.merge().Verify(t.Context()); err != nil || found.Failed != 1 || found.Failures[0].Column != "slot" {
			t.Errorf("verification of a wrong slot: %+v, %v", found, err)
		}
	}
}

// Rows of the target keep their slots, and so do rows of an account that has no others.
func TestSlotsOfTheTarget(t *testing.T) {
	f := slotted(t, "INSERT INTO heroes VALUES (100, 100, 1, 't1'), (101, 101, 0, 'e0')")
	forecast, err := f.merge().DryRun(t.Context())
	if err != nil || forecast.Problems > 0 {
		t.Fatal(err, forecast.Err())
	}
	if err := f.run(); err != nil {
		t.Fatal(err)
	}
	const want = "ann 0 a0\nann 1 t1\nann 2 A0\nann 3 a3\nann 4 A4\nann 5 c2\nann 6 x1\nann 7 x9\nann - A-\nbob 1 b1\nbob 5 B5\nbob - b-\ndan 250 d\neve 0 e0"
	if got := f.rows(f.target, heroesBySlot); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if found, err := f.merge().Verify(t.Context()); err != nil || found.Err() != nil {
		t.Errorf("%+v, %v", found, err)
	}
}

// More rows than there are numbers are an error, of a dry run too.
func TestSlotsAreFull(t *testing.T) {
	f := slotted(t, "")
	u := f.table("heroes").Unique[0]
	u.Least, u.Most = 0, 4
	forecast, err := f.merge().DryRun(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{"dry run": forecast.Err(), "run": f.run()} {
		var clash *report.ClashError
		if !errors.As(err, &clash) || clash.Table != "heroes" || !strings.Contains(err.Error(), "7 rows have these account_id, and there is no number left for this one from 0 to 4") {
			t.Errorf("%s: got %v, want a ClashError", what, err)
		}
	}
}
