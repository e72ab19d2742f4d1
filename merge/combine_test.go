//go:build unix

package merge_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
	"github.com/shardsnow/snow/sqlsnow"
)

// shared is three sources whose accounts are one where their names are.
func shared(t *testing.T) *fixture {
	t.Helper()
	f := newFixture(t, "", []string{
		`CREATE TABLE accounts (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(9) NOT NULL UNIQUE, gold SMALLINT, price DECIMAL(8,2), hours DOUBLE, seen DATETIME, made DATE,
		mail VARCHAR(20), note VARCHAR(9), doubled INT AS (gold * 2) VIRTUAL, title VARCHAR(40), bars TINYINT UNSIGNED)`,
		"CREATE TABLE heroes (id INT AUTO_INCREMENT PRIMARY KEY, account_id INT NOT NULL, FOREIGN KEY (account_id) REFERENCES accounts (id))",
	},
		[]string{
			"INSERT INTO accounts (id, name, gold, price, hours, seen, made, mail, note) VALUES (1, 'ann', 10, 0.10, 0.5, '2024-01-01', '2020-05-05', NULL, 'x'), (2, 'bob', 1, 1, 1, NULL, NULL, 'b@1', 'x')",
			"INSERT INTO heroes VALUES (1, 1), (2, 2)", `UPDATE accounts SET title = IF(id = 1, 'it''s', 'd'), bars = IF(id = 1, 60, NULL)`,
		},
		[]string{"INSERT INTO accounts (id, name, gold, price, hours, seen, made, mail, note) VALUES (7, 'ann', 20, 0.25, 0.25, '2024-06-01 10:00:00', '2021-05-05', 'a@2', NULL)", "INSERT INTO heroes VALUES (1, 7)", `UPDATE accounts SET title = '\\ "b"', bars = 30`},
		[]string{
			"INSERT INTO accounts (id, name, gold, price, hours, seen, made, mail, note) VALUES (1, 'Ann', NULL, 1.00, NULL, '2023-01-01', '2019-05-05', 'a@3', 'z'), (2, 'bob', -5, 2, 2, '2024-01-01', '2024-01-01', NULL, 'z'), (3, 'cid', 7, 7, 7, NULL, NULL, NULL, NULL)",
			"INSERT INTO heroes VALUES (1, 1), (2, 2), (3, 3)", `UPDATE accounts SET title = IF(id = 1, 'c', ''), bars = IF(id = 1, 60, 7) WHERE id < 3`,
		},
	)
	for column, how := range map[string]plan.Combine{
		"gold": plan.CombineSum, "price": plan.CombineSum, "hours": plan.CombineSum, "seen": plan.CombineMax, "made": plan.CombineMin, "mail": plan.CombineFirst, "note": plan.CombineLast,
	} {
		f.column("accounts", column).Combine = how
	}
	f.column("accounts", "title").Combine = "CONCAT_WS('+', {a}, {b}) -- of all"
	f.column("accounts", "bars").Combine = "LEAST(COALESCE({a}, 0) + COALESCE({b}, 0), 100)"
	for _, u := range f.table("accounts").Unique {
		u.Rule = plan.RuleKeep
	}
	f.plan.Questions = nil
	f.tables()
	return f
}

const combined = `SELECT name, title, bars, gold, price, hours, CAST(seen AS CHAR), CAST(made AS CHAR), mail, note, doubled, (SELECT COUNT(*) FROM heroes WHERE account_id = accounts.id) FROM accounts ORDER BY name`

// An account of several sources has what all of them have.
func TestCombine(t *testing.T) {
	for _, kept := range []bool{false, true} {
		f := shared(t)
		if kept { // of one source, whose ids no other has
			f.exec(f.sources[0].DB, "SET foreign_key_checks = 0", "UPDATE accounts SET id = id + 1000", "UPDATE heroes SET account_id = account_id + 1000, id = id + 1000")
			for _, table := range f.plan.Tables {
				table.NewIDs = []string{"s2", "s3"}
			}
		}
		f.config.ChunkRows = 1
		forecast, err := f.merge().DryRun(t.Context())
		if err != nil || forecast.Problems > 0 {
			t.Fatal(err, forecast.Err())
		}
		if err := f.run(); err != nil {
			t.Fatal(err)
		}
		const want = `ann it's+\ "b"+c 100 30 1.35 0.75 2024-06-01 10:00:00 2019-05-05 a@2 z 60 3
bob d+ 7 -4 3.00 3 2024-01-01 00:00:00 2024-01-01 b@1 z -8 2
cid - - 7 7.00 7 - - - - 14 1`
		if got := f.rows(f.target, combined); got != want {
			t.Errorf("kept %t: got\n%s\nwant\n%s", kept, got, want)
		}
		if found, err := f.merge().Verify(t.Context()); err != nil || found.Err() != nil || found.Tables[0].Renamed != 0 {
			t.Errorf("kept %t: %+v, %v", kept, found, err)
		}
		f.exec(f.target, "UPDATE accounts SET gold = 10 WHERE name = 'ann'") // as it is in the first source
		if found, err := f.merge().Verify(t.Context()); err != nil || found.Failed != 1 || found.Failures[0].Column != "gold" || !strings.Contains(found.Failures[0].Reason, "want 30, got 10") {
			t.Errorf("kept %t: verification of a wrong sum: %+v, %v", kept, found, err)
		}
	}
}

