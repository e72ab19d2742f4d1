package mergecommand

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/merge/report"
)

var update = flag.Bool("update", false, "write the golden files")

// nightReport is the report of a night when most things happened.
func nightReport() *report.Report {
	worker, offset := uint64(1022), int64(1_000_000)
	at := time.Date(2026, 11, 23, 1, 0, 0, 0, time.UTC)
	minutes := func(n float64) time.Time { return at.Add(time.Duration(n * float64(time.Minute))) }
	return &report.Report{
		Run: "4be59a27d1c9e0f6", Sources: []string{"eu", "us"}, Started: minutes(52), Finished: minutes(61.5),
		Tables: []report.Table{
			{Table: "players", Source: "eu", IDs: plan.IDsSnow, Worker: &worker, Rows: 1_204_311, Copied: 1_150_009, Rekeyed: 1_150_009, Dropped: 54_302, Displacement: 90 * time.Second, Hash: "0af1c2d3e4f50617283940a1b2c3d4e5", Found: "0af1c2d3e4f50617283940a1b2c3d4e5"},
			{Table: "players", Source: "us", IDs: plan.IDsOffset, Offset: &offset, Rows: 803_200, Copied: 802_000, Rekeyed: 802_000, Merged: 1_200, Renamed: 412},
			{Table: "item_kinds", Source: "eu", Rows: 340, Copied: 340},
			{Table: "item_kinds", Source: "us", Rows: 338, Merged: 338},
			{Table: "ranking", Source: "eu", Rows: 1_000, Dropped: 1_000},
			{Table: "ranking", Source: "us", Rows: 1_000, Dropped: 1_000},
			{Table: "bans", Source: "eu"},
			{Table: "bans", Source: "us"},
		},
		Targets: []report.Target{
			{Table: "players", Before: 12, Copied: 1_952_009, Rows: 1_952_021},
			{Table: "item_kinds", Copied: 340, Rows: 340},
			{Table: "ranking"},
			{Table: "bans"},
		},
		Clashes: []report.Clash{
			{
				Table: "players", Source: "us", Unique: [][]string{{"realm", "name"}}, Rule: plan.RuleSuffix, Column: "name", Rows: 412,
				How:   []string{"the row with the greatest level, then last_seen keeps its name; among equal ones, the first of eu, us keeps its name", "new names are {name}[{n}]", "renamed rows have at_login = at_login | 1"},
				Names: []report.NewName{{Row: "17", Before: "Aragorn", After: "Aragorn[1]"}, {Row: "23", Before: "<script>alert(1)</script>", After: "<script>alert(1)</script>[1]"}, {Row: "31", Before: "\u202egnp.eliame", After: "\u202egnp.eliame[1]"}},
			},
			{Table: "players", Source: "us", Unique: [][]string{{"email"}}, Rule: plan.RuleKeep, Rows: 1_200, How: []string{"the row of the first of eu, us stays, and references lead to it", "gold: sum", "level: max"}},
			{Table: "item_kinds", Source: "us", Unique: [][]string{{"id"}, {"name"}}, Rule: plan.RuleMatch, Rows: 338, How: []string{"the row of the first of eu, us stays, and references lead to it"}},
			{
				Table: "heroes", Source: "us", Unique: [][]string{{"account", "slot"}}, Rule: plan.RuleRenumber, Column: "slot", Rows: 96, Names: []report.NewName{{Row: "17", Before: "0", After: "4"}},
				How: []string{"rows of the first of eu, us keep their numbers; where one of a later source is not free, its rows get the lowest free ones from 0 to 9"},
			},
		},
		LeftOut: []report.LeftOut{
			{Table: "players", Source: "eu", Reason: "without_rows 1", Where: "level < 10 AND last_seen < '2024-01-01', except vip = 1", Rows: 54_300},
			{Table: "players", Source: "eu", Reason: "account_id", Column: "account_id", Rows: 2},
			{Table: "ranking", Source: "eu", Reason: "empty", Rows: 1_000},
			{Table: "ranking", Source: "us", Reason: "empty", Rows: 1_000},
		},
		OldNames: []report.OldNames{
			{Table: "friends", Column: "friend_name", Source: "us", Of: "players.name", Rows: 1_311, Follow: true},
			{Table: "duels", Column: "winner", Source: "us", Of: "players.name", Rows: 7},
		},
		Skipped:    []string{"chat_log", "sessions"},
		References: []report.Reference{{Table: "mails", Column: "body", Path: "$.to", Refers: "players", Checked: 31_002, Witnessed: 19_876, Undetermined: 120}, {Table: "players", Column: "leader_id", Refers: "players", Checked: 904_112, Witnessed: 20_311, Orphans: 3}},
		Assertions: []report.Assertion{{Name: "gold", Sources: map[string]string{"eu": "901122334", "us": "77"}, Before: "1000", Want: "901123411", Got: "901123411"}},
		Phases: []report.Phase{
			{Name: "mint", Began: at, Ended: minutes(9.5), Rows: 2_010_189},
			{Name: "copy", Began: minutes(9.5), Ended: minutes(52), Idle: 20 * time.Minute, Rows: 2_010_189},
			{Name: "verify", Began: minutes(52), Ended: minutes(61.5), Rows: 2_010_189},
		},
		After: []report.Statement{{SQL: "UPDATE players SET realm = 1", State: "done", Rows: 1_952_021}, {SQL: "DELETE FROM sessions", State: "done", Rows: 0}},
	}
}

