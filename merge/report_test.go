//go:build unix

package merge_test

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

// night is two sources with shared accounts, heroes of the same names, and rows that go.
func night(t *testing.T) *fixture {
	t.Helper()
	fill := func(accounts, first, heroes int) []string {
		var a, h, i, m, r []string
		for n := 1; n <= accounts; n++ {
			a = append(a, fmt.Sprintf("(%d, 'a%d', %d)", n, first+n, n))
			r = append(r, fmt.Sprintf("(%d, %d)", n, n))
		}
		for n := 1; n <= heroes; n++ {
			h = append(h, fmt.Sprintf("(%d, %d, 'h%d', %d)", n, 1+n%accounts, 3*first+n, n%10))
			i = append(i, fmt.Sprintf("(%d, %d), (%d, %d)", 2*n, n, 2*n+1, n))
			m = append(m, fmt.Sprintf("(%d, %d, '<b>%d</b>')", 500+n, n, n)) // ids that no hero has, or inspect would ask
		}
		insert := func(table string, rows []string) string {
			return "INSERT INTO " + table + " VALUES " + strings.Join(rows, ", ")
		}
		return []string{insert("accounts", a), insert("heroes", h), insert("items", i), insert("mails", m), insert("ranking", r)}
	}
	f := newFixture(t, "", []string{
		"CREATE TABLE accounts (id INT AUTO_INCREMENT PRIMARY KEY, email VARCHAR(20) NOT NULL UNIQUE, gold INT NOT NULL)",
		"CREATE TABLE heroes (id INT AUTO_INCREMENT PRIMARY KEY, account_id INT NOT NULL, name VARCHAR(20) NOT NULL UNIQUE, level INT NOT NULL, FOREIGN KEY (account_id) REFERENCES accounts (id))",
		"CREATE TABLE items (id INT AUTO_INCREMENT PRIMARY KEY, hero_id INT NOT NULL, FOREIGN KEY (hero_id) REFERENCES heroes (id))",
		"CREATE TABLE mails (id INT AUTO_INCREMENT PRIMARY KEY, hero_id INT, body VARCHAR(40), FOREIGN KEY (hero_id) REFERENCES heroes (id))",
		"CREATE TABLE ranking (place INT PRIMARY KEY, hero_id INT NOT NULL)",
		"CREATE TABLE nothing (id INT PRIMARY KEY)",
	}, fill(40, 0, 120), fill(30, 30, 90))
	f.table("accounts").Unique[0].Rule = plan.RuleKeep
	f.column("accounts", "gold").Combine = plan.CombineSum
	f.table("heroes").Unique[0].Rule = plan.RuleSuffix
	f.table("heroes").WithoutRows = []*plan.Condition{{Where: "level < 2"}, {Where: "level = 9", Sources: []string{"s2"}}}
	f.column("items", "hero_id").Gone = plan.OrphansDrop
	f.column("mails", "hero_id").Gone = plan.OrphansNull
	f.table("ranking").Empty = true
	place := f.column("ranking", "hero_id")
	place.Role, place.Refers = plan.RoleReference, []*plan.Reference{{Table: "heroes"}}
	f.plan.Questions = nil
	f.plan.After = []string{"UPDATE accounts SET gold = gold + 1"}
	f.tables()
	return f
}

