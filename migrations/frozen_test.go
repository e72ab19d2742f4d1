package migrations_test

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

var freeze = flag.Bool("freeze", false, "add the files that are about to be released to frozen.sum")

// frozen.sum lists the files that were released, as sha256sum does. They never change; a new file has a number
// above theirs. On a release, go test ./migrations -freeze adds the new ones. It changes no line that is there.
func TestReleasedFilesNeverChange(t *testing.T) {
	sums, err := os.ReadFile("frozen.sum")
	if err != nil {
		t.Fatal(err)
	}
	added, err := checkFrozen(os.DirFS("."), string(sums))
	if err != nil {
		t.Fatal(err)
	}
	if *freeze {
		if err := os.WriteFile("frozen.sum", append(sums, added...), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// checkFrozen compares files with the lines of frozen.sum and returns the lines that are not there yet.
func checkFrozen(files fs.FS, sums string) (added string, err error) {
	names, err := fs.Glob(files, "*/*.sql")
	if err != nil {
		return "", err
	}
	var released []string
	last := ""
	for line := range strings.Lines(sums) {
		sum, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if !ok || !strings.HasSuffix(line, "\n") || slices.Contains(released, name) {
			return "", fmt.Errorf("frozen.sum: unexpected line %q", line)
		}
		released, last = append(released, name), max(last, number(name))
		if got, readErr := hash(files, name); readErr != nil {
			err = errors.Join(err, fmt.Errorf("%s was released and is gone: %w", name, readErr))
		} else if got != sum {
			err = errors.Join(err, fmt.Errorf("%s was released and has changed: write a file with a new number", name))
		}
	}
	for _, name := range names {
		if slices.Contains(released, name) {
			continue
		}
		if number(name) <= last {
			err = errors.Join(err, fmt.Errorf("%s is new, but %s was released: take a number above it", name, last))
		}
		sum, readErr := hash(files, name)
		err = errors.Join(err, readErr)
		added += sum + "  " + name + "\n"
	}
	return added, err
}

func number(name string) string {
	number, _, _ := strings.Cut(path.Base(name), "_")
	return number
}

func hash(files fs.FS, name string) (string, error) {
	text, err := fs.ReadFile(files, name)
	return fmt.Sprintf("%x", sha256.Sum256(text)), err
}

func TestCheckFrozen(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	tree := func() fstest.MapFS {
		return fstest.MapFS{
			"a/0001_x.up.sql": file("A;"), "a/0001_x.down.sql": file("B;"), "a/0002_y.up.sql": file("C;"),
			"b/0001_x.up.sql": file("D;"), "b/0001_x.down.sql": file("E;"),
		}
	}
	first, err := checkFrozen(tree(), "")
	const line = "d661f85243759e42aab02ed04cc7aab688b783bc999cd16288abd2823130e869  a/0001_x.down.sql\n" // of sha256sum
	if err != nil || strings.Count(first, "\n") != 5 || !strings.HasPrefix(first, line) {
		t.Fatalf("first release: got %q, %v; want 5 lines, the first of them %q", first, err, line)
	}
	for name, test := range map[string]struct {
		change func(fstest.MapFS)
		sums   string // after first
		added  string // end of the lines
		want   string // part of the error
	}{
		"unchanged":           {change: func(fstest.MapFS) {}},
		"added":               {change: func(f fstest.MapFS) { f["b/0003_z.up.sql"] = file("F;") }, added: "  b/0003_z.up.sql\n"},
		"edited":              {change: func(f fstest.MapFS) { f["a/0002_y.up.sql"] = file("C ;") }, want: "a/0002_y.up.sql was released and has changed"},
		"removed":             {change: func(f fstest.MapFS) { delete(f, "b/0001_x.down.sql") }, want: "b/0001_x.down.sql was released and is gone"},
		"renamed":             {change: func(f fstest.MapFS) { f["a/0003_y.up.sql"] = f["a/0002_y.up.sql"]; delete(f, "a/0002_y.up.sql") }, want: "is gone"},
		"late":                {change: func(f fstest.MapFS) { f["b/0002_y.up.sql"] = file("F;") }, want: "b/0002_y.up.sql is new, but 0002 was released"},
		"listed twice":        {change: func(fstest.MapFS) {}, sums: line, want: "unexpected line"},
		"line without an end": {change: func(fstest.MapFS) {}, sums: "1234  a/0001_x.up.sql", want: "unexpected line"},
	} {
		files := tree()
		test.change(files)
		added, err := checkFrozen(files, first+test.sums)
		switch {
		case test.want == "" && (err != nil || !strings.HasSuffix(added, test.added) || test.added == "" && added != ""):
			t.Errorf("%s: got %q, %v; want %q", name, added, err, test.added)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s: got error %v, want %q", name, err, test.want)
		}
	}
}
