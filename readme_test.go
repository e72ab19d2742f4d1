//go:build unix

package snow_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/shardsnow/snow/internal/dbtest"
)

// The program of the documentation, of which the README shows a part, runs
// unchanged, twice, on a real server.
func TestReadmeProgram(t *testing.T) {
	server := dbtest.MariaDB(t)
	dsn := server.DSN(server.CreateDatabase(t))

	text := theProgram(t)
	source := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(source, text, 0o600); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "program")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
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

// slowSQL is what GORM prints about a slow statement, which any statement may be on a busy machine.
var slowSQL = regexp.MustCompile(`(?s)\r\n[^\n]*SLOW SQL [^\n]*\n.*?\x1b\[35m.*?\x1b\[0m\n`)

// theProgram returns the one program of the documentation.
func theProgram(t *testing.T) []byte {
	t.Helper()
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	var programs [][]byte
	for _, name := range append(pages, "README.md") {
		page, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range regexp.MustCompile("(?s)```go\n(package main\n.*?)```").FindAllSubmatch(page, -1) {
			programs = append(programs, block[1])
		}
	}
	if len(programs) != 1 {
		t.Fatalf("the documentation has %d programs, want one", len(programs))
	}
	return programs[0]
}

// All code in the documentation is, line by line, that of Examples and tests,
// which compile, or of the program that runs. examples/data-layers checks more
// than the Go of its page.
func TestReadmeCode(t *testing.T) {
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
	source.WriteString(unindented(string(theProgram(t))))
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, name := range append(pages, "README.md") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
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
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(pages, "README.md", "CONTRIBUTING.md", "CHANGELOG.md") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range regexp.MustCompile(`\]\(([^)#]+)[^)]*\)`).FindAllSubmatch(text, -1) {
			checked++
			if target := string(link[1]); !strings.Contains(target, "://") {
				if _, err := os.Stat(filepath.Join(filepath.Dir(name), target)); err != nil {
					t.Errorf("%s links to %s: %v", name, target, err)
				}
			}
		}
		for _, test := range regexp.MustCompile("`(Test[A-Z]\\w+)`").FindAllSubmatch(text, -1) {
			checked++
			if !strings.Contains(code.String(), "func "+string(test[1])+"(") {
				t.Errorf("%s names %s, which is no test", name, test[1])
			}
		}
	}
	if checked == 0 {
		t.Error("found no link and no test in the documentation")
	}
}