func html(t *testing.T, r *report.Report) string {
	t.Helper()
	var b strings.Builder
	if err := writePage(&b, r, pageLists{LeftOut: "night-left-out.csv", Renamed: "night-renamed.csv"}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// To look at the pages: go test -run Page -update ./internal/mergecommand, and open testdata.
func TestPage(t *testing.T) {
	open := nightReport()
	open.After = []report.Statement{{SQL: "DELETE FROM sessions"}}
	open.Open = []report.Open{{Kind: report.OpenUndecided, Source: "eu", Table: "mails", Column: "from_id", Reason: "it is plain, but named like ids"}, {Kind: report.OpenAccepted, Reason: "players.clan_id: reference to clans, 0.97"}}
	wrong := nightReport()
	wrong.Add(report.Failure{Check: report.CheckRows, Source: "eu", Table: "players", Column: "gold", Row: "[17]", Target: "[7012345678]", Reason: "the source has 5, the target 7"})
	for _, tt := range []struct {
		name   string
		report *report.Report
	}{{"right", nightReport()}, {"open", open}, {"wrong", wrong}, {"empty", &report.Report{Run: "1"}}} {
		t.Run(tt.name, func(t *testing.T) {
			got, file := html(t, tt.report), "testdata/"+tt.name+".html"
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if want = bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n")); got != string(want) {
				t.Errorf("the page differs from %s: go test -update writes it again", file)
			}
			for _, bad := range []string{"<script", "http:", "https:", "src=", "href=", "url(", "@import", "ZgotmplZ"} {
				if strings.Contains(got, bad) {
					t.Errorf("the page has %q", bad)
				}
			}
		})
	}
}

// The page begins with the verdict, and says in words what colours say too.
func TestVerdictOfAPage(t *testing.T) {
	unfinished := nightReport()
	unfinished.After[1].State = "begun"
	wrong := nightReport()
	wrong.Failed = 3
	wrong.Open = []report.Open{{}}
	for want, r := range map[string]*report.Report{"Verified Everything is as it should be.": nightReport(), "Not finished All rows are": unfinished, "Wrong 3 things were found wrong.": wrong} {
		text := strings.Join(strings.Fields(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(html(t, r), " ")), " ")
		if at := strings.Index(text, want); at < 0 || at > strings.Index(text, "Rows in the sources") {
			t.Errorf("the page does not begin with %q", want)
		}
	}
}

// A page of many lines has some of them, and says how many there are.
func TestPageIsBounded(t *testing.T) {
	r := nightReport()
	for i := range 10_000 {
		r.Open = append(r.Open, report.Open{Kind: report.OpenAccepted, Reason: "line"})
		r.Skipped = append(r.Skipped, fmt.Sprint("t", i))
		r.Tables = append(r.Tables, report.Table{Table: fmt.Sprint("t", i), Source: "eu", Rows: 1, Copied: 1})
		r.Targets = append(r.Targets, report.Target{Table: fmt.Sprint("t", i), Rows: 1, Copied: 1})
	}
	got := html(t, r)
	if len(got) > 1<<20 || strings.Count(got, "<td>accepted</td>") != maxLines || !strings.Contains(got, "And 9,500 more") {
		t.Errorf("the page has %d bytes and %d lines", len(got), strings.Count(got, "<td>accepted</td>"))
	}
}

func TestTook(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 ms", 999 * time.Millisecond: "999 ms", 12_340 * time.Millisecond: "12.3 s", 61 * time.Second: "1 min 01 s", 3725 * time.Second: "1 h 02 min",
	} {
		if got := took(d); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
}
