//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shardsnow/snow/merge/plan"
)

// The forms of a plan, and what becomes of questions that are answered.
func TestPlanFiles(t *testing.T) {
	s := newStage(t, "sqlite", 400)
	dir := t.TempDir()
	read := func(name string) string {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	inspect := func(name string, more ...string) result {
		t.Helper()
		args := append([]string{"inspect", "-dialect", s.name, "-plan", filepath.Join(dir, name)}, s.sources()...)
		got := runMerge(t, append(args, more...)...)
		if got.code != 0 {
			t.Fatalf("%s: exit status %d, stderr %q", name, got.code, got.stderr)
		}
		return got
	}
	inspect("short.yaml")
	inspect("full.yaml", "-full")
	inspect("full.json")
	if v := plan.VersionOf([]byte(read("short.yaml"))); v != plan.DecisionsVersion {
		t.Errorf("short.yaml has version %d", v)
	}
	for _, name := range []string{"full.yaml", "full.json"} {
		if plan.VersionOf([]byte(read(name))) != 1 || !strings.Contains(read(name), "created_at") {
			t.Errorf("%s is no complete plan:\n%s", name, read(name))
		}
	}
	short := read("short.yaml")
	if !strings.Contains(short, "answer:\n") || strings.Contains(short, "accepted:") {
		t.Errorf("want questions without answers:\n%s", short)
	}

	got := inspect("certain.yaml", "-accept-certain", "0.01")
	if certain := read("certain.yaml"); !strings.Contains(got.stdout, "which nobody has looked at:") || !strings.Contains(certain, "accepted:\n- ") {
		t.Errorf("got %q and\n%s", got.stdout, certain)
	}

	// New ids may be small ones, also by a template.
	inspect("dense.yaml", "-ids", "dense", "-leave", "1000")
	inspect("next.yaml", "-template", filepath.Join(dir, "dense.yaml"))
	for _, name := range []string{"dense.yaml", "next.yaml"} {
		if text := read(name); !strings.Contains(text, "\nids: dense\n") || !strings.Contains(text, "\nleave: 1000\n") {
			t.Errorf("%s has no dense ids:\n%s", name, text)
		}
	}
	for _, wrong := range [][]string{{"-ids", "small"}, {"-leave", "5"}, {"-ids", "dense", "-leave", "-5"}} {
		args := append([]string{"inspect", "-dialect", s.name, "-plan", filepath.Join(dir, "wrong.yaml")}, s.sources()...)
		if got := runMerge(t, append(args, wrong...)...); got.code != 2 {
			t.Errorf("%q: exit status %d", wrong, got.code)
		}
	}

	// A plan that is finished is a template: nothing is asked again.
	got = inspect("again.yaml", "-template", s.plan)
	if !strings.Contains(got.stdout, "plan.yaml answers ") || !strings.Contains(got.stdout, "with 0 open questions") {
		t.Errorf("got %q and\n%s", got.stdout, read("again.yaml"))
	}

	// Answers of people become decisions.
	answered := filepath.Join(dir, "answered.yaml")
	if err := os.WriteFile(answered, []byte(strings.ReplaceAll(short, "answer:\n", "answer: yes\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	s.do(t, append([]string{"settle", "-dialect", s.name, "-plan", answered}, s.sources()...)...)
	if text := read("answered.yaml"); strings.Contains(text, "questions:") || strings.Contains(text, "proposed:") || strings.Count(text, "\n") >= strings.Count(short, "\n") {
		t.Errorf("there are questions left:\n%s", text)
	}

	if got := runMerge(t, "schema", "-dialect", s.name, "-plan", filepath.Join(dir, "short.yaml")); got.code != 1 || !strings.Contains(got.stderr, "give its sources with --source") {
		t.Errorf("schema: exit status %d, stderr %q", got.code, got.stderr)
	}

	// A column that is new is noticed.
	s.execute(t, s.s1, "ALTER TABLE players ADD COLUMN pet_id INTEGER")
	if got := runMerge(t, s.command("dry-run", s.create(t))...); got.code != 1 || !strings.Contains(got.stderr, `table "players": has changed since the plan was made`) {
		t.Errorf("dry-run: exit status %d, stderr %q", got.code, got.stderr)
	}
}
