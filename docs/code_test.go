//go:build unix

package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/testkit/dbtest"
)

// The first program of the README needs no database.
func TestFirstProgram(t *testing.T) {
	t.Chdir("..")
	out, err := exec.CommandContext(t.Context(), build(t, programs(t)["README.md"])).Output()
	if err != nil {
		t.Fatal(err)
	}
	id, err := snow.ParseID(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatalf("the program printed %q: %v", out, err)
	}
	p, err := snow.DefaultLayout().Decompose(id)
	if err != nil || p.Worker != 7 || time.Since(p.Time).Abs() > time.Minute {
		t.Errorf("the program printed %d: %+v, %v", id, p, err)
	}
}

// The program of the first page runs unchanged, twice, on a real server. The
// README shows parts of it.
func TestReadmeProgram(t *testing.T) {
	t.Chdir("..")
	server := dbtest.MariaDB(t)
	dsn := server.DSN(server.CreateDatabase(t))

	text := programs(t)["docs/getting-started.md"]
	program := build(t, text)
	var want []string
	for _, printed := range regexp.MustCompile(`fmt\.Println\(.*// (.*)`).FindAllSubmatch(text, -1) {
		want = append(want, string(printed[1])+"\n")
	}
	for range 2 {
		run := exec.CommandContext(t.Context(), program, dsn)
		run.Stderr = os.Stderr // the log of the lease
		out, err := run.Output()
		out = slowSQL.ReplaceAll(out, nil)
		if err != nil || string(out) != strings.Join(want, "") || len(want) == 0 {
			t.Errorf("the program printed %q, %v, want %q", out, err, want)
		}
	}
}

// build returns the file of a program.
func build(t *testing.T, text []byte) string {
	t.Helper()
	source := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(source, text, 0o600); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "program")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// slowSQL is what GORM prints about a slow statement, which any statement may be on a busy machine.
var slowSQL = regexp.MustCompile(`(?s)\r\n[^\n]*SLOW SQL [^\n]*\n.*?\x1b\[35m.*?\x1b\[0m\n`)

// programs returns the programs of the documentation in English, by page.
func programs(t *testing.T) map[string][]byte {
	t.Helper()
	all := make(map[string][]byte)
	_, texts := pages(t, "README.md", "docs/*.md")
	for name, page := range texts {
		for _, block := range regexp.MustCompile("(?s)```go\n(package main\n.*?)```").FindAllStringSubmatch(page, -1) {
			if all[name] != nil {
				t.Errorf("%s has two programs", name)
			}
			all[name] = []byte(block[1])
		}
	}
	if len(all) != 2 || all["README.md"] == nil || all["docs/getting-started.md"] == nil {
		t.Fatalf("the documentation has %d programs, want two: the README's and the first page's", len(all))
	}
	return all
}

// All code in the documentation is, line by line, code of Examples and tests,
// which compile, or of a program that runs. examples/data-layers checks more
// than the Go of its page.
func TestReadmeCode(t *testing.T) {
	t.Chdir("..")
	var source strings.Builder
	err := filepath.WalkDir(".", func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && strings.HasSuffix(path, ".go") {
			text, err := os.ReadFile(path)
			source.WriteString("\n" + unindented(string(text)) + "\n")
			return err
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range programs(t) {
		source.WriteString("\n" + unindented(string(program)))
	}
	checked := 0
	names, texts := pages(t, "README.md", "docs/*.md")
	for _, name := range names {
		for _, block := range regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(texts[name], -1) {
			if checked++; !strings.Contains(source.String(), "\n"+unindented(block[1])) {
				t.Errorf("%s has code that is in no Go file:\n%s", name, block[1])
			}
		}
	}
	if checked < 10 {
		t.Errorf("found %d blocks of code, want more", checked)
	}
}

// unindented returns text without the spaces and comments around its lines.
func unindented(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		line, _, _ = strings.Cut(line, " // ")
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "\n")
}

// Files and tests that the documentation names exist.
func TestReferences(t *testing.T) {
	t.Chdir("..")
	var code strings.Builder
	err := filepath.WalkDir(".", func(path string, _ os.DirEntry, err error) error {
		if strings.HasSuffix(path, "_test.go") {
			b, err := os.ReadFile(path)
			code.Write(b)
			return err
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	names, texts := pages(t, "README*.md", "docs/*.md", "docs/zh-CN/*.md", "CONTRIBUTING.md", "CHANGELOG.md")
	for _, name := range names {
		text := codeBlock.ReplaceAllString(texts[name], "")
		for _, link := range regexp.MustCompile(`\]\(([^)#]+)[^)]*\)`).FindAllStringSubmatch(text, -1) {
			checked++
			if target := link[1]; !strings.Contains(target, "://") {
				if _, err := os.Stat(filepath.Join(filepath.Dir(name), target)); err != nil {
					t.Errorf("%s links to %s: %v", name, target, err)
				}
			}
		}
		for _, test := range regexp.MustCompile("`(Test[A-Z]\\w+)`").FindAllStringSubmatch(text, -1) {
			checked++
			if !strings.Contains(code.String(), "func "+test[1]+"(") {
				t.Errorf("%s names %s, which is no test", name, test[1])
			}
		}
	}
	if checked == 0 {
		t.Error("found no link and no test in the documentation")
	}
}