// figuresOf returns the figures of a report, a line each.
func figuresOf(r *report.Report) map[string]bool {
	lines := map[string]bool{}
	add := func(format string, args ...any) { lines[fmt.Sprintf(format, args...)] = true }
	sums := map[string]*report.Table{}
	for _, t := range r.Tables {
		worker := ""
		if t.Worker != nil {
			worker = fmt.Sprintf("%s, worker %d", t.IDs, *t.Worker)
		}
		add("%s from %s|%d|%d|%d|%s|%d|%d|%d", t.Table, t.Source, t.Rows, t.Copied, t.Rekeyed, worker, t.Merged, t.Dropped, t.Renamed)
		sum := sums[t.Source]
		if sum == nil {
			sum = &report.Table{}
			sums[t.Source] = sum
		}
		sum.Rows, sum.Copied, sum.Rekeyed = sum.Rows+t.Rows, sum.Copied+t.Copied, sum.Rekeyed+t.Rekeyed
		sum.Merged, sum.Dropped, sum.Renamed = sum.Merged+t.Merged, sum.Dropped+t.Dropped, sum.Renamed+t.Renamed
	}
	for source, sum := range sums {
		add("%s|%d|%d|%d|%d|%d|%d", source, sum.Rows, sum.Copied, sum.Rekeyed, sum.Merged, sum.Dropped, sum.Renamed)
	}
	for _, t := range r.Targets {
		add("%s|In the target: %d copied, %d now", t.Table, t.Copied, t.Rows)
	}
	left := int64(0)
	for _, l := range r.LeftOut {
		add("%s|%s|%s|%s|%d", l.Table, l.Source, l.Reason, l.Where, l.Rows)
		left += l.Rows
	}
	add("left out|%d", left)
	for _, c := range r.Clashes {
		add("%s|%s|%s|%s|%d", c.Table, c.Source, c.Keys(), c.Rule, c.Rows)
		for _, how := range c.How {
			add("%s", how)
		}
		for _, n := range c.Names {
			add("%s → %s", n.Before, n.After)
		}
	}
	for _, row := range r.References {
		add("%s.%s|%s|%d|%d|%d|%d", row.Table, row.Column, row.Refers, row.Checked, row.Witnessed, row.Undetermined, row.Orphans)
	}
	for _, s := range r.After {
		add("%s|%s|%d", s.SQL, s.State, s.Rows)
	}
	return lines
}

// The figures of a report are what SQL counts in the databases.
func TestReportHasTheFiguresOfTheDatabases(t *testing.T) {
	f := night(t)
	found, err := f.merge().Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	count := func(db int, query string) int { // 0 is the target
		from := f.target
		if db > 0 {
			from = f.sources[db-1].DB
		}
		n, err := strconv.Atoi(f.rows(from, query))
		if err != nil {
			t.Fatal(query, err)
		}
		return n
	}
	has := figuresOf(found)
	want := func(format string, args ...any) {
		t.Helper()
		if line := fmt.Sprintf(format, args...); !has[line] {
			t.Errorf("the report lacks %q", line)
		}
	}
	// That low heroes go with what they own is computed here by the sources, and the new names are counted in the
	// target.
	goes := []string{"", "level < 2", "level < 2 OR level = 9"}
	var rows, copied, dropped, rekeyed [3]int
	for s, name := range []string{"", "s1", "s2"} {
		if s == 0 {
			continue
		}
		var worker uint64
		for _, row := range found.Tables {
			if row.Table == "heroes" && row.Source == name {
				worker = *row.Worker
			}
		}
		heroes := count(s, "SELECT COUNT(*) FROM heroes")
		gone := count(s, "SELECT COUNT(*) FROM heroes WHERE "+goes[s])
		items := count(s, "SELECT COUNT(*) FROM items")
		lost := count(s, "SELECT COUNT(*) FROM items WHERE hero_id IN (SELECT id FROM heroes WHERE "+goes[s]+")")
		mails := count(s, "SELECT COUNT(*) FROM mails")
		places := count(s, "SELECT COUNT(*) FROM ranking")
		accounts := count(s, "SELECT COUNT(*) FROM accounts")
		merged := 0
		if s == 2 {
			merged = accounts + count(1, "SELECT COUNT(*) FROM accounts") - count(0, "SELECT COUNT(*) FROM accounts")
		}
		renamed := count(0, `SELECT COUNT(*) FROM heroes WHERE name LIKE '%\_`+name+`'`)
		want("accounts from %s|%d|%d|%d|snow, worker %d|%d|0|0", name, accounts, accounts-merged, accounts-merged, worker, merged)
		want("heroes from %s|%d|%d|%d|snow, worker %d|0|%d|%d", name, heroes, heroes-gone, heroes-gone, worker, gone, renamed)
		want("items from %s|%d|%d|%d|snow, worker %d|0|%d|0", name, items, items-lost, items-lost, worker, lost)
		want("ranking from %s|%d|0|0||0|%d|0", name, places, places)
		want("heroes|%s|without_rows 1|level < 2|%d", name, count(s, "SELECT COUNT(*) FROM heroes WHERE level < 2"))
		want("items|%s|hero_id||%d", name, lost)
		want("ranking|%s|empty||%d", name, places)
		rows[s] = accounts + heroes + items + mails + places
		dropped[s] = gone + lost + places
		copied[s] = rows[s] - merged - dropped[s]
		rekeyed[s] = copied[s]
		want("%s|%d|%d|%d|%d|%d|%d", name, rows[s], copied[s], rekeyed[s], merged, dropped[s], renamed)
		if s == 2 {
			want("heroes|s2|without_rows 2|level = 9|%d", count(s, "SELECT COUNT(*) FROM heroes WHERE level = 9"))
			want("accounts|s2|(email)|keep|%d", merged)
			if renamed == 0 || merged == 0 {
				t.Errorf("%d heroes have new names, and %d accounts are merged: there should be some", renamed, merged)
			}
		}
	}
	all := 0
	for _, table := range []string{"accounts", "heroes", "items", "mails"} {
		n := count(0, "SELECT COUNT(*) FROM "+table)
		want("%s|In the target: %d copied, %d now", table, n, n)
		all += n
	}
	if all != copied[1]+copied[2] {
		t.Errorf("the target has %d rows, and %d were copied", all, copied[1]+copied[2])
	}
	want("left out|%d", dropped[1]+dropped[2])
	for _, row := range found.References {
		if n := count(0, "SELECT COUNT("+row.Column+") FROM "+row.Table); row.Table != "ranking" {
			want("%s.%s|%s|%d|%d|%d|0", row.Table, row.Column, row.Refers, n, row.Witnessed, row.Undetermined)
		}
	}
	want("UPDATE accounts SET gold = gold + 1|done|%d", count(0, "SELECT COUNT(*) FROM accounts"))
	for _, p := range found.Phases {
		read := int64(rows[1] + rows[2])
		if p.Name != "verify" {
			read -= int64(count(1, "SELECT COUNT(*) FROM ranking") + count(2, "SELECT COUNT(*) FROM ranking"))
		}
		if p.Rows != read || p.Took() < 0 || p.Idle != 0 || p.Began.After(p.Ended) {
			t.Errorf("phase %+v: want %d rows", p, read)
		}
	}
	if len(found.Phases) != 3 {
		t.Errorf("got phases %+v", found.Phases)
	}
	want("nothing|In the target: 0 copied, 0 now")
	want("h102 → h102_s2")
	want("gold: sum")
	again, err := f.merge().Verify(t.Context()) // the report that was kept
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(figuresOf(again), has) || !again.Finished.Equal(found.Finished) {
		t.Errorf("the report that was kept is another one: got %+v, want %+v", again, found)
	}
}

