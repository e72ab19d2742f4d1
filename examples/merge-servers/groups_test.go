//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Groups of servers are merged by one plan, whatever their sources are called. One that fails stops no other.
func TestGroups(t *testing.T) {
	for _, name := range []string{"sqlite", "mysql"} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, name, 400)
			file := filepath.Join(t.TempDir(), "groups.yaml")
			targets := []string{s.create(t), s.create(t), s.create(t), s.create(t)}
			write := func(third string) {
				t.Helper()
				var b strings.Builder
				b.WriteString("groups:\n")
				for i, sources := range []string{"s1=%s,s2=%s", "s7=%s,s8=%s", third, "eu=%s,us=%s"} {
					fmt.Fprintf(&b, "- name: group%d\n  target: %q\n  sources:\n", i+1, targets[i])
					for _, source := range strings.Split(fmt.Sprintf(sources, s.s1, s.s2), ",") {
						fmt.Fprintf(&b, "  - %q\n", source)
					}
				}
				if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			do := func(step string, more ...string) result {
				t.Helper()
				return runMerge(t, append([]string{"groups", "-dialect", name, "-groups", file, "-plan", s.plan, "-namespace", "game", "-workers", "8", "-do", step}, more...)...)
			}
			write("a=%s,b=%s")
			atOnce := "3"
			if name == "sqlite" {
				atOnce = "1" // of several processes that open a file at the same time, one may find it locked
			}
			for _, prepare := range [][2]string{{"namespace", "done\n"}, {"schema", "done\n"}, {"dry-run", "nothing would stop a run\n"}} {
				step, want := prepare[0], prepare[1]
				if got := do(step, "-at-once", "1"); got.code != 0 || strings.Count(got.stdout, want) != 4 {
					t.Fatalf("%s: exit status %d, stderr:\n%s\nstdout:\n%s", step, got.code, got.stderr, got.stdout)
				}
			}
			// members of parties are a longer text in the target, which only a trial can judge
			open := map[string]int{"mysql": 3}[name]
			if got := do("dry-run", "-at-once", "1", "-throttle", "1000"); got.code != open || strings.Count(got.stdout, " were waited. A run may take about ") != 4 {
				t.Errorf("dry run with a throttle: exit status %d, stderr:\n%s\nstdout:\n%s", got.code, got.stderr, got.stdout)
			}
			write("s2=%s,c=%s") // a name of the plan in another place: it is not known what is meant
			got := do("run", "-at-once", atOnce)
			if got.code != 1 || !strings.Contains(got.stderr, "1 of 4 groups failed: group3") || strings.Count(got.stdout, "as it should be\n") != 3 ||
				!strings.Contains(got.stdout, `source "s2" is number 2 of the plan, and is given as number 1`) {
				t.Errorf("run: exit status %d, stderr:\n%s\nstdout:\n%s", got.code, got.stderr, got.stdout)
			}
			if !strings.Contains(got.stderr, "groups: 3 done, 1 failed, 0 under way, 0 waiting") || strings.Contains(got.stdout+got.stderr, s.s1) {
				t.Errorf("stderr:\n%s", got.stderr)
			}
			write("a=%s,b=%s")
			if got := do("run", "-at-once", "1"); got.code != 0 || strings.Count(got.stdout, "as it should be\n") != 4 {
				t.Errorf("run again: exit status %d, stderr:\n%s\nstdout:\n%s", got.code, got.stderr, got.stdout)
			}
			if got := do("verify", "-at-once", atOnce); got.code != 0 {
				t.Errorf("verify: exit status %d, stderr:\n%s", got.code, got.stderr)
			}
			for i, source := range []string{"s1", "s7", "a", "eu"} {
				if got := runMerge(t, "lookup", "-dialect", name, "-target", targets[i], source, "players", "7"); got.code != 0 || len(strings.TrimSpace(got.stdout)) < 10 {
					t.Errorf("look-up of %s: %+v", source, got)
				}
			}
		})
	}
}

func TestWrongGroups(t *testing.T) {
	file := filepath.Join(t.TempDir(), "groups.yaml")
	for text, want := range map[string]string{
		"groups: []":                          "want groups",
		"groups: 5":                           "groups.yaml",
		"groups: [{nam: a}]":                  "nam",
		"groups: [{target: geheim}]":          "want a name",
		"groups: [{name: a, target: geheim}]": "want sources and a target",
		"groups: [{name: a, target: geheim, sources: [geheim]}]":                                                   "want NAME=DSN",
		"groups: [{name: a, target: geheim, sources: [a=geheim]}, {name: a, target: y, sources: [a=geheim]}]":      "want a name of its own",
		"groups: [{name: a, target: geheim, sources: [a=geheim]}, {name: b, target: geheim, sources: [a=geheim]}]": "the target of group a",
		"groups: [{name: a, target: geheim, sources: [a=geheim], databases: [a=]}]":                                "databases",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got := runMerge(t, "groups", "-dialect", "sqlite", "-groups", file, "-plan", "plan.yaml")
		if got.code != 1 || !strings.Contains(got.stderr, want) || strings.Contains(got.stderr, "geheim") {
			t.Errorf("%q: exit status %d, %s", text, got.code, got.stderr)
		}
	}
	for _, more := range [][]string{{"-at-once", "0"}, {"-do", "nothing"}, {"-do", "namespace"}} {
		if got := runMerge(t, append([]string{"groups", "-dialect", "sqlite", "-groups", file, "-plan", "plan.yaml"}, more...)...); got.code != 2 {
			t.Errorf("%q: exit status %d, %s", more, got.code, got.stderr)
		}
	}
}
