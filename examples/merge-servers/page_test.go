//go:build unix

package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge/plan"
)

// A page and its lists are written at the end of a run, and again by verify, also where something is wrong.
func TestReportIsKept(t *testing.T) {
	for _, name := range []string{"sqlite", "mysql", "postgres"} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, name, 300)
			s.edit(t, func(p *plan.Plan) {
				p.Table("mails").WithoutRows = []*plan.Condition{{Where: "id < 20", Sources: []string{"s1"}}}
			})
			target := s.world(t)
			dir := t.TempDir()
			file := filepath.Join(dir, "night.html")
			if got := runMerge(t, s.run(target, "-report", filepath.Join(dir, "none", "night.html"))...); got.code != 1 || !strings.Contains(got.stderr, "-report") {
				t.Errorf("in a folder that does not exist: %+v", got)
			}
			got := runMerge(t, s.run(target, "-report", file)...)
			if got.code != 0 || !strings.HasSuffix(got.stderr, fmt.Sprintf("written: %[1]s/night-left-out.csv, %[1]s/night-renamed.csv, %[1]s/night.html\n", dir)) || strings.Contains(got.stderr, "\x1b") {
				t.Errorf("exit status %d, stderr %q", got.code, got.stderr)
			}
			page := readFile(t, file)
			for _, want := range []string{"Everything is as it should be.", "<code>night-left-out.csv</code>", "<code>night-renamed.csv</code>", "without_rows 1: <code>id &lt; 20</code>"} {
				if !strings.Contains(page, want) {
					t.Errorf("the page lacks %q", want)
				}
			}
			db := s.open(t, target)
			defer db.Close()
			var renamed int
			if err := db.QueryRowContext(t.Context(), `SELECT (SELECT COUNT(*) FROM players WHERE name LIKE '%|_s2' ESCAPE '|') + (SELECT COUNT(*) FROM guilds WHERE name LIKE '%|_s2' ESCAPE '|')`).Scan(&renamed); err != nil {
				t.Fatal(err)
			}
			source := s.open(t, s.s1)
			defer source.Close()
			var leftOut int
			if err := source.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM mails WHERE id < 20").Scan(&leftOut); err != nil {
				t.Fatal(err)
			}
			for list, want := range map[string]int{"night-left-out.csv": leftOut, "night-renamed.csv": renamed} {
				lines, err := csv.NewReader(strings.NewReader(readFile(t, filepath.Join(dir, list)))).ReadAll()
				if err != nil || len(lines)-1 != want || want == 0 {
					t.Errorf("%s has %d lines (%v), want %d", list, len(lines)-1, err, want)
				}
			}
			if _, err := db.ExecContext(t.Context(), "UPDATE players SET gold = gold + 1 WHERE id = (SELECT id FROM (SELECT MIN(id) AS id FROM players) AS first)"); err != nil {
				t.Fatal(err)
			}
			got = runMerge(t, append(s.command("verify", target), "-report", file, "-quiet", "-json")...)
			if got.code != 1 || strings.Contains(got.stderr, "written") {
				t.Errorf("verify of a wrong target: exit status %d, stderr %q", got.code, got.stderr)
			}
			if page := readFile(t, file); !strings.Contains(page, "Do not open the servers on this target.") || !strings.Contains(page, "<td>rows</td>") {
				t.Error("the page does not say what is wrong")
			}
			if files, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(files) != 3 {
				t.Errorf("the folder has %s (%v)", files, err)
			}
			if files, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(files) != 0 {
				t.Errorf("the folder has %s (%v)", files, err)
			}
		})
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