// What does not fit is an error, of a dry run too. What an expression gives is compared with what MySQL stores of
// it: members of a set in their order and once each, dates with a time of day, numbers of single precision, texts
// without the spaces at their ends.
func TestCombineAsStored(t *testing.T) {
	const table = `CREATE TABLE accounts (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(9) NOT NULL UNIQUE, flags SET('vip','gm','it''s') NOT NULL,
		level ENUM('low','Mid','high'), rate FLOAT DEFAULT 0.1, total FLOAT DEFAULT 0.1, code CHAR(6) DEFAULT 'x', seen DATETIME(1) DEFAULT '2024-01-02 10:00:00', day DATE DEFAULT '2024-01-02',
		hour TIME DEFAULT '10:00:00', born YEAR DEFAULT 1999)`
	f := newFixture(t, "", []string{table},
		[]string{"INSERT INTO accounts (id, name, flags, level) VALUES (1, 'ann', 'it''s', 'low'), (2, 'bob', '', NULL)"},
		[]string{"INSERT INTO accounts (id, name, flags, level) VALUES (1, 'bob', 'gm', 'high'), (2, 'ann', 'vip,it''s', 'high')"},
		[]string{"INSERT INTO accounts (id, name, flags, level) VALUES (1, 'ann', 'gm', NULL)"},
	)
	for _, u := range f.table("accounts").Unique {
		u.Rule = plan.RuleKeep
	}
	for column, how := range map[string]plan.Combine{
		"level": "IF({a} = 'low', 'MID', COALESCE({a}, {b}))", "rate": "({a} + {b}) * 1.1", "total": plan.CombineSum, "code": "CONCAT({a}, {b}, ' ')",
		"seen": "DATE(LEAST({a}, {b}))", "day": "LEAST({a}, {b}) + INTERVAL 5 HOUR", "hour": "ADDTIME(GREATEST({a}, {b}), '0:0:4')", "born": "LEAST({a}, {b}) - 1",
	} {
		f.column("accounts", column).Combine = how
	}
	f.plan.Questions = nil
	f.tables()
	for column, wrong := range map[string]struct{ how, want string }{
		"flags": {"CONCAT({a}, {b})", "the column has no"}, "born": {"{a} + {b}", "no year of four digits"}, "seen": {"CONCAT({a}, {b})", "no value of datetime(1)"},
	} {
		was := f.column("accounts", column).Combine
		f.column("accounts", column).Combine = plan.Combine(wrong.how)
		if found, err := f.merge().DryRun(t.Context()); err != nil || found.Err() == nil || !strings.Contains(found.Err().Error(), wrong.want) {
			t.Errorf("%s: got %v and %+v", wrong.how, err, found)
		}
		f.column("accounts", column).Combine = was
	}
	f.column("accounts", "flags").Combine = "CONCAT_WS(',', NULLIF({a}, ''), NULLIF({b}, ''))"
	if err := f.run(); err != nil {
		t.Fatal(err)
	}
	query := "SELECT name, flags, level, rate, total, code, CAST(seen AS CHAR), CAST(day AS CHAR), CAST(hour AS CHAR), born FROM accounts ORDER BY name"
	want := "ann vip,gm,it's Mid 0.352 0.3 xxx 2024-01-02 00:00:00.0 2024-01-02 10:00:08 1997\nbob gm high 0.22 0.2 xx 2024-01-02 00:00:00.0 2024-01-02 10:00:04 1998"
	if got := f.rows(f.target, query); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestCombineTooMuch(t *testing.T) {
	f := shared(t)
	f.exec(f.sources[1].DB, "UPDATE accounts SET gold = 32760")
	forecast, err := f.merge().DryRun(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{"dry run": forecast.Err(), "run": f.run()} {
		var row *report.RowError
		if !errors.As(err, &row) || row.Row != "[1]" || row.Source != "s1" || !strings.Contains(err.Error(), "gold") {
			t.Errorf("%s: got %v, want a RowError", what, err)
		}
	}
}

// A row that the target had before gets what rows of the sources have, too: once, however often a run is begun.
func TestCombineWithTheTarget(t *testing.T) {
	f := shared(t)
	f.exec(f.target, "INSERT INTO accounts (id, name, gold, price, hours, seen, made, mail, note, title, bars) VALUES (5, 'bob', 100, 0.5, 0.25, '2025-01-01', NULL, NULL, 't', 't', 99), (6, 'eve', 1, 1, 1, NULL, NULL, NULL, NULL, NULL, NULL)")
	f.config.ChunkRows = 1
	m, err := merge.New(sqlsnow.MySQL, f.target, f.sources, f.plan, f.config)
	if err != nil {
		t.Fatal(err)
	}
	forecast, err := m.DryRun(t.Context())
	if err != nil || forecast.Problems > 0 {
		t.Fatal(err, forecast.Err())
	}
	for range 2 {
		if found, err := m.Run(t.Context()); err != nil || found.Err() != nil {
			t.Fatal(err, found.Err())
		}
	}
	const want = `ann it's+\ "b"+c 100 30 1.35 0.75 2024-06-01 10:00:00 2019-05-05 a@2 z 60 3
bob t+d+ 100 96 3.50 3.25 2025-01-01 00:00:00 2024-01-01 b@1 z 192 2
cid - - 7 7.00 7 - - - - 14 1
eve - - 1 1.00 1 - - - - 2 0`
	if got := f.rows(f.target, combined); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	f.exec(f.target, "UPDATE accounts SET gold = 100 WHERE name = 'bob'")
	if found, err := m.Verify(t.Context()); err != nil || found.Failed != 1 || found.Failures[0].Column != "gold" || !strings.Contains(found.Failures[0].Reason, "want 96, got 100") {
		t.Errorf("verification of a wrong sum: %+v, %v", found, err)
	}
	f = shared(t)
	f.exec(f.target, "INSERT INTO accounts (id, name, gold) VALUES (5, 'cid', 32761)")
	if forecast, err = f.merge().DryRun(t.Context()); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{"dry run": forecast.Err(), "run": f.run()} {
		var row *report.RowError
		if !errors.As(err, &row) || row.Row != "[3]" || row.Source != "s3" || !strings.Contains(err.Error(), "gold") {
			t.Errorf("%s: got %v, want a RowError", what, err)
		}
	}
}

// pooled is three sources whose accounts are one where their names are, and what they have of each item is added:
// in a table whose rows are told apart by account, item and floor.
func pooled(t *testing.T) *fixture {
	t.Helper()
	f := newFixture(t, "", []string{
		"CREATE TABLE accounts (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(9) NOT NULL UNIQUE, mail VARCHAR(9) UNIQUE)",
		"CREATE TABLE bank (account_id INT NOT NULL, item VARCHAR(9) NOT NULL, amount TINYINT UNSIGNED NOT NULL, seen DATE, floor INT NOT NULL DEFAULT 1, PRIMARY KEY (account_id, item, floor), FOREIGN KEY (account_id) REFERENCES accounts (id))",
	},
		[]string{"INSERT INTO accounts VALUES (1, 'ann', 'm'), (2, 'bob', NULL)", "INSERT INTO bank (account_id, item, amount, seen) VALUES (1, 'ore', 10, '2020-01-01'), (2, 'ore', 1, NULL), (2, 'Gem', 3, '2020-01-01')"},
		[]string{ // both are ann's, and both have gold, which she does not have elsewhere first
			"INSERT INTO accounts VALUES (7, 'Ann', NULL), (8, 'cid', 'm'), (9, 'bob', NULL)",
			"INSERT INTO bank (account_id, item, amount, seen) VALUES (7, 'gold', 5, '2021-01-01'), (8, 'Gold', 6, '2022-01-01'), (8, 'ore', 20, NULL), (9, 'gem', 4, '2019-01-01'), (9, 'wood', 1, NULL)",
		},
		[]string{"INSERT INTO accounts VALUES (1, 'ANN', NULL), (2, 'dan', NULL)", "INSERT INTO bank (account_id, item, amount, seen) VALUES (1, 'gold', 100, '2020-06-06'), (1, 'ORE', 30, '2023-01-01'), (2, 'ore', 50, NULL)"},
	)
	f.column("bank", "amount").Combine, f.column("bank", "seen").Combine = plan.CombineSum, plan.CombineMax
	for _, table := range f.plan.Tables {
		for _, u := range table.Unique {
			u.Rule, u.Decided, u.Suspects = plan.RuleKeep, true, nil
		}
	}
	f.plan.Questions = nil
	f.tables()
	return f
}

const bank = "SELECT a.name, b.item, b.amount, CAST(b.seen AS CHAR) FROM bank b JOIN accounts a ON a.id = b.account_id ORDER BY a.name, b.item"

// Rows without an id of their own are combined where what they refer to becomes one.
func TestCombineWithoutIDs(t *testing.T) {
	for _, old := range []bool{false, true} {
		f := pooled(t)
		want := "ann gold 111 2022-01-01\nann ore 60 2023-01-01\nbob Gem 7 2020-01-01\nbob ore 1 -\nbob wood 1 -\ndan ore 50 -"
		if old {
			f.exec(f.target, "INSERT INTO accounts VALUES (100, 'ann', NULL)", "INSERT INTO bank (account_id, item, amount, seen) VALUES (100, 'ore', 7, '2024-01-01'), (100, 'tin', 1, NULL)")
			want = strings.Replace(want, "ann ore 60 2023-01-01", "ann ore 67 2024-01-01\nann tin 1 -", 1)
		}
		f.config.ChunkRows = 1
		forecast, err := f.merge().DryRun(t.Context())
		if err != nil || forecast.Problems > 0 {
			t.Fatal(err, forecast.Err())
		}
		if err := f.run(); err != nil {
			t.Fatal(err)
		}
		if got := f.rows(f.target, bank); got != want {
			t.Errorf("target with rows %v: got\n%s\nwant\n%s", old, got, want)
		}
		if found, err := f.merge().Verify(t.Context()); err != nil || found.Err() != nil {
			t.Errorf("%+v, %v", found, err)
		}
		f.exec(f.target, "UPDATE bank SET amount = 1 WHERE item = 'ore' AND amount > 59")
		if found, err := f.merge().Verify(t.Context()); err != nil || found.Failed != 1 || found.Failures[0].Column != "amount" {
			t.Errorf("verification of a wrong sum: %+v, %v", found, err)
		}
	}
	f := pooled(t)
	f.exec(f.sources[2].DB, "UPDATE bank SET amount = 245 WHERE item = 'gold'")
	forecast, err := f.merge().DryRun(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{"dry run": forecast.Err(), "run": f.run()} {
		var row *report.RowError
		if !errors.As(err, &row) || row.Table != "bank" || row.Source != "s2" || !strings.Contains(err.Error(), "amount") {
			t.Errorf("%s: got %v, want a RowError", what, err)
		}
	}
}

// References that are set when all rows are copied do not disturb what is combined.
func TestCombineInACircle(t *testing.T) {
	f := newFixture(t, "", []string{
		"CREATE TABLE accounts (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(9) NOT NULL UNIQUE, gold INT, friend_id INT, FOREIGN KEY (friend_id) REFERENCES accounts (id))",
	},
		[]string{"INSERT INTO accounts VALUES (1, 'ann', 10, NULL), (2, 'bob', 1, 1)", "UPDATE accounts SET friend_id = 2 WHERE id = 1"},
		[]string{"INSERT INTO accounts VALUES (1, 'bob', 20, NULL), (2, 'cid', 3, 1)"},
	)
	f.column("accounts", "gold").Combine = plan.CombineSum
	for _, u := range f.table("accounts").Unique {
		u.Rule, u.Suspects = plan.RuleKeep, nil
	}
	f.plan.Questions = nil
	f.tables()
	if err := f.run(); err != nil {
		t.Fatal(err)
	}
	const query = "SELECT a.name, a.gold, f.name FROM accounts a LEFT JOIN accounts f ON f.id = a.friend_id ORDER BY a.name"
	if got := f.rows(f.target, query); got != "ann 10 bob\nbob 21 ann\ncid 3 bob" {
		t.Errorf("got\n%s", got)
	}
	if found, err := f.merge().Verify(t.Context()); err != nil || found.Err() != nil {
		t.Errorf("%+v, %v", found, err)
	}
}