// The events of a run tell which phase of how many it is, and how far it is.
func TestEventsTellPhases(t *testing.T) {
	f := night(t)
	var phases []string
	sum := map[string]int64{}
	total := map[string]int64{}
	f.config.Events = func(e report.Event) {
		switch e.Kind {
		case report.EventPhase:
			phases = append(phases, fmt.Sprintf("%d/%d %s", e.Number, e.Phases, e.Phase))
			total[e.Phase] = e.Total
		case report.EventEnd:
			sum[e.Phase] += e.Rows
		case report.EventChunk:
			if e.Total >= 0 && e.Rows > e.Total {
				t.Errorf("%d of %d rows: %+v", e.Rows, e.Total, e)
			}
		}
	}
	if _, err := f.merge().Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(phases, ", "), "1/6 choose, 2/6 mint, 3/6 copy, 4/6 verify, 5/6 witness, 6/6 after"; got != want {
		t.Errorf("got phases %s, want %s", got, want)
	}
	for _, phase := range []string{"mint", "copy", "verify"} {
		if total[phase] != sum[phase] || sum[phase] == 0 {
			t.Errorf("%s: it began with %d rows, and ended with %d", phase, total[phase], sum[phase])
		}
	}
}

// The time when nobody worked on a run, because it was interrupted, does not count for a phase.
func TestPhasesOfAnInterruptedRun(t *testing.T) {
	f := night(t)
	f.plan.After = nil
	first, err := f.merge().Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f.exec(f.target, "SET @last = (SELECT MAX(done_us) FROM snow_merge_chunks)",
		"UPDATE snow_merge_chunks SET done_us = done_us + 3600000000 WHERE done_us = @last", "UPDATE snow_merge_runs SET ended_us = ended_us + 3600000000")
	again, err := f.merge().Verify(t.Context())
	if err != nil || len(again.Phases) != 3 {
		t.Fatalf("%v, %+v", err, again)
	}
	if is, was := again.Phases[1], first.Phases[1]; is.Name != "copy" || is.Idle < time.Hour || is.Idle > time.Hour+time.Minute || is.Took() > was.Took() || is.Rows != was.Rows {
		t.Errorf("got %+v, before it was %+v", is, was)
	}
}
