package docs_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// public returns the directories of the packages that others import.
func public(t *testing.T) (dirs []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := entry.Name(); entry.IsDir() && name != "." &&
			(strings.HasPrefix(name, ".") || slices.Contains([]string{"internal", "testdata", "bench", "docs", "drivers", "examples"}, name)) {
			return fs.SkipDir
		}
		if dir := filepath.Dir(path); strings.HasSuffix(path, ".go") && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(dirs, "sqlsnow") || !slices.Contains(dirs, "promsnow") {
		t.Fatalf("the packages found are %v", dirs)
	}
	return dirs
}

// Every package and command has its documentation in doc.go, and every exported function
// has an Example.
func TestPackagesAreDocumented(t *testing.T) {
	t.Chdir("..")
	for _, dir := range public(t) {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		var functions, examples []string
		documented := false
		for _, name := range files {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			if filepath.Base(name) == "doc.go" {
				begin := "Package " + file.Name.Name + " "
				if file.Name.Name == "main" {
					begin = "Command " + filepath.Base(dir) + " "
				}
				documented = file.Doc != nil && strings.HasPrefix(file.Doc.Text(), begin)
			} else if file.Doc != nil && !strings.HasSuffix(name, "_test.go") {
				t.Errorf("%s: the comment above package belongs into doc.go", name)
			}
			for _, d := range file.Decls {
				f, ok := d.(*ast.FuncDecl)
				switch {
				case !ok || f.Recv != nil:
				case strings.HasSuffix(name, "_test.go"):
					examples = append(examples, f.Name.Name)
				case f.Name.IsExported():
					functions = append(functions, f.Name.Name)
				}
			}
		}
		if !documented {
			t.Errorf("%s has no documentation in doc.go", dir)
		}
		for _, f := range functions {
			if !slices.ContainsFunc(examples, func(e string) bool { return e == "Example"+f || strings.HasPrefix(e, "Example"+f+"_") }) {
				t.Errorf("%s.%s has no Example", dir, f)
			}
		}
	}
}

// The documentation of each package begins with an Example of the whole package, which
// runs where it needs no server.
func TestFirstScreens(t *testing.T) {
	t.Chdir("..")
	for _, dir := range public(t) {
		names, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		var files []*ast.File
		for _, name := range names {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
		}
		examples := doc.Examples(files...)
		i := slices.IndexFunc(examples, func(e *doc.Example) bool { return e.Name == "" })
		dir = filepath.ToSlash(dir)
		switch {
		case dir == "sqlsnow/sqlsnowtest": // Run needs a test
		case dir == "cmd/snow": // its help
		case i < 0:
			t.Errorf("%s has no Example of the package", dir)
		case examples[i].Output == "" && dir != "sqlsnow" && dir != "merge" && dir != "etcdsnow" && dir != "zksnow": // these need a server
			t.Errorf("%s: the Example of the package does not run", dir)
		}
	}
}

// Links from one package to another lead to names that exist.
func TestDocLinks(t *testing.T) {
	t.Chdir("..")
	const module = "github.com/shardsnow/snow"
	checked := 0
	for _, dir := range public(t) {
		text, err := os.ReadFile(filepath.Join(dir, "doc.go"))
		if err != nil {
			t.Error(err)
			continue
		}
		for part := range strings.SplitSeq(string(text), "["+module) {
			if part == string(text) || strings.HasPrefix(string(text), part) {
				continue // before the first link
			}
			link, _, _ := strings.Cut(part, "]")
			path, name, _ := strings.Cut(strings.TrimPrefix(link, "/"), ".")
			checked++
			if !declares(t, filepath.FromSlash("./"+path), name) {
				t.Errorf("%s links to %s%s, which is not there", dir, module, link)
			}
		}
	}
	if checked == 0 {
		t.Error("found no link")
	}
}

// declares reports whether the package in dir has an exported declaration of
// this name. Every package has the empty one.
func declares(t *testing.T, dir, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil && d.Name.Name == name {
					return true
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						if s.Name.Name == name {
							return true
						}
					case *ast.ValueSpec:
						if slices.ContainsFunc(s.Names, func(n *ast.Ident) bool { return n.Name == name }) {
							return true
						}
					}
				}
			}
		}
	}
	return name == "" && len(files) > 0
}

// TestFileLists compares the lists of files in doc.go with the folders.
func TestFileLists(t *testing.T) {
	t.Chdir("..")
	var docs []string
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Name() == "doc.go" {
			docs = append(docs, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`[\w*]+\.go\b`)
	lists := 0
	for _, path := range docs {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var listed []string
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "//\t") {
				listed = append(listed, name.FindAllString(line, -1)...)
			}
		}
		if len(listed) < 2 {
			continue
		}
		lists++
		dir := filepath.Dir(path)
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			base := filepath.Base(file)
			is := func(pattern string) bool { ok, err := filepath.Match(pattern, base); return ok && err == nil }
			if base != "doc.go" && !strings.HasSuffix(base, "_test.go") && !slices.ContainsFunc(listed, is) {
				t.Errorf("%s does not list %s", path, base)
			}
		}
		for _, pattern := range listed {
			if found, err := filepath.Glob(filepath.Join(dir, pattern)); err != nil || len(found) == 0 {
				t.Errorf("%s lists %s, which is not there", path, pattern)
			}
		}
	}
	if lists < 20 {
		t.Errorf("got %d lists, want those of the packages", lists)
	}
}

// CONTRIBUTING.md says which function makes a decision.
func TestDecisions(t *testing.T) {
	t.Chdir("..")
	text, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "\n## Where decisions are made\n")
	section, _, ended := strings.Cut(section, "\n## ")
	rows := regexp.MustCompile("(?m)^\\| .+\\? \\| `([^`]+)` \\| `([^`]+)` \\|$").FindAllStringSubmatch(section, -1)
	if !found || !ended || len(rows) != strings.Count(section, "? |") || len(rows) < 10 {
		t.Fatalf("CONTRIBUTING.md has %d rows of questions, files and functions", len(rows))
	}
	for _, row := range rows {
		file, err := parser.ParseFile(token.NewFileSet(), row[1], nil, parser.SkipObjectResolution)
		if err != nil {
			t.Error(err)
			continue
		}
		if !slices.ContainsFunc(file.Decls, func(d ast.Decl) bool { f, ok := d.(*ast.FuncDecl); return ok && f.Name.Name == row[2] }) {
			t.Errorf("CONTRIBUTING.md: %s has no function %s", row[1], row[2])
		}
	}
}
